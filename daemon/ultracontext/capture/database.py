"""Reading SQLite databases forward by row cursor: read-only, beside a live writer.

An agent's queries (`formats.Query`) bind `:cursor` and `:limit` and give rows (cursor, key, value)
in rising order of cursor. A row becomes the record `{"table", "key", "value"}`; a value that is
JSON stands in it as JSON, so that masks and parts work on its strings, and a zstd frame as what it
holds. A row without a key only moves the cursor: a query over a large table bounds its scan by it,
not by what it finds. Of several queries of one name the first counts that the database's schema can
answer.

Nothing is written, and no lock is taken where none is needed: a database that nobody has open is
read as it lies, and the read is thrown away when anything stirred meanwhile; a live one is read
through its WAL, in transactions of at most `SLICE_SECONDS`.

An UPDATE moves no rowid, so the last rows below the cursor are read again with each pass; what is
unchanged is dropped by its digest. Rowids may be used again after a deletion, and VACUUM may number
rows anew; so some rows that were read are marked with a digest of their key, and reading goes back
to the last mark that still holds.

Queries may use two functions beyond SQLite's own: `unhex(text)` gives the bytes that hexadecimal
digits stand for, NULL for other text; `protobuf(blob)` gives a message's fields as JSON
`{"1": [value …] …}`: integers, texts, and other bytes in hexadecimal digits; NULL for what is none.
"""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import struct
import time
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b, sha256
from typing import Any
from urllib.parse import quote

import orjson
import zstandard

from ultracontext.capture.places import opened, read_at
from ultracontext.capture.source import Change, Look, Source
from ultracontext.capture.tail import SLICE_BYTES, Slice
from ultracontext.errors import CaptureError
from ultracontext.formats import Query
from ultracontext.model import RawRecord

PAGE_ROWS = 256
SLICE_SECONDS = 0.25
"""A read transaction ends after so long, also when little was found."""
BUSY_SECONDS = 0.05
ROW_BYTES = 16 << 20
"""A larger value is left out; its size and digest are kept."""
OVERLAY_BYTES = 256 << 20
SIDES = ("-wal", "-journal", "-shm")

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_BYTES = 64 << 20
"""A value that grows larger than this is left packed."""

MARK_ROWS = 32
MARK_BYTES = 64 << 10
WINDOW_MARKS = 4
"""So many marks back the last rows are read again with each pass."""
MOST_MARKS = 24
REMEMBERED_ROWS = 20_000

LONGEST_HEX_BYTES = 64
"""Bytes above this are given by their number alone."""

_MAGIC = 0x377F0682
_HEAD = 32
_FRAME = 24


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


# ---- one pass over the queries -------------------------------------------------------------------
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


def as_saved(saved: Any) -> dict[str, Any]:
    """The part of a checkpoint's state that `RowProgress` wrote, or nothing."""
    rows = saved.get("rows") if isinstance(saved, dict) else None
    return rows if isinstance(rows, dict) else {}


# ---- how far -------------------------------------------------------------------------------------
@dataclass(slots=True)
class Row:
    """One row of a query. `key` None: nothing of interest stands there."""

    cursor: int
    key: str | None
    value: Any

    @property
    def bytes(self) -> int:
        return len(self.value) if isinstance(self.value, bytes) else 8


@dataclass(frozen=True, slots=True)
class Mark:
    cursor: int
    digest: str
    """Of the key; 16 hex digits."""


@dataclass(slots=True)
class _Place:
    cursor: int = 0
    marks: list[Mark] = field(default_factory=list)
    rows: int = 0
    """Since the last mark."""
    bytes: int = 0


