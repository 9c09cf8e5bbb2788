"""Functions that queries over databases may use beyond SQLite's own.

`unhex(text)` gives the bytes that hexadecimal digits stand for, NULL for other text;
`protobuf(blob)` gives a message's fields as JSON `{"1": [value …] …}`: integers, texts, and other
bytes in hexadecimal digits; NULL for what is none.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

import orjson

LONGEST_HEX_BYTES = 64
"""Bytes above this are given by their number alone."""


def register(database: sqlite3.Connection) -> None:
    """Makes the functions known to a connection."""
    database.create_function("unhex", 1, unhex, deterministic=True)
    database.create_function("protobuf", 1, protobuf, deterministic=True)


def unhex(value: Any) -> bytes | None:
    text = value.decode("ascii", "replace") if isinstance(value, bytes) else value
    if not isinstance(text, str):
        return None
    try:
        return bytes.fromhex(text)
    except ValueError:
        return None


def protobuf(value: Any) -> str | None:
    data = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
    if not isinstance(data, bytes):
        return None
    fields: dict[str, list[Any]] = {}
    try:
        for number, found in _fields(data):
            fields.setdefault(str(number), []).append(found)
    except (IndexError, ValueError):
        return None
    return orjson.dumps(fields).decode()


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = _number(data, at)
            yield tag >> 3, value
            continue
        if kind == 2:
            length, at = _number(data, at)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise ValueError("no field")
        if at + length > len(data):
            raise ValueError("cut")
        yield tag >> 3, _readable(data[at : at + length])
        at += length


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if not byte & 128:
            return value & (1 << 63) - 1, at
        shift += 7
        if shift > 63:
            raise ValueError("too long")


def _readable(data: bytes) -> Any:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = "\0"
    if all(c.isprintable() or c in "\n\r\t" for c in text):
        return text
    return data.hex() if len(data) <= LONGEST_HEX_BYTES else {"bytes": len(data)}
