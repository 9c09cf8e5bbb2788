"""Whether a value looks like a secret, and not like prose, code, a reference or a placeholder."""

from __future__ import annotations

import math
import re
from collections import Counter

from ultracontext.redaction.rules import Rule


def passes(rule: Rule, data: bytes, start: int, end: int) -> bool:
    value = data[start:end]
    return rule.certain or likely(value)


def entropy(value: bytes) -> float:
    """Bits per byte of a value."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values()) if size else 0.0


_REFERENCE = re.compile(
    rb"^(?:\$|%\(|\{\{|<|@|#\{)|[()\[\]]|^[A-Za-z_]+(?:\.[A-Za-z_]+)+$|\*{3}|\.{3}|://"
)


def likely(value: bytes) -> bool:
    return (
        _REFERENCE.search(value) is None
        and any(48 <= c <= 57 for c in value)
        and len(set(value)) >= 6
    )
