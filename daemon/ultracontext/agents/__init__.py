"""The agents we know: each a folder here, or an entry point of the group `ultracontext.agents`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from ultracontext.errors import FormatError
from ultracontext.formats import AgentSpec

GROUP = "ultracontext.agents"


@cache
def known() -> dict[str, AgentSpec]:
    """Every agent by slug, in alphabetical order. A third party's agent never replaces ours."""
    found: dict[str, AgentSpec] = {}
    for module in iter_modules(__path__):
        if module.ispkg:
            spec = import_module(f"{__name__}.{module.name}").SPEC
            found[spec.slug] = spec
    for point in entry_points(group=GROUP):
        spec = point.load()
        if not isinstance(spec, AgentSpec):
            raise FormatError(f"entry point {point.name} of {GROUP} is no AgentSpec")
        found.setdefault(spec.slug, spec)
    return dict(sorted(found.items()))


def agent(slug: str) -> AgentSpec:
    """The spec of one agent; raises FormatError naming the known ones."""
    try:
        return known()[slug]
    except KeyError:
        names = ", ".join(known())
        raise FormatError(f"unknown agent {slug!r}", hint=f"Known agents: {names}") from None