class RowProgress:
    """Cursors and marks of one database's queries. What `state` gives survives a restart."""

    def __init__(self, secret: bytes, saved: Mapping[str, Any] | None = None) -> None:
        self._secret = secret[:64]
        self._places: dict[str, _Place] = {
            str(name): _loaded(place) for name, place in (saved or {}).items()
        }
        self._known: OrderedDict[bytes, bytes] = OrderedDict()
        self.at: dict[str, int] | None = None
        """Where the pass under way stands, by query; None between passes."""
        self.done: set[str] = set()

    def state(self) -> dict[str, Any]:
        """JSON: `{query: [cursor, rows, bytes, [[cursor, digest] …]]}`."""
        return {
            name: [p.cursor, p.rows, p.bytes, [[m.cursor, m.digest] for m in p.marks]]
            for name, p in self._places.items()
        }

    def copy(self) -> tuple[Any, ...]:
        return self.state(), None if self.at is None else dict(self.at), set(self.done)

    def restore(self, saved: tuple[Any, ...]) -> None:
        """Back to a copy; what was remembered of rows since is forgotten."""
        state, self.at, self.done = saved
        self._places = {name: _loaded(place) for name, place in state.items()}
        self._known.clear()

    def moved(self, saved: tuple[Any, ...]) -> bool:
        return bool(saved[0] != self.state())

    def begin_again(self) -> None:
        """Another database stands at the path."""
        self._places, self.at, self.done = {}, None, set()
        self._known.clear()

    # ---- a pass ----------------------------------------------------------------------------------
    def begin(self, names: Sequence[str]) -> None:
        self.at = {name: self._window(self._places.setdefault(name, _Place())) for name in names}
        self.done = set()

    def end(self) -> None:
        self.at, self.done = None, set()

    def place(self, name: str) -> int:
        return 0 if self.at is None else self.at.get(name, 0)

    def take(self, name: str, row: Row) -> bool:
        """Moves past a row; True when it holds something that is new or changed."""
        if self.at is not None:
            self.at[name] = row.cursor
        place = self._places.setdefault(name, _Place())
        if row.cursor > place.cursor:
            place.cursor = row.cursor
            place.rows += 1
            place.bytes += row.bytes
            if place.rows >= MARK_ROWS or place.bytes >= MARK_BYTES:
                self._mark(place, row)
        return row.key is not None and self._is_news(name, row)

    def _is_news(self, name: str, row: Row) -> bool:
        key = self._digest(f"{name}\0{row.key}".encode("utf-8", "surrogatepass"))
        value = row.value if isinstance(row.value, bytes) else repr(row.value).encode()
        digest = self._digest(value)
        if self._known.get(key) == digest:
            return False
        self._known[key] = digest
        self._known.move_to_end(key)
        if len(self._known) > REMEMBERED_ROWS:
            self._known.popitem(last=False)
        return True

    def _digest(self, data: bytes) -> bytes:
        return blake2b(data, digest_size=8, key=self._secret).digest()

    # ---- marks -----------------------------------------------------------------------------------
    def marks_of(self, name: str) -> list[Mark]:
        place = self._places.get(name)
        return list(place.marks) if place is not None else []

    def is_at(self, mark: Mark, key: Any) -> bool:
        return self._named(None if key is None else cell(key)) == mark.digest

    def drop_from(self, name: str, mark: Mark) -> None:
        """The row at a mark is another: all from the mark before it on is read again."""
        place = self._places[name]
        place.marks = [m for m in place.marks if m.cursor < mark.cursor]
        place.cursor = place.marks[-1].cursor if place.marks else 0
        place.rows = place.bytes = 0

    def _mark(self, place: _Place, row: Row) -> None:
        place.marks.append(Mark(row.cursor, self._named(row.key)))
        place.rows = place.bytes = 0
        if len(place.marks) > MOST_MARKS:
            old = place.marks[: -2 * WINDOW_MARKS]
            place.marks = old[::2] + place.marks[-2 * WINDOW_MARKS :]

    def _named(self, key: str | None) -> str:
        return self._digest((key or "").encode("utf-8", "surrogatepass")).hex()

    @staticmethod
    def _window(place: _Place) -> int:
        return place.marks[-WINDOW_MARKS].cursor if len(place.marks) >= WINDOW_MARKS else 0


def _loaded(saved: Any) -> _Place:
    try:
        cursor, rows, size, marks = saved
        return _Place(int(cursor), [Mark(int(c), str(d)) for c, d in marks], int(rows), int(size))
    except (TypeError, ValueError):
        return _Place()


