"""What SQLite's errors mean to a person."""

from __future__ import annotations

import sqlite3

from ultracontext.errors import StoreBusyError, StoreError
from ultracontext.store.base import MEND

FULL, BUSY, LOCKED, IOERR, CORRUPT, READONLY, CANTOPEN, NOTADB = 13, 5, 6, 10, 11, 8, 14, 26

DOUBTFUL = frozenset({IOERR, CORRUPT, NOTADB, CANTOPEN})
"""Primary codes after which the connection itself is not trusted."""
DAMAGE = frozenset({CORRUPT, NOTADB})

MEANINGS: dict[int, tuple[str, str, str]] = {
    FULL: ("store-full", "the disk is full", "Free some space; capture goes on by itself"),
    IOERR: ("store-io", "the disk failed to read or write", "Check the disk and its free space"),
    CORRUPT: ("store-corrupt", "the store is damaged", MEND),
    NOTADB: ("store-corrupt", "the file is no store", MEND),
    READONLY: (
        "store-readonly",
        "the store cannot be written",
        "Check owner and mode of its folder",
    ),
    CANTOPEN: ("store-open", "the store cannot be opened", "Check owner and mode of its folder"),
}


def primary(error: BaseException) -> int:
    """SQLite's primary result code; 0 when it has none; an OSError counts as IOERR."""
    if isinstance(error, OSError):
        return IOERR
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def translate(error: sqlite3.Error | OSError, path: str) -> StoreError:
    """The StoreError to raise instead; SQL and values are not repeated in it."""
    code = primary(error)
    if code in (BUSY, LOCKED):
        return StoreBusyError(f"another program is writing to {path}", hint="Try again in a moment")
    if code in MEANINGS:
        name, text, hint = MEANINGS[code]
        return StoreError(f"{text} ({path})", hint=hint, code=name)
    name = getattr(error, "sqlite_errorname", None) or type(error).__name__
    return StoreError(
        f"the store failed with {name} ({path})",
        hint="See `ultracontext status`",
        code="store",
    )
