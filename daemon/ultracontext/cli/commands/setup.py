"""`setup`: asks what to capture, how long to keep it and where it goes; shows, then writes."""

from __future__ import annotations

import shlex
import sys
from typing import Annotated

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.planned import Plan, apply, plan_of, preview, shown
from ultracontext.cli.workspace import Workspace, workspace

app = command_app()


@app.command()
def setup(
    yes: Annotated[
        bool, typer.Option("--yes", help="Ask nothing; flags and defaults hold.")
    ] = False,
    agents: Annotated[
        str | None, typer.Option(metavar="A,B", help="Agents to capture; empty: all.")
    ] = None,
    projects: Annotated[
        str | None, typer.Option(metavar="GLOBS", help="Project folders to capture; empty: all.")
    ] = None,
    backfill: Annotated[
        str | None, typer.Option(metavar="WHAT", help="all, new, or a duration such as 24h.")
    ] = None,
    keep: Annotated[
        str | None, typer.Option(metavar="HOW", help="forever, year, or a number of days.")
    ] = None,
    remote: Annotated[
        str | None, typer.Option(metavar="URL", help="A server or PostgreSQL; empty: here only.")
    ] = None,
    include: Annotated[
        str | None, typer.Option(metavar="GLOBS", help="Projects that go to the remote.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="WHEN", help="What goes there: now, all, or a time.")
    ] = None,
    mcp: Annotated[
        bool | None, typer.Option("--mcp/--no-mcp", help="Register the MCP server with the agents.")
    ] = None,
    mcp_projects: Annotated[
        str | None, typer.Option(metavar="WHICH", help="What agents may read: current or all.")
    ] = None,
    service: Annotated[
        bool | None, typer.Option("--service/--no-service", help="Start the daemon at login.")
    ] = None,
    link: Annotated[bool, typer.Option("--link", help="Put launchers into ~/.local/bin.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Sets UltraContext up. Nothing is written before you agreed to what is shown."""
    place = workspace()
    given = {
        "capture.agents": agents, "capture.include": projects, "capture.backfill": backfill,
        "remote.url": remote, "remote.include": include, "remote.since": since,
        "mcp.projects": mcp_projects,
    }  # fmt: skip
    only_link = link and not yes and service is None and mcp is None and keep is None
    if only_link and not any(value is not None for value in given.values()):
        return _link(place, json=json)
    plan = plan_of(place, given, keep=keep, service=service, mcp=mcp, link=link)
    if not yes:
        if json or not (sys.stdin.isatty() and output.is_terminal(sys.stderr)):
            raise UsageError(
                "setup asks questions, and this is no terminal",
                hint="Answer by flags: `ultracontext setup --yes`, see `ultracontext setup --help`",
            )
        from ultracontext.cli.asking import asked

        plan = asked(place, plan)
    return _carry_out(place, plan, yes=yes, json=json)


def first_setup(place: Workspace) -> None:
    """On the first start on a terminal; a no leaves the defaults, Ctrl-C leaves the program."""
    from ultracontext.cli.asking import asked

    plan = asked(place, Plan(service=True))
    _carry_out(place, plan, yes=False, json=False)


def _carry_out(place: Workspace, plan: Plan, *, yes: bool, json: bool) -> int:
    if not json:
        for line in (*preview(place, plan), *shown(place, plan)):
            output.note(output.one_line(line) if not line.startswith(" ") else line)
    if not yes and not typer.confirm("Do this?", default=True, err=True):
        output.note("Nothing was written.")
        return 1
    done = apply(place, plan)
    if json:
        output.write_json(done)
        return 0
    for note in done["notes"]:
        output.note(note)
    output.note("Done. `ultracontext sessions` lists what is captured.")
    return 0


def _link(place: Workspace, *, json: bool) -> int:
    from ultracontext.cli import launchers

    folder = launchers.folder_of(place)
    written = launchers.write_launchers(folder)
    on_path, clash = launchers.on_path(place), launchers.clash(place, folder)
    if json:
        output.write_json(
            {"written": [str(p) for p in written], "on_path": on_path, "clash": clash}
        )
        return 0
    for path in written:
        output.write(str(path))
    if not on_path:
        output.note(
            f"{folder} is not on the PATH. Add it: export PATH={shlex.quote(str(folder))}:$PATH"
        )
    if clash is not None:
        output.note(f"Another program of this name comes first on the PATH: {clash}")
    return 0
