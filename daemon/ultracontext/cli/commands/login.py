"""`login` and `logout`: the key of the server, from a prompt or stdin, never an argument."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace, workspace

app = command_app()
leaving = command_app()
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
MOST_CHARACTERS = 4096


@app.command()
def login(json: Json = False) -> None:
    """Keeps the key of the server that remote.url names: asked for, or read from stdin."""
    from ultracontext.service.credentials import Credentials

    place = workspace()
    url = _server(place)
    key = _asked()
    place.paths.ensure()
    held = Credentials(place.paths, place.env)
    where = held.save(url, key)
    if json:
        output.write_json({"kept": where})
        return
    output.note(f"Kept in the {where}." if where == "keyring" else f"Kept in {_file(place)}.")
    if where == "file":
        output.note(
            f"The keyring cannot be used ({held.keyring_problem or 'it refused'}); the file can be"
            " read by you only."
        )
    if place.env.get("ULTRACONTEXT_API_KEY"):
        output.note("ULTRACONTEXT_API_KEY is set and wins.")


@leaving.command()
def logout(json: Json = False) -> None:
    """Forgets the key of the server."""
    from ultracontext.service.credentials import Credentials

    place = workspace()
    gone = Credentials(place.paths, place.env).forget(_server(place))
    if json:
        output.write_json({"removed_from": gone})
    else:
        output.note(f"Removed from the {' and the '.join(gone)}." if gone else "No key was kept.")


def _server(place: Workspace) -> str:
    url = place.settings.remote.url
    if not url.startswith(("http://", "https://")):
        raise UsageError(
            "remote.url names no server, so there is nothing to log in to",
            hint="Run `ultracontext config set remote.url https://…`",
            code="no-remote",
        )
    return url


def _asked() -> str:
    if sys.stdin is not None and sys.stdin.isatty():
        import getpass

        text = getpass.getpass("Key: ", stream=sys.stderr)
    else:
        text = "" if sys.stdin is None else sys.stdin.read(MOST_CHARACTERS + 1)
    key = text.strip()
    if (
        not key
        or len(key) > MOST_CHARACTERS
        or any(c.isspace() or not c.isprintable() for c in key)
    ):
        raise UsageError(
            "this is no key", hint="Give it at the prompt, or by stdin: one line, without blanks"
        )
    return key


def _file(place: Workspace) -> str:
    return str(place.paths.state_dir / "keys.json")
