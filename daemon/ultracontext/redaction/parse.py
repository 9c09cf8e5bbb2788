"""JSON in and out without losing what the fast parser drops or refuses."""

from __future__ import annotations

import contextlib
import json
import math
import re
from typing import Any

import orjson

_LONG_NUMBER = re.compile(rb"[0-9]{19}")
_BOM = b"\xef\xbb\xbf"


def load_json(data: bytes) -> Any:
    """The value of UTF-8 JSON: lone surrogates, NaN, large integers and raw control characters
    survive.

    Raises ValueError for what is no JSON, or is nested too deeply.
    """
    if _LONG_NUMBER.search(data) is None:
        with contextlib.suppress(ValueError):
            return orjson.loads(data)
    return load_exactly(data, [])


def load_quickly(data: bytes) -> Any:
    """The same, but integers that need more than 64 bits may have become floats."""
    try:
        return orjson.loads(data)
    except ValueError:
        return load_exactly(data, [])


def load_exactly(data: bytes, dropped: list[dict[str, Any]]) -> Any:
    """The same by the slow parser; the values that a repeated key hides are added to `dropped`."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            dropped.extend({key: hidden} for key, hidden in pairs if value[key] is not hidden)
        return value

    try:
        return json.loads(data.decode(), strict=False, object_pairs_hook=members)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def dump_json(value: Any) -> bytes:
    """Compact UTF-8 JSON that `load_json` reads back to an equal value."""
    try:
        data = orjson.dumps(value)
    except (TypeError, ValueError):
        data = b"null"
    if b"null" in data and (data == b"null" or not _finite(value)):
        data = json.dumps(value, separators=(",", ":")).encode()
    return data


def _finite(root: Any) -> bool:
    """Whether there is no NaN and no infinity, which the fast writer turns into null."""
    stack = [root]
    while stack:
        node = stack.pop()
        if type(node) is dict:
            stack += node.values()
        elif type(node) is list:
            stack += node
        elif type(node) is float and not math.isfinite(node):
            return False
    return True


def without_bom(data: bytes) -> bytes:
    return data[3:] if data.startswith(_BOM) else data


def surely_exact(data: bytes, native: Any, members: int) -> bool:
    """Whether the parsed value with its `members` object members is all that the text holds.

    It is when it is written as the same bytes again. Else the colons after a closing quote are
    counted, so that no key hides another; a text where that count could be wrong is not sure.
    """
    with contextlib.suppress(TypeError, ValueError):
        if orjson.dumps(native) == data:
            return True
    if b'\\\\":' in data:
        return False
    for gap in (b'" :', b'"\t:', b'"\n:', b'"\r:'):
        if gap in data:
            return False
    return data.count(b'":') - data.count(b'\\":') == members
