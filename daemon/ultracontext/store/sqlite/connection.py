"""One connection to the file: how it is opened, written in transactions, mended after a fault."""

from __future__ import annotations

import glob
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import RLock
from urllib.parse import quote

from ultracontext.errors import StoreError
from ultracontext.model.failpoint import failpoint
from ultracontext.store.history.rows import copied_id
from ultracontext.store.sqlite import faults, schema

BUSY_SECONDS = 5.0
PAGE_BYTES = 4096
WAL_PAGES = 3000
"""A commit that leaves more pages than this in the WAL moves them into the file."""
WAL_LIMIT_BYTES = 32 << 20
"""A WAL found larger than this after a commit is emptied at once."""

ROOM_BYTES = 256 << 20
"""That stay free beside a copy."""

WRITER = {
    "synchronous": "NORMAL",
    "secure_delete": "ON",
    "cache_size": -24576,
    "wal_autocheckpoint": WAL_PAGES,
    "journal_size_limit": 16 << 20,
    "temp_store": "MEMORY",
    "trusted_schema": "OFF",
}
READER = {"query_only": "ON", "cache_size": -4096, "temp_store": "MEMORY", "trusted_schema": "OFF"}


class Connection:
    """A lazily opened connection that may be used from any thread, by one at a time."""

    def __init__(self, path: Path, *, write: bool) -> None:
        self.path = path
        self.write = write
        self.lock = RLock()
        self.damaged = False
        """Whether a statement met damage of the file."""
        self._open: sqlite3.Connection | None = None

    def raw(self) -> sqlite3.Connection:
        """The connection, opened if need be. Hold `lock`."""
        if self._open is None:
            self._open = connect(self.path, write=self.write)
        return self._open

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """For statements that see one state each; nothing stays open afterwards."""
        with self.lock:
            try:
                yield self.raw()
            except (sqlite3.Error, OSError) as error:
                self._mend(error)
                raise faults.translate(error, str(self.path)) from error

    @contextmanager
    def snapshot(self) -> Iterator[sqlite3.Connection]:
        """For a few statements that must see one state; short, and nothing stays open
        afterwards."""
        with self.reading() as connection:
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                self._roll_back()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: committed at the end, nothing of it stored after any exception."""
        with self.lock:
            try:
                connection = self.raw()
                failpoint("before_begin")
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                failpoint("before_commit")
                self._commit(connection)
                failpoint("after_commit")
            except (sqlite3.Error, OSError) as error:
                self._mend(error)
                raise faults.translate(error, str(self.path)) from error
            except BaseException:
                self._roll_back()
                raise
            self._bound_wal(connection)

    def _commit(self, connection: sqlite3.Connection) -> None:
        try:
            connection.execute("COMMIT")
        except sqlite3.Error:
            self.close()  # not believed: whatever it kept is rolled back by closing
            raise

    def _roll_back(self) -> None:
        if self._open is not None and self._open.in_transaction:
            with suppress(sqlite3.Error):
                self._open.execute("ROLLBACK")

    def _mend(self, error: BaseException) -> None:
        self._roll_back()
        self.damaged = self.damaged or faults.primary(error) in faults.DAMAGE
        doubtful = faults.primary(error) in faults.DOUBTFUL
        if self._open is not None and (doubtful or self._open.in_transaction):
            self.close()

    def _bound_wal(self, connection: sqlite3.Connection) -> None:
        if self.wal_bytes() > WAL_LIMIT_BYTES:
            with suppress(sqlite3.Error):  # a reader in the way: the next commit tries again
                connection.execute("PRAGMA busy_timeout=50")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            with suppress(sqlite3.Error):
                connection.execute(f"PRAGMA busy_timeout={int(BUSY_SECONDS * 1000)}")

    def tidy(self) -> None:
        """For idle moments: gives freed pages back and moves the WAL into the file, bounded."""
        with self.reading() as connection:
            connection.execute("PRAGMA incremental_vacuum(2000)").fetchall()
            connection.execute("PRAGMA shrink_memory").fetchall()  # the page cache of a backfill
            mode = "TRUNCATE" if self.wal_bytes() > WAL_PAGES * PAGE_BYTES else "PASSIVE"
            connection.execute(f"PRAGMA wal_checkpoint({mode})").fetchall()

    def empty_wal(self) -> bool:
        """Moves all of the WAL into the file and empties it; False when a reader is in the way."""
        with self.reading() as connection:
            return not connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]

    def wal_bytes(self) -> int:
        try:
            return os.stat(f"{self.path}-wal").st_size  # noqa: PTH116  (a commit pays for it)
        except OSError:
            return 0

    def close(self) -> None:
        with self.lock:
            opened, self._open = self._open, None
            if opened is not None:
                with suppress(sqlite3.Error):
                    opened.close()


def connect(path: Path, *, write: bool) -> sqlite3.Connection:
    """Opens an existing store, for reading only unless `write`."""
    uri = f"file:{quote(str(path))}?mode={'rw' if write else 'ro'}"
    connection = sqlite3.connect(
        uri,
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        for name, value in (WRITER if write else READER).items():
            connection.execute(f"PRAGMA {name}={value}")
        if write:
            connection.create_function("copied_id", 2, copied_id, deterministic=True)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def create(path: Path) -> None:
    """Makes folder (0700) and file (0600) before any data goes in. SQLite gives -wal and -shm
    the mode of the file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if os.fstat(descriptor).st_mode & 0o077:
            os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def migrate(path: Path) -> None:
    """Brings the file to this program's version, one transaction a step. Only the holder of the
    daemon lock may call it."""
    connection = connect(path, write=True)
    try:
        version = check(connection, path, empty=True)
        if version == 0:
            connection.execute(f"PRAGMA page_size={PAGE_BYTES}")
            connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
        connection.execute("PRAGMA journal_mode=WAL")
        if 0 < version < max(target for target, _ in schema.MIGRATIONS):
            _keep_copy(connection, path, version)
        for target, statements in schema.MIGRATIONS:
            if target > version:
                _step(connection, target, statements)
    finally:
        connection.close()


