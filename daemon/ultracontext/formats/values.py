"""Careful looks into native JSON: any value may have any type."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

OLDEST_YEAR = 2000
"""A time before it is junk: a clock that was never set, or no time at all."""
MILLISECONDS_FROM = 100_000_000_000
"""Numbers above are milliseconds since 1970, below seconds (100e9 s is the year 5138)."""
LONGEST_ID = 200


def text_or_none(value: Any) -> str | None:
    """A string that holds something."""
    return value if type(value) is str and value else None


def identifier(value: Any) -> str | None:
    """An id: a short string, or a number as text."""
    if type(value) is int:
        value = str(value) if abs(value) < 1 << 64 else None
    return value if type(value) is str and 0 < len(value) <= LONGEST_ID else None


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if type(value) is dict else {}


def listing(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return value if type(value) is list else []


def moment(value: Any) -> str | None:
    """A time as ISO 8601 in UTC with `Z`, or None for what is no time since 2000.

    Text and epoch numbers in seconds or milliseconds are read.
    """
    if type(value) is str:
        return _written(value)
    if type(value) is int or type(value) is float:
        return _counted(value)
    return None


def _written(text: str) -> str | None:
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    if len(text) == 24 and text[23] == "Z" and text[10] == "T" and text[19] == ".":
        return text if parsed.year >= OLDEST_YEAR else None
    return _utc(parsed)


def _counted(number: float) -> str | None:
    try:
        seconds = number / 1000 if abs(number) > MILLISECONDS_FROM else number
        return _utc(datetime.fromtimestamp(seconds, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def _utc(parsed: datetime) -> str | None:
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    try:
        parsed = parsed.astimezone(UTC)
    except OverflowError:
        return None
    if parsed.year < OLDEST_YEAR:
        return None
    return parsed.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def one_line(text: str, longest: int = 200) -> str:
    """A title: white space becomes single spaces, the rest is cut."""
    line = " ".join(text[: 8 * longest].split())
    return line if len(line) <= longest else line[: longest - 1].rstrip() + "…"


def as_json(value: Any) -> str:
    """Compact JSON for a person's eye; empty for what JSON cannot say."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return ""


def from_json(text: Any) -> Any:
    """The value of JSON text, None for other text."""
    if type(text) is not str:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def rendered(value: Any) -> str:
    """A call's input or a tool's output as a person reads it."""
    if value is None:
        return ""
    return value if type(value) is str else as_json(value)
