"""Carrying out a plan's files and steps; `back` has the way back.

What a step does is described by a `Done` before it happens, so that a crash can be cleaned up from
the ledger. Nothing is overwritten, and no link is followed out of the agent's folder.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import stat
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

from ultracontext.errors import WriteRefusedError
from ultracontext.formats import AppendLine, FileWrite, PutKey, RunProgram, SqlRows, Step
from ultracontext.model.failpoint import failpoint
from ultracontext.switch.done import Done, SwitchError, resolved

BUSY_SECONDS = 5.0
LOCK_SECONDS = 5.0
FOLDER_MODE = 0o700
SIDES = ("", "-wal", "-shm", "-journal")


# ---- files ---------------------------------------------------------------------------------------
def announce_file(root: Path, file: FileWrite) -> list[Done]:
    """What writing it will make: missing folders, outermost first, then the file."""
    path = resolved(root, file.path)
    if os.path.lexists(path):
        raise WriteRefusedError(f"{path} is there already", code="exists", hint="Try again")
    missing: list[Path] = []
    folder = path.parent
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    done = [Done(kind="folder", path=str(one)) for one in reversed(missing)]
    return [*done, Done(kind="file", path=str(path), digest=sha256(file.data).hexdigest())]


def write_file(root: Path, file: FileWrite, ident: str) -> None:
    """Temporary file, fsync, its name, fsync of the folders."""
    path = resolved(root, file.path)
    made = _make_folders(path.parent)
    temporary = path.with_name(f".{ident}.tmp")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        handle = os.open(temporary, flags, file.mode)
        with os.fdopen(handle, "wb") as out:
            out.write(file.data)
            out.flush()
            os.fsync(out.fileno())
        failpoint("switch_temporary")
        resolved(root, file.path)
        _name(temporary, path)
        failpoint("switch_named")
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    for folder in dict.fromkeys([path.parent, *(one.parent for one in made)]):
        sync_folder(folder)
    failpoint("switch_folder")


def _make_folders(folder: Path) -> list[Path]:
    missing: list[Path] = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for one in reversed(missing):
        one.mkdir(mode=FOLDER_MODE)
    return missing


def _name(temporary: Path, path: Path) -> None:
    """Gives a file its name without ever replacing another."""
    try:
        os.link(temporary, path, follow_symlinks=False)
    except FileExistsError:
        raise WriteRefusedError(f"{path} is there already", code="exists") from None
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise WriteRefusedError(f"{path} is there already", code="exists") from None
        temporary.rename(path)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):  # some file systems cannot
            os.fsync(handle)
    finally:
        os.close(handle)


# ---- steps ---------------------------------------------------------------------------------------
def announce(root: Path, step: Step, keep: Path) -> list[Done]:
    """What a step will do, with what is needed to take it back."""
    if isinstance(step, AppendLine):
        path = resolved(root, step.path)
        text = step.line.decode("utf-8", "surrogateescape")
        return [Done(kind="line", path=str(path), line=text, had=path.exists())]
    if isinstance(step, PutKey):
        path = resolved(root, step.path)
        had, before = member(document(path), step.keys)
        return [
            Done(
                kind="key", path=str(path), keys=list(step.keys), had=had, before=before,
                after=step.value, lock=str(resolved(root, step.lock)) if step.lock else "",
                copy=_aside(path, keep),
            )
        ]  # fmt: skip
    if isinstance(step, SqlRows):
        path = resolved(root, step.path)
        undo = [(sql, dict(values)) for sql, values in step.undo]
        return [Done(kind="rows", path=str(path), undo=undo)]
    return _announce_program(root, step, keep)


def _announce_program(root: Path, step: RunProgram, keep: Path) -> list[Done]:
    done: list[Done] = []
    for name in step.backup:
        base = resolved(root, name)
        for side in SIDES:
            path = Path(f"{base}{side}")
            done.append(Done(kind="backup", path=str(path), copy=_aside(path, keep)))
    for name in step.makes:
        folder = resolved(root, name)
        done.append(Done(kind="made", path=str(folder), names=children(folder)))
    return [
        *done,
        Done(
            kind="program", path=step.argv[0], argv=list(step.undo),
            environment=dict(step.environment),
        ),
    ]  # fmt: skip


def _aside(path: Path, keep: Path) -> str:
    """A copy in a folder of ours; empty for a file that is not there."""
    if not path.exists():
        return ""
    keep.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    target = keep / sha256(str(path).encode()).hexdigest()[:16]
    shutil.copy2(path, target, follow_symlinks=False)
    return str(target)


def note_ran(done: Sequence[Done]) -> None:
    """How the step left the files that were copied aside, and what a program made."""
    for one in done:
        if one.kind in ("backup", "key"):
            one.digest, one.ran = digest_of(Path(one.path)), True
        elif one.kind == "made" and not one.ran:
            one.names, one.ran = fresh(one), True


def children(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []


def fresh(made: Done) -> list[str]:
    """What is in the folder now and was not before."""
    return sorted(set(children(Path(made.path))) - set(made.names))


def digest_of(path: Path) -> str:
    """sha256 of a file; `-` for none."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return "-"


