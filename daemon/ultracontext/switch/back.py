"""The way back: what was done, undone in reverse."""

from __future__ import annotations

import os
import shlex
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from ultracontext.errors import WriteRefusedError
from ultracontext.switch.done import Done, SwitchError
from ultracontext.switch.steps import (
    ABSENT,
    digest_of,
    document,
    fresh,
    member,
    put,
    replace,
    run,
    sync_folder,
    transact,
)

PROGRAM_SECONDS = 60.0


def take_back(done: Sequence[Done], *, keep_grown: bool = True, later: bool = False) -> list[str]:
    """Undoes in reverse what was done or begun. A file that is not as we left it stays, and is
    named, unless `keep_grown` is false.

    With `later`, when others may have been at work since, files that a program changed are put back
    only while they are as it left them; else its own command takes its work back."""
    left: list[str] = []
    copies = [one for one in done if one.kind == "backup"]
    restore = bool(copies) and not (later and any(map(_changed_since, copies)))
    for one in reversed(done):
        try:
            problem = _undo(one, keep_grown=keep_grown, restore=restore)
        except (OSError, SwitchError, WriteRefusedError) as error:
            left.append(f"{one.path}: {error}")
            if one.kind == "program":
                break  # what the program has done stands, so the rest has to stay as well
            continue
        if problem is not None:
            left.append(problem)
    return left


def _changed_since(one: Done) -> bool:
    """Whether a file is not as our step left it, or the copy of it is gone."""
    gone = bool(one.copy) and not Path(one.copy).exists()
    return gone or not one.ran or digest_of(Path(one.path)) != one.digest


def _undo(one: Done, *, keep_grown: bool, restore: bool) -> str | None:
    path = Path(one.path)
    if one.kind == "file":
        return _remove_file(path, one.digest, keep_grown=keep_grown)
    if one.kind == "program":
        if not restore:
            _run_back(one)
    elif one.kind == "backup":
        if restore:
            _put_back(path, one)
    elif one.kind == "rows":
        if path.exists():
            transact(path, lambda database: _execute(database, one.undo))
    else:
        _PLAIN[one.kind](path, one)
    return None


def _run_back(one: Done) -> None:
    if not one.argv:
        return
    try:
        run(one.argv, one.environment, PROGRAM_SECONDS)
    except SwitchError as error:
        raise SwitchError(
            f"{error.message}; its database was used since, so that only the program itself can"
            f" take the session out: {shlex.join(one.argv)}"
        ) from error


def _remove_made(path: Path, one: Done) -> None:
    """The files that the program made; the folder too, when nothing else is in it."""
    for name in one.names if one.ran else fresh(one):
        if (path / name).is_file():
            (path / name).unlink(missing_ok=True)
    with suppress(OSError):
        path.rmdir()


def _remove_folder(path: Path, one: Done) -> None:
    """It stays while others have something in it."""
    del one
    with suppress(OSError):
        path.rmdir()


def _put_back(path: Path, one: Done) -> None:
    """The copy of a file that a program changed; without one the file was not there."""
    if one.copy:
        shutil.copy2(one.copy, path)
    elif path.exists():
        path.unlink()


def _execute(database: sqlite3.Connection, statements: Sequence[tuple[str, Any]]) -> None:
    for sql, values in statements:
        database.execute(sql, values)


def _remove_file(path: Path, digest: str, *, keep_grown: bool) -> str | None:
    try:
        same = sha256(path.read_bytes()).hexdigest() == digest
    except FileNotFoundError:
        return None
    if digest and not same and keep_grown:
        return f"{path} has changed since it was written"
    path.unlink()
    sync_folder(path.parent)
    return None


def _remove_line(path: Path, one: Done) -> None:
    """Takes the line out again; a file that it made goes with it when nothing else is in it."""
    line = one.line.encode("utf-8", "surrogateescape") + b"\n"
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    place = data.rfind(line)
    if place < 0 or (place and data[place - 1 : place] != b"\n"):
        return
    rest = data[:place] + data[place + len(line) :]
    if not rest and not one.had:
        path.unlink()
        return
    if place + len(line) == len(data):  # still the end: others may append meanwhile
        with path.open("r+b") as file:
            if os.fstat(file.fileno()).st_size == len(data):
                file.truncate(place)
                return
    replace(path, rest)


def _restore_key(path: Path, one: Done) -> None:
    """The document as it was, byte for byte, while nobody changed it; else its member only."""
    if not path.exists():
        return
    if not _changed_since(one):
        _put_back(path, one)
        return
    had, value = member(document(path), one.keys)
    if not had or value != one.after:
        return
    lock = Path(one.lock) if one.lock else None
    put(path, one.keys, one.before if one.had else ABSENT, lock)


_PLAIN = {
    "folder": _remove_folder, "line": _remove_line, "key": _restore_key, "made": _remove_made,
}  # fmt: skip
