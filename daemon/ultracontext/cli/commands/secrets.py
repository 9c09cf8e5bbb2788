"""`secrets`: which secrets were found where, so that a person can change them."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.commands.status import local
from ultracontext.cli.group import command_app
from ultracontext.cli.table import Column, render
from ultracontext.cli.workspace import workspace

app = command_app()

COLUMNS = (
    Column(name="Kind", least=10, weight=1),
    Column(name="Fingerprint", least=11),
    Column(name="Sessions", right=True),
    Column(name="First", least=10),
    Column(name="Last", least=10),
    Column(name="Still in", least=10, weight=2),
)
SHOWN_FILES = 3


@app.command()
def secrets(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    no_files: Annotated[
        bool, typer.Option("--no-files", help="Do not look into the agents' files.")
    ] = False,
) -> None:
    """Secrets that were masked in captured sessions: kind and fingerprint, never the secret.

    The agents' own files of these sessions are read again, to say where it still lies."""
    from ultracontext.runtime.secrets import Files, as_json, secrets_of

    place = workspace()
    with place.reading(place.paths.store_file) as space:
        found = [] if space is None else secrets_of(space, place.masked)
        if found and not no_files and space is not None:
            place.paths.ensure()
            Files(place.redactor, place.paths.cache_dir).look(space, found, _progress)
    if json:
        output.write_json({"secrets": as_json(found), "looked": bool(found) and not no_files})
    elif not found:
        output.note("No secret was found in what is captured.")
    else:
        for line in render(COLUMNS, [_cells(s) for s in found], output.columns()):
            output.write(line)
        output.note("Change those that are real where they were issued; --json names the sessions.")


def _cells(secret: Any) -> tuple[str, ...]:
    day = "%Y-%m-%d"
    files = [file.path for file in secret.files if file.there]
    more = len(files) - SHOWN_FILES
    still = ", ".join(files[:SHOWN_FILES]) + (f" and {more} more" if more > 0 else "")
    if not files:
        still = {None: "not known", False: "no file"}[secret.still_there]
    return (
        secret.kind,
        secret.fingerprint,
        str(len(secret.sessions)),
        local(secret.first_at, day),
        local(secret.last_at, day),
        still,
    )


def _progress(path: str) -> None:
    if output.is_terminal(sys.stderr):
        output.note(output.one_line(f"Reading {path}"))
