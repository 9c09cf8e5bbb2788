"""`mcp`: the MCP server on stdin and stdout, and how agents are told of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import workspace

app = command_app(
    help="The MCP server on stdin and stdout; `install` tells the agents of it.",
    invoke_without_command=True,
)


@app.callback()
def serve(context: typer.Context) -> None:
    """Serves what was captured to one agent, over stdin and stdout, until stdin ends.

    The agent sees the project that it works in; `mcp.projects` opens others."""
    if context.invoked_subcommand is None:
        _serve()


def _serve() -> None:
    sys.stdout.flush()
    real = os.dup(1)
    os.dup2(2, 1)  # what prints from here on, to the very end, goes to stderr
    import anyio

    from ultracontext.cli.mcpdesk import desk_of
    from ultracontext.mcp import Scope, scope_of
    from ultracontext.mcp.stdio import serve as served

    place = workspace()
    projects, home = place.settings.mcp.projects, str(place.home)

    def seen(folders: Sequence[str]) -> Scope:
        return scope_of(projects, folders, home)

    anyio.run(served, desk_of(place), seen, place.absolute("."), real)


Agents = Annotated[
    str, typer.Option("--for", metavar="AGENT", help="An agent, several with commas, or all.")
]


@app.command("install")
def install(
    agents: Agents = "all",
    remove: Annotated[bool, typer.Option("--remove", help="Take it out again.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Writes the server into each agent's own MCP settings; a copy of the file is kept.

    Done twice it changes nothing; --remove puts back what was there."""
    from ultracontext.cli import registering

    place = workspace()
    done = registering.register(place, chosen_agents(agents), remove=remove)
    if json:
        output.write_json([one.as_row() for one in done])
        return
    for one in done:
        output.write(f"{one.agent:<10} {one.outcome}: {one.path}")


def chosen_agents(text: str) -> list[str]:
    from ultracontext.agents import known

    every = list(known())
    if text == "all":
        return every
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in every:
            raise UsageError(f"no agent {name!r}", hint=f"One of {', '.join(every)}, or all")
    return names
