"""`compat`: what was run, and so what a switch may claim; `compat --check`: what is installed here,
which versions were met, what is new to us; `compat prove`: evidence of this machine."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace, workspace

app = command_app()


@app.command()
def compat(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[prove [AGENT]]", help="Make evidence here.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="What is installed, met, and new to us.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Which agents are read and written, and on what evidence.

    What is installed is read from package files; only `prove` starts programs."""
    given = list(words or [])
    if given[:1] == ["prove"]:
        return _prove(given[1:], as_json=json)
    if given:
        raise UsageError(f"no {given[0]!r} here", hint="`ultracontext compat prove` makes evidence")
    if not check:
        _print_matrix(as_json=json)
        return 0
    agents = _collect(workspace())
    if json:
        output.write_json({"agents": agents})
        return 0
    for number, agent in enumerate(agents):
        if number:
            output.write()
        for line in _lines(agent):
            output.write(output.one_line(line) if not line.startswith(" ") else line)
    return 0


def _prove(names: list[str], *, as_json: bool) -> int:
    from ultracontext.cli.proving import prove

    if len(names) > 1:
        raise UsageError("prove takes one agent", hint="Without one, all installed are run")
    return prove(names[0] if names else None, as_json=as_json)


def _print_matrix(*, as_json: bool) -> None:
    from ultracontext.cli.desk import desk
    from ultracontext.formats.table import pairs

    at = desk()
    agents = [_agent(at, slug) for slug in at.agents]
    rows = pairs(at.agents, at.proven)
    if as_json:
        output.write_json({"agents": agents, "pairs": rows})
        return
    for agent in agents:
        output.write(agent["name"])
        if agent["installed"]:
            said = "; ".join(f"{v['verdict']} from {s}" for s, v in agent["from"].items())
            output.write(output.one_line(f"  installed  {agent['installed']}: {said}"))
        for kind in ("reads", "writes"):
            for one in agent[kind]:
                versions = ", ".join(one["versions"]) or "no version yet"
                output.write(f"  {kind:<10} {one['format']}: {versions} ({one['evidence']})")
    output.write()
    for row in rows:
        versions = ", ".join(row["target_versions"]) or row["reason"]
        output.write(
            output.one_line(f"{row['source']} → {row['target']}: {row['verdict']}  {versions}")
        )


def _agent(at: Any, slug: str) -> dict[str, Any]:
    """`installed` is the version that a switch would write for; `from` its verdict by source."""
    from ultracontext.formats.gate import judge
    from ultracontext.formats.table import reads, writes

    spec = at.agents[slug]
    found = at.packaged(spec)
    version = found[0].version if found else None
    unknown = at.unknown(spec, version) if version and spec.writer is not None else []
    said = {
        source: judge(source, slug, version, agents=at.agents, proven=at.proven, unknown=unknown)
        for source in at.agents
    }
    return {
        "agent": slug, "name": spec.name, "installed": version,
        "programs": [{"version": one.version, "path": one.path} for one in found],
        "verdict": _overall([verdict.name for verdict in said.values()]) if version else None,
        "from": {
            source: {"verdict": verdict.name, "reason": verdict.reason}
            for source, verdict in said.items()
        },
        "reads": reads(spec), "writes": writes(spec, at.proven),
    }  # fmt: skip


_WORST = ("refused", "handoff", "untested", "expected", "tested")


def _overall(names: list[str]) -> str:
    """The least certain of all sources."""
    return min(names, key=_WORST.index)


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
