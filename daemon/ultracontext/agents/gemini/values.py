"""Careful looks into native JSON, as Gemini CLI needs them."""

from __future__ import annotations

from typing import Any

from ultracontext.formats.values import (
    as_json,
    listing,
    mapping,
    moment,
    one_line,
    text_or_none,
)

LONGEST_ID = 200


def identifier(value: Any) -> str | None:
    """An id; the program takes nothing but strings (0.61.0: a message with a number is dropped)."""
    return value if type(value) is str and 0 < len(value) <= LONGEST_ID else None


def kind_of(native: dict[str, Any]) -> str:
    """A message's `type`; empty where that is no string."""
    kind = native.get("type")
    return kind if type(kind) is str else ""


__all__ = [
    "as_json",
    "identifier",
    "kind_of",
    "listing",
    "mapping",
    "moment",
    "one_line",
    "text_or_none",
]
