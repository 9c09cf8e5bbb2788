"""`capture`: pause and continue, as a whole or for one project; take a session back."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from ultracontext.cli import output
from ultracontext.cli.group import command_app
from ultracontext.cli.workspace import workspace
from ultracontext.errors import NotFoundError, StoreError, TransportError

if TYPE_CHECKING:
    from ultracontext.store import Tombstone

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


@app.command("again")
def again(session: Annotated[str, typer.Argument(metavar="ID")], json: Json = False) -> None:
    """Captures a session again that `forget` wiped, from what its agent still has."""
    from datetime import UTC, datetime

    from ultracontext.store import LOCAL_SPACE, open_local

    store = open_local(workspace().paths, mode="rw")
    try:
        space = store.within(LOCAL_SPACE)
        found = _wiped(space.tombstones(), session)
        space.lift(found.context_id, now=datetime.now(UTC))
    finally:
        store.close()
    if json:
        output.write_json({"id": found.context_id, "session_id": found.session_id})
        return
    output.note(f"{found.session_id or found.context_id} is captured again with the next look.")


def _wiped(tombstones: list[Tombstone], name: str) -> Tombstone:
    """By context id, native session id, or a unique prefix of either."""
    waiting = [stone for stone in tombstones if stone.lifted_at is None]
    names = [(stone, (stone.context_id, stone.session_id or "")) for stone in waiting]
    found = [stone for stone, known in names if name in known] or [
        stone for stone, known in names if len(name) >= 4 and any(k.startswith(name) for k in known)
    ]
    if not found:
        raise NotFoundError(
            f"no wiped session is named {name!r}", hint="`forget` said what it wiped"
        )
    if len(found) > 1:
        raise StoreError(
            f"{name!r} could be {', '.join(stone.context_id for stone in found[:5])}",
            hint="Give more of the id",
            code="ambiguous",
        )
    return found[0]


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