def _keep_copy(connection: sqlite3.Connection, path: Path, version: int) -> None:
    """The store as it was before the change, in place of an earlier such copy. Without room for it
    the change goes on: it is one transaction a step, so the copy is for faults of ours only."""
    copy = path.with_name(f"{path.name}.schema-{version}")
    if shutil.disk_usage(path.parent).free < 2 * path.stat().st_size + ROOM_BYTES:
        return
    for earlier in path.parent.glob(f"{glob.escape(path.name)}.schema-*"):
        earlier.unlink(missing_ok=True)
    os.close(os.open(copy, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    with closing(sqlite3.connect(copy)) as target:
        connection.backup(target)


def _step(connection: sqlite3.Connection, target: int, statements: str) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if connection.execute("PRAGMA user_version").fetchone()[0] < target:
            for statement in filter(str.strip, statements.split(";\n")):
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id={schema.APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={target}")
        connection.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def check(connection: sqlite3.Connection, path: Path, *, empty: bool = False) -> int:
    """The file's version; raises StoreError where this program cannot work with it."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    application = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if application != schema.APPLICATION_ID and (tables or application or version):
        raise StoreError(
            f"{path} is a database of another program",
            hint="Name another file",
            code="store-foreign",
        )
    if version == 0 and not empty:
        raise StoreError(
            f"the store {path} is empty",
            hint="Run `ultracontext daemon start`",
            code="store-missing",
        )
    if schema.major(version) > schema.major(schema.VERSION):
        raise StoreError(
            f"the store {path} was written by a newer UltraContext (schema {version})",
            hint="Update UltraContext",
            code="store-newer",
        )
    if version and not empty and schema.major(version) < schema.major(schema.VERSION):
        raise StoreError(
            f"the store {path} has an older schema ({version})",
            hint="Run `ultracontext daemon restart`, which brings it up to date",
            code="store-older",
        )
    return version
