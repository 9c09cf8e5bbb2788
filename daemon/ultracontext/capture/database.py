"""Reading SQLite databases forward by row cursor: read-only, beside a live writer.

An agent's queries (`formats.Query`) bind `:cursor` and `:limit` and give rows (cursor, key, value)
in rising order of cursor; `functions` has what they may use beyond SQLite's own. A row without a
key only moves the cursor: a query over a large table bounds its scan by it, not by what it finds.
Of several queries of one name the first counts that the database's schema can answer.

Nothing is written, and no lock is taken where none is needed: a database that nobody has open is
read as it lies, and the read is thrown away when anything stirred meanwhile; a live one is read
through its WAL, in transactions of at most `SLICE_SECONDS`.

An UPDATE moves no rowid, so the last rows below the cursor are read again with each pass; what is
unchanged is dropped by its digest. Rowids may be used again after a deletion, and VACUUM may number
rows anew; so some rows that were read are marked with a digest of their key, and reading goes back
to the last mark that still holds.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from ultracontext.capture.functions import register
from ultracontext.capture.rows import Row, RowProgress, cell, record_json
from ultracontext.capture.source import Change, Look, Source
from ultracontext.capture.tail import SLICE_BYTES, Slice
from ultracontext.capture.wal import overlaid
from ultracontext.errors import CaptureError
from ultracontext.formats import Query
from ultracontext.model import RawRecord

__all__ = [
    "RowProgress",
    "all_records",
    "answers",
    "database_look",
    "database_of",
    "read_rows",
    "skip_rows",
    "whole_rows",
]

PAGE_ROWS = 256
SLICE_SECONDS = 0.25
"""A read transaction ends after so long, also when little was found."""
BUSY_SECONDS = 0.05
ROW_BYTES = 16 << 20
"""A larger value is left out; its size and digest are kept."""
OVERLAY_BYTES = 256 << 20
SIDES = ("-wal", "-journal", "-shm")


def database_look(path: str, found: os.stat_result | None = None) -> Look:
    """The database and its WAL in one look: a live writer changes only the WAL. Raises OSError."""
    main = os.stat(path) if found is None else found
    look = Look.of(main)
    try:
        wal = os.stat(path + "-wal")
    except OSError:
        return look
    return Look(
        look.device, look.inode, look.size + wal.st_size,
        max(look.mtime_ns, wal.st_mtime_ns), max(look.ctime_ns, wal.st_ctime_ns),
    )  # fmt: skip


def database_of(path: str) -> str | None:
    """The database that a changed side file belongs to: what a hint about it is a hint for."""
    return next((path[: -len(side)] for side in SIDES if path.endswith(side)), None)


def read_rows(source: Source, progress: RowProgress, limit_bytes: int = SLICE_BYTES) -> Slice:
    """The next new or changed rows. Moves `progress` past them.

    Raises OSError when the database is gone, CaptureError `busy` or `damaged` when it cannot be
    read now; then nothing moved.
    """
    before = os.stat(source.path)
    if (before.st_dev, before.st_ino) != (source.look.device, source.look.inode):
        return Slice(change=Change.REPLACED)
    source.look = database_look(source.path, before)
    saved = progress.copy()
    try:
        part = _slice(source, progress, limit_bytes)
    except sqlite3.DatabaseError as error:
        progress.restore(saved)
        raise _fault(error) from error
    source.dirty = source.dirty or bool(part.records) or progress.moved(saved)
    return part


def _slice(source: Source, progress: RowProgress, limit_bytes: int) -> Slice:
    """Without locks first, with them when someone wrote meanwhile."""
    saved = progress.copy()
    try:
        with _connected(source.path, live=False) as database:
            return _pass(source, database, progress, limit_bytes)
    except _StirredError:
        progress.restore(saved)
    with _connected(source.path, live=True) as database:
        return _pass(source, database, progress, limit_bytes)


def whole_rows(
    database: sqlite3.Connection, queries: tuple[Query, ...]
) -> Iterator[tuple[str, bytes]]:
    """(query, record) of all rows at once: for small databases and tests."""
    register(database)
    for query in _answerable(database, queries):
        for _, key, value in database.execute(query.sql, {"cursor": 0, "limit": 1 << 31}):
            if key is not None:
                data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
                yield query.name, record_json(query.name, cell(key), data)


def skip_rows(source: Source, progress: RowProgress) -> None:
    """Leaves out all rows that lie there now (backfill `new`)."""
    while read_rows(source, progress, SLICE_BYTES).more:
        pass


def answers(
    path: str, queries: Mapping[str, str], bound: Mapping[str, Any]
) -> dict[str, list[tuple[Any, ...]] | None]:
    """All rows of small queries by name; None where there is no such database, table or column, or
    it cannot be read now."""
    for live in (False, True):
        try:
            with _connected(path, live=live) as database:
                return {name: _answer(database, sql, bound) for name, sql in queries.items()}
        except _StirredError:
            continue
        except (sqlite3.Error, OSError):
            break
    return dict.fromkeys(queries)


def all_records(path: str, queries: tuple[Query, ...]) -> list[bytes]:
    """All rows at once as records, in the order of the queries. Raises OSError, CaptureError."""
    try:
        try:
            with _connected(path, live=False) as database:
                return [data for _, data in whole_rows(database, queries)]
        except _StirredError:
            with _connected(path, live=True) as database:
                return [data for _, data in whole_rows(database, queries)]
    except sqlite3.DatabaseError as error:
        raise _fault(error) from error


def _answer(
    database: sqlite3.Connection, sql: str, bound: Mapping[str, Any]
) -> list[tuple[Any, ...]] | None:
    try:
        rows = database.execute(sql, bound).fetchall()
    except sqlite3.Error:
        return None
    return [tuple(v.decode("utf-8", "replace") if type(v) is bytes else v for v in r) for r in rows]


class _StirredError(Exception):
    """A database that was at rest was opened by another while it was read."""


def _fault(error: sqlite3.DatabaseError) -> CaptureError:
    text = str(error)
    busy = isinstance(error, sqlite3.OperationalError) and not text.startswith("malformed")
    if busy and any(word in text for word in ("locked", "busy", "unable to open", "readonly")):
        return CaptureError("a database is in use by its agent", code="busy")
    return CaptureError("a database cannot be read", code="damaged")


@contextmanager
def _connected(path: str, *, live: bool) -> Iterator[sqlite3.Connection]:
    """A read-only connection. One to a database at rest is checked again before its rows count."""
    resting = None if live else _at_rest(path)
    database = _open(path, resting is not None)
    try:
        register(database)
        database.execute("BEGIN")
        yield database
        if resting is not None and _at_rest(path) != resting:
            raise _StirredError
    finally:
        database.close()


def _at_rest(path: str) -> tuple[int, ...] | None:
    """The stat of a database that no one is writing, None for a live one.

    A connection in WAL mode has a `-wal` from its first read on, and a rollback journal has bytes
    while a transaction is under way; so without either the file alone is the whole database.
    """
    for side in ("-wal", "-journal"):
        try:
            if os.stat(path + side).st_size:
                return None
        except OSError:
            continue
    now = os.stat(path)
    return (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns)


def _open(path: str, resting: bool) -> sqlite3.Connection:
    name = "file:" + quote(path.encode("utf-8", "surrogateescape"))
    if resting:
        return _ready(f"{name}?mode=ro&immutable=1")
    if os.path.exists(path + "-wal") and not os.path.exists(path + "-shm"):
        return _without_index(path, name)
    return _ready(f"{name}?mode=ro&readonly_shm=1")


def _without_index(path: str, name: str) -> sqlite3.Connection:
    """A WAL whose index is missing (a copy, a crash): read in memory, nothing is made beside it."""
    if os.stat(path).st_size + os.stat(path + "-wal").st_size > OVERLAY_BYTES:
        return _ready(f"{name}?mode=ro")
    database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
    database.deserialize(overlaid(path))
    return _prepared(database)


def _ready(uri: str) -> sqlite3.Connection:
    database = sqlite3.connect(
        uri, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    return _prepared(database)


def _prepared(database: sqlite3.Connection) -> sqlite3.Connection:
    database.text_factory = bytes
    database.execute("PRAGMA query_only=1")
    return database


def _pass(source: Source, database: sqlite3.Connection, progress: RowProgress, limit: int) -> Slice:
    """Reads on where the last slice ended; begins a pass when none is under way."""
    part = Slice()
    ends = time.monotonic() + SLICE_SECONDS
    queries = _answerable(database, source.facts.queries)
    if progress.at is None:
        _begin(database, queries, progress)
    for query in queries:
        if query.name in progress.done:
            continue
        for row in _rows(database, query, progress):
            part.read_bytes += row.bytes
            if progress.take(query.name, row):
                part.records.append(_record(source, query, row))
            if part.read_bytes >= limit or time.monotonic() >= ends:
                part.more = True
                return part
        progress.done.add(query.name)
    progress.end()
    return part


def _answerable(database: sqlite3.Connection, queries: tuple[Query, ...]) -> list[Query]:
    """The first query of each name that the schema knows the tables and columns for."""
    found: dict[str, Query] = {}
    for query in queries:
        if query.name in found:
            continue
        try:
            database.execute("EXPLAIN " + query.sql, {"cursor": 0, "limit": 0}).close()
        except sqlite3.OperationalError as error:
            if not str(error).startswith("no such"):
                raise
            continue
        found[query.name] = query
    return list(found.values())


def _begin(database: sqlite3.Connection, queries: list[Query], progress: RowProgress) -> None:
    """Goes back to where the rows at the marks are still those."""

    def first_from(query: Query, cursor: int) -> Any:
        bound = {"cursor": cursor - 1, "limit": 1}
        return database.execute(query.sql, bound).fetchone()

    for query in queries:
        for mark in reversed(progress.marks_of(query.name)):
            if first_from(query, mark.cursor) is not None:
                break
            progress.drop_from(query.name, mark)  # the last rows are gone: theirs are free again
        for mark in progress.marks_of(query.name):
            row = first_from(query, mark.cursor)
            if row is not None and row[0] == mark.cursor and not progress.is_at(mark, row[1]):
                progress.drop_from(query.name, mark)
                break
    progress.begin([query.name for query in queries])


def _rows(database: sqlite3.Connection, query: Query, progress: RowProgress) -> Iterator[Row]:
    while True:
        at = progress.place(query.name)
        found = database.execute(query.sql, {"cursor": at, "limit": PAGE_ROWS})
        moved = False
        for cursor, key, value in found:
            moved = True
            yield Row(cursor, None if key is None else cell(key), value)
        if not moved:
            return


def _record(source: Source, query: Query, row: Row) -> RawRecord:
    value = row.value
    if row.bytes > ROW_BYTES and isinstance(value, bytes):
        value = {"too_large": {"bytes": len(value), "digest": sha256(value).hexdigest()}}
    return RawRecord(
        agent=source.spec.slug,
        source=source.path,
        start=row.cursor,
        end=row.cursor + 1,
        data=record_json(query.name, row.key or "", value),
    )
