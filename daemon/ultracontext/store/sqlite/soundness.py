"""Looks through the whole file for damage, in a connection of its own, beside everything else.

Structure only, table by table (`PRAGMA quick_check(table)`): pages, order of rows, indexes that are
torn. Content is a matter of the digests. Between two bits of work it pauses, so that it takes a
part of a core only, and it gives up while the write-ahead log waits for it to end.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

from ultracontext.errors import StoreError
from ultracontext.store.sqlite import faults
from ultracontext.store.sqlite.connection import connect

SHARE = 0.25
"""Of the time that it takes, for work."""
STEPS = 20_000
"""Instructions of SQLite between two looks around, a few milliseconds."""
LOG_BYTES = 16 << 20
"""How far the write-ahead log may grow while one table is looked through."""


class Soundness:
    """One pass over one file."""

    def __init__(
        self, path: Path, halted: Callable[[], bool], *, share: float = SHARE, steps: int = STEPS
    ) -> None:
        self._path = path
        self._halted = halted
        self._share = share
        self._steps = steps
        self._begun = 0.0
        self._log_bytes = 0

    def sound(self) -> bool | None:
        """False for damage; None when it had to stop before it knew. Raises StoreError."""
        try:
            connection = connect(self._path, write=False)
        except (sqlite3.Error, OSError) as error:
            return self._judge(error)
        try:
            connection.execute("PRAGMA cache_size=-1024")
            return self._look_through(connection)
        except (sqlite3.Error, OSError) as error:
            return self._judge(error)
        finally:
            connection.close()

    def _look_through(self, connection: sqlite3.Connection) -> bool | None:
        found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        connection.set_progress_handler(self._pause, self._steps)
        for (name,) in found:
            self._begun, self._log_bytes = time.monotonic(), self._log()
            quoted = str(name).replace('"', '""')
            rows = connection.execute(f'PRAGMA quick_check("{quoted}")').fetchmany(1)
            if rows and rows[0][0] != "ok":
                return False
        return True

    def _judge(self, error: sqlite3.Error | OSError) -> bool | None:
        code = faults.primary(error)
        if code in (faults.CORRUPT, faults.NOTADB):
            return False
        if code == sqlite3.SQLITE_INTERRUPT:
            return None
        fault: StoreError = faults.translate(error, str(self._path))
        raise fault from error

    def _pause(self) -> bool:
        """Called by SQLite now and then; True ends the check."""
        if self._halted() or self._log() > self._log_bytes + LOG_BYTES:
            return True
        spent = time.monotonic() - self._begun
        time.sleep(min(1.0, spent * (1 - self._share) / self._share))
        self._begun = time.monotonic()
        return self._halted()

    def _log(self) -> int:
        try:
            return os.stat(f"{self._path}-wal").st_size  # noqa: PTH116  # asked for often
        except OSError:
            return 0
