"""JSON in and out without losing what the fast parser drops or refuses."""

from __future__ import annotations

import json
from typing import Any

import orjson

_BOM = b"\xef\xbb\xbf"


def load_json(data: bytes) -> Any:
    """The value of UTF-8 JSON: lone surrogates, NaN, large integers and raw control characters
    survive.

    Raises ValueError for what is no JSON, or is nested too deeply.
    """
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
        return orjson.dumps(value)
    except (TypeError, ValueError):
        return json.dumps(value, separators=(",", ":")).encode()


def without_bom(data: bytes) -> bytes:
    return data[3:] if data.startswith(_BOM) else data


def surely_exact(data: bytes, native: Any, members: int) -> bool:
    """Whether the parsed value with its `members` object members is all that the text holds.

    It is when it is written as the same bytes again. Else the colons after a closing quote are
    counted, so that no key hides another; a text where that count could be wrong is not sure.
    """
    if dump_json(native) == data:
        return True
    if b'\\\\":' in data:
        return False
    for gap in (b'" :', b'"\t:', b'"\n:', b'"\r:'):
        if gap in data:
            return False
    return data.count(b'":') - data.count(b'\\":') == members