# ---- JSON ----------------------------------------------------------------------------------------
def cell(value: Any) -> str:
    """A key as text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    return str(value)


def record_json(table: str, key: str, value: Any) -> bytes:
    """The record of a row. JSON stays as it was written, so equal rows give equal bytes."""
    head = orjson.dumps({"table": table, "key": key})[:-1]
    return head + b',"value":' + _value_json(value) + b"}"


def _value_json(value: Any) -> bytes:
    if isinstance(value, bytes):
        return _bytes_json(unpacked(value))
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError):
        return json.dumps(str(value)).encode()


def _bytes_json(data: bytes) -> bytes:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return orjson.dumps({"base64": base64.b64encode(data).decode()})
    if data.lstrip()[:1] in (b"{", b"[") and _is_json(data, text):
        return data
    return orjson.dumps(text)


def _is_json(data: bytes, text: str) -> bool:
    try:
        orjson.loads(data)
    except ValueError:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
    return True


def unpacked(data: bytes) -> bytes:
    """The content of a zstd frame; other bytes, damaged or too large ones as they are."""
    if not data.startswith(ZSTD_MAGIC):
        return data
    try:
        reader = zstandard.ZstdDecompressor(max_window_size=ZSTD_BYTES).stream_reader(data)
        out = reader.read(ZSTD_BYTES + 1)
    except zstandard.ZstdError:
        return data
    return out if len(out) <= ZSTD_BYTES else data


# ---- functions of queries ------------------------------------------------------------------------
def register(database: sqlite3.Connection) -> None:
    """Makes the functions known to a connection."""
    database.create_function("unhex", 1, unhex, deterministic=True)
    database.create_function("protobuf", 1, protobuf, deterministic=True)


def unhex(value: Any) -> bytes | None:
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else value
    if not isinstance(text, str):
        return None
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def protobuf(value: Any) -> str | None:
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    if not isinstance(data, bytes):
        return None
    fields: dict[str, list[Any]] = {}
    try:
        for number, found in _fields(data):
            fields.setdefault(str(number), []).append(found)
    except (IndexError, ValueError):
        return None
    return orjson.dumps(fields).decode()


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _number(data, at)
            yield tag >> 3, value
            continue
        if kind == 2:
            length, at = _number(data, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError("no field")
        if at + length > len(data):
            raise ValueError("cut")
        yield tag >> 3, _readable(data[at : at + length])
        at += length


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if not byte & 128:
            return value & (1 << 63) - 1, at
        shift += 7
        if shift > 63:
            raise ValueError("too long")


def _readable(data: bytes) -> Any:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if all(c.isprintable() or c in "\n\r\t" for c in text):
        return text
    return data.hex() if len(data) <= LONGEST_HEX_BYTES else {"bytes": len(data)}


# ---- a WAL without its index ---------------------------------------------------------------------
# Format: sqlite.org/fileformat2.html, section 4 ("The Write-Ahead Log"), as of SQLite 3.50.
def overlaid(path: str) -> bytes:
    """The bytes of a whole database in rollback mode. Raises OSError."""
    with opened(path) as descriptor:
        data = bytearray(read_at(descriptor, 0, 1 << 40))
    with opened(path + "-wal") as descriptor:
        wal = read_at(descriptor, 0, 1 << 40)
    pages: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    size = 0
    for number, committed, page in _frames(wal):
        waiting[number] = page
        if committed:
            pages.update(waiting)
            waiting.clear()
            size = committed * len(page)
    for number, page in pages.items():
        end = number * len(page)
        if len(data) < end:
            data.extend(bytes(end - len(data)))
        data[end - len(page) : end] = page
    if size:
        del data[size:]
    data[18:20] = b"\x01\x01"
    return bytes(data)


def _frames(wal: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(page number, pages of the database if it commits else 0, page), while they are sound."""
    if len(wal) < _HEAD:
        return
    magic, _, page_size, _ = struct.unpack(">4I", wal[:16])
    if magic & ~1 != _MAGIC or not 512 <= page_size <= 65536:
        return
    order = ">" if magic & 1 else "<"
    sums = _checksum(wal[:24], order, (0, 0))
    if sums != struct.unpack(">2I", wal[24:32]):
        return
    at = _HEAD
    while at + _FRAME + page_size <= len(wal):
        head, page = wal[at : at + _FRAME], wal[at + _FRAME : at + _FRAME + page_size]
        number, committed = struct.unpack(">2I", head[:8])
        if head[8:16] != wal[16:24] or number == 0:
            return
        sums = _checksum(page, order, _checksum(head[:8], order, sums))
        if sums != struct.unpack(">2I", head[16:24]):
            return
        yield number, committed, page
        at += _FRAME + page_size


def _checksum(data: bytes, order: str, sums: tuple[int, int]) -> tuple[int, int]:
    first, second = sums
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second
