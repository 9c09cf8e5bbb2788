"""`config key`: takes the local masking key to another machine."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from ultracontext import __version__
from ultracontext.cli import output
from ultracontext.cli.group import command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import UltraContextError, WriteRefusedError

app = command_app(help="Export and import the masking key: the same secret keeps the same mask.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
MOST_BYTES = 4096


@app.command("export")
def export(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A new file (0600); none: stdout.")
    ] = None,
    json: Json = False,
) -> None:
    """Writes the key. Who has it can test guesses of masked secrets: keep it as one."""
    from ultracontext.redaction.fingerprint import load_secret
    from ultracontext.runtime import key

    place = workspace()
    place.paths.ensure()
    text = key.as_text(load_secret(place.paths.secret_file))
    if file is not None:
        key.write_new(Path(file), text)
        if json:
            output.write_json({"file": file})
        else:
            output.note(f"Written to {output.one_line(file)}, mode 0600. Keep it like a password.")
        return
    output.note("This is the masking key. Keep it like a password.")
    if json:
        output.write_json({"key": text})
    else:
        output.write(text)


@app.command("import")
def take(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What export wrote; - is stdin.")],
    yes: Annotated[
        bool, typer.Option("--yes", help="Also when the store was written with another key.")
    ] = False,
    json: Json = False,
) -> None:
    """Takes a key over from another machine, before or after its store."""
    from ultracontext.runtime import key
    from ultracontext.runtime.lock import DaemonLock, holding

    place = workspace()
    place.paths.ensure()
    secret = key.from_text(_read(file))
    lock = DaemonLock(place.paths.lock_file)
    with holding(lock, version=__version__, socket="", once=True):
        foreign = _is_foreign(place, secret)
        if foreign and not yes:
            raise WriteRefusedError(
                "the store was written with another key: the same secret would get another mask",
                code="key",
                hint="Import the key of that store, or give --yes",
            )
        if foreign:
            _rekey(place, secret)
        key.replace(place.paths, secret)
    if json:
        output.write_json({"imported": True, "rekeyed": foreign})
    else:
        output.note("Imported." + (" Masks made before keep their old fingerprints." * foreign))


def _read(file: str) -> str:
    try:
        if file == "-":
            return sys.stdin.read(MOST_BYTES)
        with Path(file).open(encoding="utf-8", errors="replace") as opened:
            return opened.read(MOST_BYTES)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UltraContextError(
            f"cannot read {output.one_line(file)}: {reason}", hint="Check its name"
        ) from error


def _is_foreign(place: Workspace, secret: bytes) -> bool:
    from ultracontext.runtime import key

    if not os.path.lexists(place.paths.store_file):
        return False
    with place.reading(place.paths.store_file) as space:
        return key.foreign_masks(space, secret)


def _rekey(place: Workspace, secret: bytes) -> None:
    """The store forgets what only the old key could tell: the agents' files are read once more,
    and what is stored of them counts as known."""
    from ultracontext.runtime import key
    from ultracontext.store import open_local
    from ultracontext.store.base import LOCAL_SPACE

    store = open_local(place.paths, mode="rw", migrate=True)
    try:
        space = store.within(LOCAL_SPACE)
        space.forget_digests()
        space.note(key.NOTE, key.check_value(secret))
    finally:
        store.close()
