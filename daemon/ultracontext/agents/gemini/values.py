"""Careful looks into native JSON: any value may have any type."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

OLDEST_YEAR = 2000
"""A time before it is junk: a clock that was never set, or no time at all."""

LONGEST_ID = 200


def text_or_none(value: Any) -> str | None:
    """A string that holds something."""
    return value if type(value) is str and value else None


def identifier(value: Any) -> str | None:
    """An id; the program takes nothing but strings (0.61.0: a message with a number is dropped)."""
    return value if type(value) is str and 0 < len(value) <= LONGEST_ID else None


def kind_of(native: dict[str, Any]) -> str:
    """A message's `type`; empty where that is no string."""
    kind = native.get("type")
    return kind if type(kind) is str else ""


def mapping(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return value if type(value) is dict else {}


def listed(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return value if type(value) is list else []


def moment(value: Any) -> str | None:
    """A time as ISO 8601 in UTC with `Z`, or None for what is no time since 2000."""
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
    if parsed.year < OLDEST_YEAR:
        return None
    if len(text) == 24 and text[23] == "Z" and text[10] == "T" and text[19] == ".":
        return text
    return _utc(parsed)


def _counted(number: float) -> str | None:
    try:
        seconds = number / 1000 if abs(number) > 100_000_000_000 else number
        parsed = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return _utc(parsed) if parsed.year >= OLDEST_YEAR else None


def _utc(parsed: datetime) -> str | None:
    if parsed.tzinfo is None:
        parsed = parsed.replace(tzinfo=UTC)
    try:
        parsed = parsed.astimezone(UTC)
    except OverflowError:
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
