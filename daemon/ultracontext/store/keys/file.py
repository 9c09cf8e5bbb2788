"""Keys in a SQLite file beside the store, so that no copy of a store carries them along."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any

from ultracontext.errors import ConflictError, StoreError
from ultracontext.store.keys.base import Key
from ultracontext.store.sqlite import connection as links
from ultracontext.store.sqlite import faults
from ultracontext.store.values import milliseconds, moment

APPLICATION_ID = 0x55434B79
"""`UCKy`"""
SCHEMA = """
CREATE TABLE api_keys (
    prefix TEXT PRIMARY KEY,
    digest BLOB NOT NULL,
    space TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    redact INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    used_ms INTEGER,
    revoked_ms INTEGER
) WITHOUT ROWID;
CREATE INDEX api_keys_space ON api_keys (space, created_ms);
CREATE TABLE api_epoch (one INTEGER PRIMARY KEY CHECK (one = 1), epoch INTEGER NOT NULL);
INSERT INTO api_epoch VALUES (1, 0)"""
ROWS = (
    "SELECT prefix, digest, space, name, role, redact, created_ms, used_ms, revoked_ms"
    " FROM api_keys"
)
INSERT = "INSERT INTO api_keys VALUES (?,?,?,?,?,?,?,?,?)"
MOVE_ON = "UPDATE api_epoch SET epoch = epoch + 1"


def keys_file(store: Path) -> Path:
    """`store.db` has its keys in `store.keys.db`."""
    return store.with_name(f"{store.stem}.keys.db")


class FileKeys:
    """One file, made at the first write."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._open: sqlite3.Connection | None = None

    def epoch(self) -> int:
        rows = self._rows("SELECT epoch FROM api_epoch")
        return int(rows[0][0]) if rows else 0

    def find(self, prefix: str) -> Key | None:
        rows = self._rows(ROWS + " WHERE prefix = ? AND revoked_ms IS NULL", prefix)
        return _key(rows[0]) if rows else None

    def add(self, key: Key, *, new_space: bool) -> None:
        with self._writing() as connection:
            taken = "SELECT 1 FROM api_keys WHERE space = ?"
            if new_space and connection.execute(taken, (key.space,)).fetchone():
                raise ConflictError(f"the space {key.space} exists", code="space-exists")
            row = (
                key.prefix, key.digest, key.space, key.name, key.role, int(key.redact),
                milliseconds(key.created_at), None, None,
            )  # fmt: skip
            try:
                connection.execute(INSERT, row)
            except sqlite3.IntegrityError as error:
                raise ConflictError("a key with this prefix exists") from error
            connection.execute(MOVE_ON)

    def rows(self, space: str | None = None) -> list[Key]:
        wanted = " WHERE ?1 IS NULL OR space = ?1 ORDER BY created_ms, prefix"
        return [_key(row) for row in self._rows(ROWS + wanted, space)]

    def revoke(self, prefix: str, *, space: str | None = None, now: datetime) -> Key | None:
        with self._writing() as connection:
            sql = ROWS + " WHERE prefix = ?"
            row = connection.execute(sql, (prefix,)).fetchone()
            if row is None or space not in (None, _key(row).space):
                return None
            if row[8] is None:
                connection.execute(
                    "UPDATE api_keys SET revoked_ms = ? WHERE prefix = ?",
                    (milliseconds(now), prefix),
                )
                connection.execute(MOVE_ON)
            return _key(connection.execute(sql, (prefix,)).fetchone())

    def used(self, times: Mapping[str, datetime]) -> None:
        rows = [(milliseconds(when), prefix) for prefix, when in times.items()]
        with self._writing() as connection:
            connection.executemany("UPDATE api_keys SET used_ms = ? WHERE prefix = ?", rows)

    def close(self) -> None:
        with self._lock:
            if self._open is not None:
                self._open.close()
                self._open = None

    def _rows(self, sql: str, *values: Any) -> list[Any]:
        with self._lock:
            if self._open is None and not self.path.exists():
                return []
            try:
                return self._connection().execute(sql, values).fetchall()
            except sqlite3.Error as error:
                raise faults.translate(error, str(self.path)) from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                connection = self._connection()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                    connection.execute("COMMIT")
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
            except (sqlite3.Error, OSError) as error:
                raise faults.translate(error, str(self.path)) from error

    def _connection(self) -> sqlite3.Connection:
        if self._open is None:
            links.create(self.path)
            connection = links.connect(self.path, write=True)
            try:
                _prepare(connection, self.path)
            except BaseException:
                connection.close()
                raise
            self._open = connection
        return self._open


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    """Makes the tables; of two processes that come at once, one."""
    if _owner(connection, path):
        return
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("BEGIN IMMEDIATE")
    if not _owner(connection, path):
        for statement in SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    connection.execute("COMMIT")


def _owner(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the file is one of keys; False when it is empty."""
    owner = int(connection.execute("PRAGMA application_id").fetchone()[0])
    tables = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
    if owner != APPLICATION_ID and (owner or tables):
        raise StoreError(f"{path} is a database of another program", code="store-foreign")
    return owner == APPLICATION_ID


def _key(row: tuple[Any, ...]) -> Key:
    prefix, digest, space, name, role, redact, created, used, revoked = row
    return Key(
        prefix=prefix,
        digest=bytes(digest),
        space=space,
        name=name,
        role=role,
        redact=bool(redact),
        created_at=moment(created),
        last_used_at=None if used is None else moment(used),
        revoked_at=None if revoked is None else moment(revoked),
    )
