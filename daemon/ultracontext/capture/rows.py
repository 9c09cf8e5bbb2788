"""Rows of a database as records, and how far each query is read.

A row becomes the record `{"table", "key", "value"}`; a value that is JSON stands in it as JSON, so
that masks and parts work on its strings, and a zstd frame as what it holds.
"""

from __future__ import annotations

import base64
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import orjson
import zstandard

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_BYTES = 64 << 20
"""A value that grows larger than this is left packed."""

MARK_ROWS = 32
MARK_BYTES = 64 << 10
WINDOW_MARKS = 4
"""So many marks back the last rows are read again with each pass."""
MOST_MARKS = 24
REMEMBERED_ROWS = 20_000


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
