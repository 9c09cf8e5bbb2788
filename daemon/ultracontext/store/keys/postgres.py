"""Keys in the PostgreSQL database of a store, so that all servers of it share them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from ultracontext.errors import ConflictError, StoreError
from ultracontext.store.keys.base import Key

if TYPE_CHECKING:
    import psycopg

T = TypeVar("T")

SCHEMA = """
CREATE TABLE IF NOT EXISTS uc_api_keys (
    prefix text PRIMARY KEY, digest bytea NOT NULL, space text NOT NULL, name text NOT NULL,
    role text NOT NULL, redact boolean NOT NULL, created_at timestamptz NOT NULL,
    used_at timestamptz, revoked_at timestamptz);
CREATE INDEX IF NOT EXISTS uc_api_keys_space ON uc_api_keys (space, created_at);
CREATE TABLE IF NOT EXISTS uc_api_epoch (one integer PRIMARY KEY CHECK (one = 1),
    epoch bigint NOT NULL);
INSERT INTO uc_api_epoch VALUES (1, 0) ON CONFLICT DO NOTHING;
"""
COLUMNS = "prefix, digest, space, name, role, redact, created_at, used_at, revoked_at"
ROWS = "SELECT " + COLUMNS + " FROM uc_api_keys"  # noqa: S608  (constants)
INSERT = "INSERT INTO uc_api_keys VALUES (%s,%s,%s,%s,%s,%s,%s,%s,%s)"
REVOKE = """
UPDATE uc_api_keys SET revoked_at = coalesce(revoked_at, %s)
WHERE prefix = %s AND (%s::text IS NULL OR space = %s)
RETURNING prefix, digest, space, name, role, redact, created_at, used_at, revoked_at
"""
MOVE_ON = "UPDATE uc_api_epoch SET epoch = epoch + 1"
LOCK = 0x55434B79
"""Advisory lock: one process makes the tables."""


class PostgresKeys:
    """One connection, opened again after a fault."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = Lock()
        self._open: psycopg.Connection[Any] | None = None

    def epoch(self) -> int:
        def read(connection: psycopg.Connection[Any]) -> int:
            row = connection.execute("SELECT epoch FROM uc_api_epoch").fetchone()
            return int(row[0]) if row else 0

        return self._run(read)

    def find(self, prefix: str) -> Key | None:
        sql = ROWS + " WHERE prefix = %s AND revoked_at IS NULL"
        row = self._run(lambda connection: connection.execute(sql, (prefix,)).fetchone())
        return None if row is None else _key(row)

    def add(self, key: Key, *, new_space: bool) -> None:
        import psycopg

        def write(connection: psycopg.Connection[Any]) -> None:
            connection.execute(MOVE_ON)  # first, so that those who add wait for each other
            taken = "SELECT 1 FROM uc_api_keys WHERE space = %s LIMIT 1"
            if new_space and connection.execute(taken, (key.space,)).fetchone():
                raise ConflictError(f"the space {key.space} exists", code="space-exists")
            row = (
                key.prefix, key.digest, key.space, key.name, key.role, key.redact, key.created_at,
                None, None,
            )  # fmt: skip
            try:
                connection.execute(INSERT, row)
            except psycopg.errors.UniqueViolation as error:
                raise ConflictError("a key with this prefix exists") from error

        self._run(write)

    def rows(self, space: str | None = None) -> list[Key]:
        wanted = " WHERE %(space)s::text IS NULL OR space = %(space)s ORDER BY created_at, prefix"
        sql = ROWS + wanted
        found = self._run(lambda connection: connection.execute(sql, {"space": space}).fetchall())
        return [_key(row) for row in found]

    def revoke(self, prefix: str, *, space: str | None = None, now: datetime) -> Key | None:
        def write(connection: psycopg.Connection[Any]) -> Any:
            row = connection.execute(REVOKE, (now, prefix, space, space)).fetchone()
            if row is not None:
                connection.execute(MOVE_ON)
            return row

        row = self._run(write)
        return None if row is None else _key(row)

    def used(self, times: Mapping[str, datetime]) -> None:
        rows = [(when, prefix) for prefix, when in sorted(times.items())]

        def write(connection: psycopg.Connection[Any]) -> None:
            with connection.cursor() as cursor:
                cursor.executemany("UPDATE uc_api_keys SET used_at = %s WHERE prefix = %s", rows)

        self._run(write)

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _run(self, work: Callable[[psycopg.Connection[Any]], T]) -> T:
        """One transaction."""
        import psycopg

        with self._lock:
            try:
                connection = self._connection()
                with connection.transaction():
                    return work(connection)
            except (psycopg.Error, OSError) as error:
                self._drop()
                raise StoreError(
                    "the keys in PostgreSQL cannot be reached", hint="Check the server and its URL"
                ) from error

    def _drop(self) -> None:
        if self._open is not None:
            self._open.close()
            self._open = None

    def _connection(self) -> psycopg.Connection[Any]:
        import psycopg

        if self._open is None or self._open.closed:
            self._open = psycopg.connect(
                self._url, autocommit=True, connect_timeout=10, prepare_threshold=None
            )
            with self._open.transaction():
                self._open.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
                self._open.execute(SCHEMA)
        return self._open


def _key(row: tuple[Any, ...]) -> Key:
    prefix, digest, space, name, role, redact, created, used, revoked = row
    return Key(
        prefix=prefix,
        digest=bytes(digest),
        space=space,
        name=name,
        role=role,
        redact=redact,
        created_at=created,
        last_used_at=used,
        revoked_at=revoked,
    )