def perform(root: Path, step: Step) -> None:
    """Carries a step out. Raises SwitchError, WriteRefusedError or OSError."""
    failpoint("switch_step")
    if isinstance(step, AppendLine):
        _append(resolved(root, step.path), step.line)
    elif isinstance(step, PutKey):
        path = resolved(root, step.path)
        lock = resolved(root, step.lock) if step.lock else None
        put(path, list(step.keys), step.value, lock)
    elif isinstance(step, SqlRows):
        _rows(resolved(root, step.path), step)
    else:
        run(step.argv, step.environment, step.timeout_seconds, step.hint)
    failpoint("switch_stepped")


def _append(path: Path, line: bytes) -> None:
    """One write of one whole line; a last line without its end is ended first."""
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
    handle = os.open(path, flags, 0o600)
    try:
        size = os.fstat(handle).st_size
        torn = size > 0 and os.pread(handle, 1, size - 1) != b"\n"
        os.write(handle, (b"\n" if torn else b"") + line + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)


def document(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise WriteRefusedError(
            f"{path} is no JSON object", hint="Its agent has to repair it first", code="damaged"
        )
    return found


def member(document: Mapping[str, Any], keys: Sequence[str]) -> tuple[bool, Any]:
    value: Any = document
    for key in keys:
        if not isinstance(value, dict) or key not in value:
            return False, None
        value = value[key]
    return True, value


ABSENT = object()


def put(path: Path, keys: list[str], value: Any, lock: Path | None) -> None:
    """Exchanges the document, under its lock where it has one."""
    with _Locked(lock):
        whole = document(path)
        place: Any = whole
        for key in keys[:-1]:
            place = place.setdefault(key, {})
            if not isinstance(place, dict):
                raise WriteRefusedError(f"{path} has another shape than we know", code="damaged")
        if value is ABSENT:
            place.pop(keys[-1], None)
        else:
            place[keys[-1]] = value
        replace(path, json.dumps(whole, indent=2, ensure_ascii=False).encode())


def replace(path: Path, data: bytes) -> None:
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(temporary, flags, mode), "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(path)
    finally:
        with suppress(FileNotFoundError):
            temporary.unlink()
    sync_folder(path.parent)


class _Locked:
    """A lock file of the agent's own kind: whoever makes it holds it."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def __enter__(self) -> None:
        if self._path is None:
            return
        ends = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
            except FileExistsError:
                if time.monotonic() >= ends:
                    raise WriteRefusedError(
                        f"{self._path} is held", code="locked",
                        hint="Its agent is at work; try again in a moment",
                    ) from None  # fmt: skip
                time.sleep(0.05)
            else:
                return

    def __exit__(self, *_: object) -> None:
        if self._path is not None:
            with suppress(FileNotFoundError):
                self._path.unlink()


def _rows(path: Path, step: SqlRows) -> None:
    sql, values = step.check

    def work(database: sqlite3.Connection) -> None:
        for statement, bound in step.do:
            database.execute(statement, dict(bound))
        if database.execute(sql, dict(values)).fetchone() is None:
            raise SwitchError(f"the index {path} did not take the row")

    transact(path, work)


def transact(path: Path, work: Any) -> None:
    """One immediate transaction in a database that is there."""
    name = path.as_uri() + "?mode=rw"
    try:
        with closing(
            sqlite3.connect(name, uri=True, timeout=BUSY_SECONDS, isolation_level=None)
        ) as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                work(database)
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
    except sqlite3.Error as error:
        raise SwitchError(
            f"the index {path} could not be changed ({type(error).__name__})",
            hint="Close the agent and try again", code="index",
        ) from error  # fmt: skip


def run(argv: Sequence[str], environment: Mapping[str, str], seconds: float, hint: str = "") -> str:
    """Runs an agent's own command; gives what it printed. Raises SwitchError."""
    try:
        done = subprocess.run(  # noqa: S603  # an agent's own command, by the plan of its writer
            list(argv), env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise SwitchError(f"{argv[0]} did not end within {seconds:.0f} s", code="program") from None
    except OSError as error:
        raise SwitchError(f"{argv[0]} cannot be run: {error.strerror}", code="program") from error
    if done.returncode:
        raise SwitchError(f"{argv[0]} ended with {done.returncode}", code="program", hint=hint)
    return done.stdout.decode("utf-8", "replace")
