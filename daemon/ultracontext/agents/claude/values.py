"""Careful looks into native JSON, as Claude Code needs them."""

from __future__ import annotations

from ultracontext.formats.values import (
    as_json,
    from_json,
    identifier,
    mapping,
    moment,
    one_line,
    text_or_none,
)

DEEPEST = 12
"""Levels of nested content that are looked into."""

__all__ = [
    "DEEPEST",
    "as_json",
    "from_json",
    "identifier",
    "mapping",
    "moment",
    "one_line",
    "text_or_none",
]
