"""What `setup` is going to do: checked whole, shown whole, then done."""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ultracontext.cli.group import UsageError
from ultracontext.cli.workspace import Workspace
from ultracontext.errors import UltraContextError
from ultracontext.runtime.health import without_password
from ultracontext.settings import parse_value

KEEP = {"forever": 0, "ever": 0, "year": 365}
REACH_SECONDS = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`settings`: texts by key, as `config set` takes them; only what changes."""

    settings: Mapping[str, str] = field(default_factory=dict)
    service: bool = True
    link: bool = False
    mcp: bool = False


def plan_of(
    place: Workspace,
    given: Mapping[str, str | None],
    *,
    keep: str | None,
    service: bool | None,
    mcp: bool | None,
    link: bool,
) -> Plan:
    """The flags as a plan. Raises SettingsError or UsageError, and nothing was written."""
    texts = {key: text for key, text in given.items() if text is not None}
    if keep is not None:
        texts["retention.days"] = str(days_of(keep))
    plan = Plan(settings=texts, service=service is not False, mcp=bool(mcp), link=link)
    check(place, plan)
    return plan


def days_of(keep: str) -> int:
    """`forever`, `year`, `90`, `90d`"""
    word = keep.strip().lower()
    if word in KEEP:
        return KEEP[word]
    number = word.removesuffix("d")
    if number.isdecimal() and len(number) < 6:
        return int(number)
    raise UsageError(f"--keep {keep!r} is no time", hint="Write forever, year, or days such as 90")


def check(place: Workspace, plan: Plan) -> None:
    """Every value alone and all together; the file of settings must be sound too."""
    from ultracontext.agents import known

    _ = place.settings
    for key, text in plan.settings.items():
        parse_value(key, text, agents=known())
    for slug in split(plan.settings.get("capture.agents", "")):
        if slug not in known():
            raise UsageError(f"no agent {slug!r}", hint=f"Known agents: {', '.join(known())}")
    place.settings_with(plan.settings, agents=known()).check()


def split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def shown(place: Workspace, plan: Plan) -> Iterator[str]:
    """What will be written, line by line."""
    if plan.settings:
        yield f"Into {place.paths.config_file}:"
        for key, text in plan.settings.items():
            yield f"  {key} = {without_password(text) if key.endswith('.url') else text!r}"
    else:
        yield f"{place.paths.config_file} stays as it is."
    if plan.service:
        from ultracontext.service import chosen_service

        service = chosen_service(place.paths, place.env, place.home)
        yield f"A login service ({service.kind}):"
        yield from (f"  {file}" for file in service.files())
    else:
        yield "No login service; `ultracontext daemon start` starts the daemon."
    if plan.link:
        yield f"Launchers `ultracontext` and `uc` in {place.home / '.local/bin'}."
    if plan.mcp:
        yield "The MCP server, in the settings of the agents that are found."


def preview(place: Workspace, plan: Plan) -> Iterator[str]:
    """What would leave this machine, and whether the other end is there."""
    settings = place.settings_with(plan.settings)
    url = settings.remote.url
    if not url:
        yield "Nothing leaves this machine."
        return
    problem = reach(url)
    yield f"Remote {without_password(url)}: {problem or 'something listens there'}."
    if not settings.remote.include:
        yield "No project is chosen for it (remote.include), so nothing leaves."
        return
    sessions, events, masks = leaving(place, settings.remote.include)
    if settings.remote.since == "now":
        yield "What is captured from now on in these projects leaves; what is stored stays here:"
    yield (
        f"  {', '.join(settings.remote.include)}: {sessions} sessions, {events} events,"
        f" {masks} masked secrets so far"
    )


def leaving(place: Workspace, globs: tuple[str, ...]) -> tuple[int, int, int]:
    """Stored sessions of these projects: (sessions, events, masks)."""
    from ultracontext.capture import Rules

    rules = Rules(exclude=globs, home=str(place.home))  # the same globs, to other ends
    sessions = events = masks = 0
    with place.reading(place.paths.store_file) as space:
        if space is None:
            return 0, 0, 0
        by_context: dict[str, int] = {}
        for mark in space.marks():
            by_context[mark.context_id] = by_context.get(mark.context_id, 0) + mark.count
        for row in space.contexts(limit=0, children=True):
            if rules.excludes(row.facts.project_path or ""):
                sessions += 1
                events += row.nodes
                masks += by_context.get(row.context_id, 0)
    return sessions, events, masks


def reach(url: str) -> str | None:
    """Why nobody can be reached there; None when something listens."""
    parts = urlsplit(url)
    port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 5432)
    try:
        socket.create_connection((parts.hostname or "", port), REACH_SECONDS).close()
    except OSError as error:
        return f"cannot be reached ({error.strerror or type(error).__name__})"
    return None


def apply(place: Workspace, plan: Plan) -> dict[str, Any]:
    """Does it: settings in one step first, because everything else stands on them."""
    from ultracontext.agents import known

    notes: list[str] = []
    place.paths.ensure()
    if plan.settings:
        from ultracontext.settings.edit import set_values

        set_values(place.paths.config_file, plan.settings, agents=known())
    fresh = Workspace(env=place.env, home=place.home)
    if plan.link:
        from ultracontext.cli import launchers

        launchers.write_launchers(launchers.folder_of(fresh))
    if plan.service:
        notes += _install_service(fresh)
    if plan.mcp:
        notes += _register(fresh)
    return {
        "config": str(place.paths.config_file),
        "settings": {k: without_password(v) for k, v in plan.settings.items()},
        "service": plan.service,
        "link": plan.link,
        "notes": notes,
    }


def _register(place: Workspace) -> list[str]:
    """One line for each agent that is there."""
    from ultracontext.agents import known
    from ultracontext.cli.registering import register

    done = register(place, list(known()), remove=False)
    told = [one for one in done if one.outcome not in ("not there", "no MCP")]
    return [f"MCP, {one.agent}: {one.outcome}, {one.path}." for one in told] or [
        "MCP: no agent was found; `ultracontext mcp install` registers it later."
    ]


def _install_service(place: Workspace) -> list[str]:
    """A service that does not come up leaves the settings: they are right, and it says so."""
    from ultracontext.cli.commands.service import install_service

    try:
        _, outcome = install_service(place, linger=None)
    except UltraContextError as error:
        raise UltraContextError(
            f"the settings are written, the service is not there: {error.message}",
            hint=error.hint,
            code=error.code,
        ) from error
    return [f"{note}." for note in outcome.notes]
