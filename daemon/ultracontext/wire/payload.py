"""JSON of the wire, faithful: NUL, lone surrogates, integers of any size and the order of keys.

Stricter than the reader of agents' files: what is no JSON (NaN, raw control characters) is refused,
so that every answer is JSON for every client.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

import orjson

_LONG_NUMBER = re.compile(rb"[0-9]{19}|[eE][+]?[0-9]{3}")
"""An integer that may need more than 64 bits, or a number that may be infinite."""
DEPTH = 200
"""Deepest nesting that is taken; the fast writer stops at 254."""


def parse(data: bytes) -> Any:
    """The value of a body. Raises ValueError for what is no JSON, or nested deeper than `DEPTH`."""
    if _LONG_NUMBER.search(data) is None:
        try:
            value = orjson.loads(data)
        except ValueError:
            value = _parse_slowly(data)
    else:
        value = _parse_slowly(data)
    if data.count(b"[") + data.count(b"{") > DEPTH:
        _check_depth(value)
    return value


def _parse_slowly(data: bytes) -> Any:
    try:
        return json.loads(data.decode(), parse_constant=_no_number, parse_float=_finite)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number is out of range")
    return number


def _check_depth(root: Any) -> None:
    level = [root]
    for _ in range(DEPTH + 1):
        deeper: list[Any] = []
        for node in level:
            if type(node) is dict:
                deeper += node.values()
            elif type(node) is list:
                deeper += node
        if not deeper:
            return
        level = deeper
    raise ValueError("nested too deeply")


def render(value: Any) -> bytes:
    """Compact JSON that `parse` reads back to an equal value."""
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError):  # lone surrogates, integers beyond 64 bits
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
