"""`compat --check`: which versions are installed, which were met, what is new to us."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace, workspace

app = command_app()


@app.command()
def compat(
    check: Annotated[
        bool, typer.Option("--check", help="What is installed, met, and new to us.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Versions of the agents: installed, met in captured sessions, tested by us.

    What is installed is read from package files; no program is started."""
    if not check:
        raise UsageError(
            "compat without --check is not available yet",
            hint="Run `ultracontext compat --check`",
            code="not-available",
        )
    agents = _collect(workspace())
    if json:
        output.write_json({"agents": agents})
        return
    for number, agent in enumerate(agents):
        if number:
            output.write()
        for line in _lines(agent):
            output.write(output.one_line(line) if not line.startswith(" ") else line)


def _collect(place: Workspace) -> list[dict[str, Any]]:
    import msgspec

    from ultracontext.agents import known
    from ultracontext.runtime.installed import installed
    from ultracontext.runtime.met import met

    specs = known()
    with place.reading() as space:
        found_rows = [] if space is None else space.contexts(limit=0, children=True)
        rows = [place.masked(row) for row in found_rows]
    found = met(specs.values(), rows)
    return [
        {
            "agent": slug,
            "name": spec.name,
            "installed": [
                {**msgspec.to_builtins(one), "tested": one.version in spec.versions}
                for one in installed(spec, place.env, place.home)
            ],
            "met": found[slug].versions(),
            "tested": list(spec.versions),
            "described": list(spec.described),
            "unknown": found[slug].unknown(),
        }
        for slug, spec in specs.items()
    ]


def _lines(agent: dict[str, Any]) -> list[str]:
    """The lines for a person."""
    lines = [agent["name"]]
    here = [f"{one['version']}{_mark(one)} in {one['path']}" for one in agent["installed"]]
    lines += _rows("installed", here or ["not found in the usual places"])
    seen = [f"{m['version']}{_mark(m)}, {_sessions(m['sessions'])}" for m in agent["met"]]
    lines += _rows("met", seen or ["no version told by a captured session"])
    lines += _rows("tested", [", ".join(agent["tested"]) or "none: no program was run"])
    if agent["described"]:
        forms = ", ".join(agent["described"])
        lines += _rows("read", [f"{forms} (made by hand from public material, never run)"])
    new = [f"{u['kind']}: {u['records']} in {_sessions(u['sessions'])}" for u in agent["unknown"]]
    return lines + _rows("new to us", new)


def _rows(name: str, texts: list[str]) -> list[str]:
    return [
        f"  {name if not number else '':<10} {output.one_line(text)}"
        for number, text in enumerate(texts)
    ]


def _mark(version: dict[str, Any]) -> str:
    return "" if version["tested"] else " (not tested)"


def _sessions(count: int) -> str:
    return "1 session" if count == 1 else f"{count} sessions"
