"""The agents we know: each a folder here, or an entry point of the group `ultracontext.agents`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pkgutil import iter_modules

from ultracontext.agents.guard import guarded, objection
from ultracontext.errors import FormatError
from ultracontext.formats import AgentSpec

GROUP = "ultracontext.agents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """What is wrong with a third party's agent. `problem` quotes nothing that its code said."""

    name: str
    """Of the entry point."""
    distribution: str
    """That installed it; empty when unknown."""
    problem: str


@dataclass(frozen=True, slots=True)
class _Found:
    specs: dict[str, AgentSpec]
    broken: list[Broken]


def known() -> dict[str, AgentSpec]:
    """Every agent by slug, in alphabetical order. A third party's agent never replaces ours."""
    return _found().specs


def broken() -> list[Broken]:
    """Third parties' agents that are installed and cannot be used, or not wholly, and why."""
    if not entry_points(group=GROUP):  # the usual case: none of our own has to be loaded for it
        return []
    return list(_found().broken)


def agent(slug: str) -> AgentSpec:
    """The spec of one agent; raises FormatError naming the known ones."""
    try:
        return known()[slug]
    except KeyError:
        names = ", ".join(known())
        raise FormatError(f"unknown agent {slug!r}", hint=f"Known agents: {names}") from None


@cache
def _found() -> _Found:
    specs = {spec.slug: spec for spec in _ours()}
    left_out: list[Broken] = []
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        note = _noting(point, left_out)
        spec = _loaded(point)
        problem = spec if isinstance(spec, str) else objection(spec)
        if problem is not None:
            note(problem)
        elif isinstance(spec, AgentSpec) and spec.slug in specs:
            note(f"the agent {spec.slug} is known already")
        elif isinstance(spec, AgentSpec):
            specs[spec.slug] = guarded(spec, note)
    return _Found(dict(sorted(specs.items())), left_out)


def _ours() -> Iterator[AgentSpec]:
    for module in iter_modules(__path__):
        if module.ispkg:
            yield import_module(f"{__name__}.{module.name}").SPEC


def _loaded(point: EntryPoint) -> AgentSpec | str:
    """The spec, or why there is none."""
    try:
        spec = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  # must not stop the daemon
        return f"it cannot be loaded ({type(error).__name__})"
    return spec if isinstance(spec, AgentSpec) else "it is no AgentSpec"


def _noting(point: EntryPoint, left_out: list[Broken]) -> Callable[[str], None]:
    distribution = point.dist.name if point.dist is not None else ""

    def note(problem: str) -> None:
        left_out.append(Broken(name=point.name, distribution=distribution, problem=problem))

    return note
