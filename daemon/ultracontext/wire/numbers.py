"""Integers as the original reads them: of `2x` it takes the 2."""

from __future__ import annotations

import re

_PREFIX = re.compile(r"\s*([+-]?[0-9]{1,18})", re.ASCII)


def integer_prefix(value: object) -> int | None:
    """As JavaScript's `parseInt(value, 10)`; None where that gives NaN (booleans, null, `abc`)."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if abs(value) < 2**63 else None
    found = _PREFIX.match(value) if isinstance(value, str) else None
    return int(found[1]) if found else None


def whole(value: object) -> int | None:
    """As JavaScript's `Number.isInteger`: 2 and 2.0; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value
