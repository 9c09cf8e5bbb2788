"""Careful looks into native JSON, as Cursor needs them."""

from __future__ import annotations

from ultracontext.formats.values import (
    as_json,
    from_json,
    identifier,
    listing,
    mapping,
    moment,
    one_line,
    rendered,
    text_or_none,
)

__all__ = [
    "as_json",
    "from_json",
    "identifier",
    "listing",
    "mapping",
    "moment",
    "one_line",
    "rendered",
    "text_or_none",
]
