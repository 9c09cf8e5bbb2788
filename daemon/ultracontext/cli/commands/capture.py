"""`capture`: pause and continue, as a whole or for one project."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from ultracontext.cli import output
from ultracontext.cli.group import command_app
from ultracontext.cli.workspace import workspace
from ultracontext.errors import TransportError

app = command_app(help="Pause capture and go on, as a whole or for one project.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Project = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Only sessions of this folder and below."),
]


@app.command("pause")
def pause(project: Project = None, json: Json = False) -> None:
    """Stops reading until `continue`.

    What is written meanwhile is captured then. A project stays paused over restarts of the daemon,
    capture as a whole does not."""
    done = "Paused" if project is None else f"Paused {project}"
    _ask("/pause", project, as_json=json, done=f"{done}. `ultracontext capture continue` goes on.")


@app.command("continue")
def go_on(project: Project = None, json: Json = False) -> None:
    """Reads on."""
    done = "Capture goes on." if project is None else f"Capture of {project} goes on."
    _ask("/continue", project, as_json=json, done=done)


def _ask(target: str, project: str | None, *, as_json: bool, done: str) -> None:
    from ultracontext.runtime.client import ControlClient
    from ultracontext.runtime.lock import running

    place = workspace()
    holder = running(place.paths.lock_file)
    if holder is None or holder.once:
        raise TransportError(
            "no daemon is running",
            code="daemon-down",
            hint="Start it by `ultracontext daemon start`",
        )
    client = ControlClient(place.paths.socket_of(holder.socket))
    folders = [None] if project is None else _folders(place.absolute(project))
    for folder in folders:
        client.post(target, None if folder is None else {"project": folder})
    capture = client.get("/status")["capture"]
    if as_json:
        output.write_json({key: capture[key] for key in ("paused", "paused_projects")})
        return
    output.note(done)
    if project is None and capture["paused_projects"]:
        output.note(f"Still paused: {', '.join(capture['paused_projects'])}")


def _folders(path: str) -> list[str | None]:
    """The folder as written, and where its links lead: an agent may name either."""
    return list(dict.fromkeys([path, os.path.realpath(path)]))
