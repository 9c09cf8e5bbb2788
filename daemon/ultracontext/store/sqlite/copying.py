"""Whole copies of a store, made beside a running writer, and put in the place of one."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from ultracontext.errors import StoreError, WriteRefusedError
from ultracontext.store.sqlite import faults
from ultracontext.store.sqlite.connection import check, connect

PAGES = 2048
"""Copied between two looks of a writer for its turn."""
ASIDE = ".before-restore"

Progress = Callable[[int, int], None]
"""(pages done, pages in all)"""


def copy_store(path: Path, target: Path, progress: Progress | None = None) -> int:
    """Copies by SQLite's online backup; the size in bytes. One file, mode 0600, looked through.

    Raises StoreError; WriteRefusedError for a target that is there."""
    if target.exists():
        raise WriteRefusedError(f"{target} is there already", hint="Name another file")
    if not path.exists():
        raise StoreError(
            f"there is no store at {path}",
            hint="Run `ultracontext daemon start`",
            code="store-missing",
        )
    temporary: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=".ultracontext-", dir=target.parent)
        os.close(handle)
        temporary = Path(name)
        _copy(path, temporary, progress)
        if not whole(temporary):
            raise StoreError(
                f"the store {path} is damaged, so no backup was made",
                hint="See `ultracontext doctor`",
                code="store-corrupt",
            )
        os.link(temporary, target)  # unlike a rename it never takes the place of a file
        return target.stat().st_size
    except (sqlite3.Error, OSError) as error:
        raise faults.translate(error, str(path if _of(error, path) else target)) from error
    finally:
        if temporary is not None:
            for suffix in ("", "-wal", "-shm", "-journal"):
                temporary.with_name(temporary.name + suffix).unlink(missing_ok=True)


def _of(error: sqlite3.Error | OSError, path: Path) -> bool:
    return isinstance(error, sqlite3.DatabaseError) and path.exists()


def _copy(path: Path, target: Path, progress: Progress | None) -> None:
    with closing(connect(path, write=False)) as source, closing(sqlite3.connect(target)) as copy:
        check(source, path, empty=True)

        def told(_status: int, left: int, total: int) -> None:
            if progress is not None:
                progress(total - left, total)

        source.backup(copy, pages=PAGES, progress=told, sleep=0.005)
        copy.execute("PRAGMA journal_mode=DELETE").fetchall()  # one file, readable anywhere


def whole(path: Path) -> bool:
    """Whether a file that nobody writes is a sound database, indexes and all."""
    try:
        with closing(connect(path, write=False)) as connection:
            return bool(connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok")
    except sqlite3.DatabaseError as error:
        if faults.primary(error) in faults.DAMAGE or faults.primary(error) == faults.NOTADB:
            return False
        raise


def put_in_place(source: Path, path: Path) -> Path | None:
    """Puts a copy of `source` where the store is; where the store before it lies now.

    Only the holder of the daemon lock may call it. Raises StoreError, and then the store is as it
    was: the last step is one rename."""
    handle, name = tempfile.mkstemp(prefix=".ultracontext-", dir=path.parent)
    os.close(handle)
    fresh = Path(name)
    try:
        _copy(source, fresh, None)
        if not whole(fresh):
            raise StoreError(
                f"{source} is damaged", hint="Take another backup", code="store-corrupt"
            )
        aside = _put_aside(path)
        fresh.replace(path)
    except (sqlite3.Error, OSError) as error:
        raise faults.translate(error, str(source)) from error
    finally:
        fresh.unlink(missing_ok=True)
    return aside


def _put_aside(path: Path) -> Path | None:
    """The store that is there, under another name with its log."""
    if not path.exists():
        return None
    with suppress(sqlite3.Error), closing(connect(path, write=True)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    aside = path.with_name(path.name + ASIDE)
    for suffix in ("-wal", "-shm", ""):
        old, kept = path.with_name(path.name + suffix), aside.with_name(aside.name + suffix)
        kept.unlink(missing_ok=True)
        if old.exists():
            old.replace(kept)
    return aside
