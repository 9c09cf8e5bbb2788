"""Connections to the server: a bounded pool, transactions that run again where it says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlencode, urlsplit
from weakref import WeakValueDictionary

import psycopg
import stamina
from psycopg import errors
from psycopg_pool import ConnectionPool, PoolTimeout
from stamina.instrumentation import RetryDetails, set_on_retry_hooks

from ultracontext.errors import SettingsError, StoreBusyError, StoreError
from ultracontext.logs import get_logger
from ultracontext.store.postgres import schema

T = TypeVar("T")
log = get_logger(__name__)

AGAIN = (errors.SerializationFailure, errors.DeadlockDetected, errors.UniqueViolation)
"""Run from the start again. A unique key that is there by now was written by somebody else: the
next run sees it."""
BUSY = (errors.LockNotAvailable, errors.QueryCanceled, errors.TooManyConnections)
RETRY_SECONDS = 30.0
MOST_CONNECTIONS = 8
WAIT_SECONDS = 30.0
REACH_SECONDS = 10
ISOLATION = {
    "read-committed": psycopg.IsolationLevel.READ_COMMITTED,
    "repeatable-read": psycopg.IsolationLevel.REPEATABLE_READ,
    "serializable": psycopg.IsolationLevel.SERIALIZABLE,
}
MIGRATION_LOCK = 0x55435478


def _retried(details: RetryDetails) -> None:
    log.debug("transaction-retried", attempt=details.retry_num)


class Held:
    """A lock that several threads may own one after the other; a class, to be weakly referred."""

    def __init__(self) -> None:
        self.lock = Lock()


class Server:
    """One database."""

    def __init__(self, url: str) -> None:
        self.conninfo, self.isolation = parsed(url)
        set_on_retry_hooks([_retried])
        self.retries = 0
        self._held: WeakValueDictionary[str, Held] = WeakValueDictionary()
        self._lock = Lock()
        self._pool: ConnectionPool[psycopg.Connection[Any]] | None = None

    def pool(self) -> ConnectionPool[psycopg.Connection[Any]]:
        with self._lock:
            if self._pool is None:
                self._pool = ConnectionPool(
                    self.conninfo,
                    min_size=0,
                    max_size=MOST_CONNECTIONS,
                    timeout=WAIT_SECONDS,
                    open=True,
                    kwargs={"autocommit": True, "prepare_threshold": None},
                )
            return self._pool

    def read(self, work: Callable[[psycopg.Cursor[Any]], T]) -> T:
        """Runs it in a transaction that sees one state."""
        return self._again(lambda: self._transaction(work, read_only=True))

    def write(self, work: Callable[[psycopg.Cursor[Any]], T], *, key: str) -> T:
        """Runs it in a transaction, again after a conflict. Writers of one key in this process wait
        for each other here, and hold no connection while they wait."""
        with self._lock:
            held = self._held.get(key) or self._held.setdefault(key, Held())
        with held.lock:
            return self._again(lambda: self._transaction(work, read_only=False))

    def _again(self, run: Callable[[], T]) -> T:
        try:
            for attempt in stamina.retry_context(
                on=AGAIN, attempts=None, timeout=RETRY_SECONDS, wait_initial=0.005,
                wait_max=0.25, wait_jitter=0.02,
            ):  # fmt: skip
                with attempt:
                    self.retries += attempt.num > 1
                    return run()
        except AGAIN as error:
            raise StoreBusyError(
                "other programs keep writing to the same context", hint="Try again in a moment"
            ) from error
        except (psycopg.Error, PoolTimeout) as error:
            raise translate(error) from error
        raise AssertionError("unreachable")

    def _transaction(self, work: Callable[[psycopg.Cursor[Any]], T], *, read_only: bool) -> T:
        with self.pool().connection() as connection:
            level = psycopg.IsolationLevel.REPEATABLE_READ if read_only else self.isolation
            connection.isolation_level = level
            connection.read_only = read_only
            with connection.transaction(), connection.cursor(binary=True) as cursor:
                return work(cursor)

    def reach(self) -> None:
        """One connection, so that a wrong address is an error at once and not a wait."""
        try:
            psycopg.connect(self.conninfo, connect_timeout=REACH_SECONDS).close()
        except psycopg.Error as error:
            raise translate(error) from error

    def migrate(self) -> None:
        """Brings the tables to this program's version; programs that do so at once wait."""

        def run(cursor: psycopg.Cursor[Any]) -> None:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", (MIGRATION_LOCK,))
            cursor.execute(schema.VERSIONS)
            version = version_of(cursor)
            for target, statements in schema.MIGRATIONS:
                if target > version:
                    for statement in statements.split(";\n"):
                        cursor.execute(statement.encode())
                    cursor.execute(
                        "INSERT INTO versions (space, version) VALUES ('', %s)", (target,)
                    )

        self._again(lambda: self._transaction(run, read_only=False))

    def check(self) -> None:
        """Raises StoreError where this program cannot work with the tables."""

        def run(cursor: psycopg.Cursor[Any]) -> int:
            there = cursor.execute("SELECT to_regclass('versions') IS NOT NULL").fetchone()
            return version_of(cursor) if there and there[0] else 0

        version = self.read(run)
        if version == 0:
            raise StoreError(
                "the database holds no store yet",
                hint="Run `ultracontext serve --store URL`, which makes it",
                code="store-missing",
            )
        if version // 1000 > schema.VERSION // 1000:
            raise StoreError(
                f"the store was written by a newer UltraContext (schema {version})",
                hint="Update UltraContext",
                code="store-newer",
            )
        if version < schema.VERSION:
            raise StoreError(
                f"the store has an older schema ({version})",
                hint="Restart `ultracontext serve`, which brings it up to date",
                code="store-older",
            )

    def close(self) -> None:
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.close()


@contextmanager
def closing_on_error(server: Server) -> Iterator[None]:
    try:
        yield
    except BaseException:
        server.close()
        raise


def version_of(cursor: psycopg.Cursor[Any]) -> int:
    found = cursor.execute("SELECT coalesce(max(version), 0) FROM versions").fetchone()
    return 0 if found is None else int(found[0])


def parsed(url: str) -> tuple[str, psycopg.IsolationLevel]:
    """What libpq gets of a store URL, and the isolation of writes (`?isolation=`)."""
    parts = urlsplit(url)
    query = dict(parse_qsl(parts.query, keep_blank_values=True))
    query.pop("space", None)
    level = query.pop("isolation", "read-committed")
    if level not in ISOLATION:
        raise SettingsError(f"isolation={level} is unknown", hint="One of: " + ", ".join(ISOLATION))
    tail = f"?{urlencode(query)}" if query else ""
    return f"postgresql://{parts.netloc}{parts.path}{tail}", ISOLATION[level]


def translate(error: psycopg.Error | PoolTimeout) -> StoreError:
    """The StoreError to raise instead; SQL, values and passwords are not repeated in it."""
    if isinstance(error, psycopg.OperationalError | PoolTimeout) and not _state(error):
        return StoreBusyError(
            "the database cannot be reached",
            hint="Check that the server runs and the URL is right",
            code="store-unreachable",
        )
    if isinstance(
        error, errors.LockNotAvailable | errors.QueryCanceled | errors.TooManyConnections
    ):
        return StoreBusyError("the database is busy", hint="Try again in a moment")
    return StoreError(
        f"the database refused with {_state(error) or type(error).__name__}",
        hint="Its log says more",
        code="store",
    )


def _state(error: psycopg.Error | PoolTimeout) -> str | None:
    return getattr(error, "sqlstate", None)
