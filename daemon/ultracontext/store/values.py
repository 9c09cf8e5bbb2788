"""Small values as JSON and as columns, odd ones included."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, TypeVar

import msgspec
import orjson

T = TypeVar("T")

FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""Years 1 to 9999."""


def dump(value: Any) -> bytes:
    """JSON of any value, also with lone surrogates and integers beyond 64 bits."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, OverflowError):
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


def load(data: bytes) -> Any:
    try:
        return orjson.loads(data)
    except ValueError:
        return json.loads(data)


def load_as(data: bytes, kind: type[T]) -> T:
    """A struct from its JSON."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return msgspec.convert(json.loads(data), type=kind)


def column(text: str | None) -> str | None:
    """Text that a column can hold: lone surrogates become `\\udXXX` in letters."""
    if text is None or text.isascii():
        return text
    return text.encode("utf-8", "backslashreplace").decode()


def words(text: str) -> str:
    """`column` for text that is there."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def encode_text(text: str) -> bytes:
    """UTF-8 that keeps lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def decode_text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def moment(ms: int) -> datetime:
    return datetime.fromtimestamp(min(max(ms, FIRST_MS), LAST_MS) / 1000, UTC)


def iso(when: datetime) -> str:
    """ISO 8601, UTC, with milliseconds and `Z`."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_time(text: str | None) -> int | None:
    """Milliseconds of an ISO 8601 text; None when it is none."""
    if not text:
        return None
    try:
        parsed = datetime.fromisoformat(text)
        return milliseconds(parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def sane_time(ms: int | None) -> int | None:
    """A time that a datetime can hold, else None."""
    return ms if ms is not None and FIRST_MS <= ms <= LAST_MS else None
