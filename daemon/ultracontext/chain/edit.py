"""A message's JSON text, taken apart and put together without touching what is in its members.

Values are never parsed into numbers or strings, so that every one is given back as it came: NUL,
lone surrogates, integers of any size, the order of keys.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


LENIENT = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_no_constant)
"""Takes numbers of any length."""
SPACE = b" \t\n\r"
_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_items = msgspec.json.Decoder(list[msgspec.Raw])


def members(text: bytes) -> dict[str, bytes]:
    """The members of a JSON object, each value as its text. Of a name that stands twice the last.

    Raises ValueError for anything but an object in UTF-8."""
    decoded = text.decode()
    try:
        return {name: bytes(value).strip(SPACE) for name, value in _members.decode(text).items()}
    except msgspec.DecodeError:
        return _odd_members(decoded)


def _odd_members(decoded: str) -> dict[str, bytes]:
    """Names may hold lone surrogates, which the fast way refuses."""
    found: dict[str, bytes] = {}
    place = _skip(decoded, 0)
    if decoded[place : place + 1] != "{":
        raise ValueError("not a JSON object")
    place = _skip(decoded, place + 1)
    while decoded[place : place + 1] != "}":
        quoted = decoded[place : place + 1] == '"'
        name, place = LENIENT.raw_decode(decoded, place)
        place = _skip(decoded, place)
        if not quoted or decoded[place : place + 1] != ":":
            raise ValueError("not a JSON object")
        start = _skip(decoded, place + 1)
        _, place = LENIENT.raw_decode(decoded, start)
        found[name] = decoded[start:place].encode()
        place = _skip(decoded, place)
        if decoded[place : place + 1] == ",":
            place = _skip(decoded, place + 1)
            if decoded[place : place + 1] != '"':
                raise ValueError("not a JSON object")
        elif decoded[place : place + 1] != "}":
            raise ValueError("not a JSON object")
    if _skip(decoded, place + 1) != len(decoded):
        raise ValueError("text behind the JSON object")
    return found


def _skip(text: str, place: int) -> int:
    while text[place : place + 1] and text[place] in " \t\n\r":
        place += 1
    return place


def object_text(values: Mapping[str, bytes]) -> bytes:
    """A JSON object of members."""
    return b"{" + b",".join(name_text(n) + b":" + v for n, v in values.items()) + b"}"


def name_text(name: str) -> bytes:
    try:
        return json.dumps(name, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(name).encode()


def merged(content: bytes, changes: bytes, remove_keys: Iterable[str] = ()) -> bytes:
    """The object with the members of `changes` in place of those of the same name.

    A name keeps its place; new ones follow. `null` is a value; only `remove_keys` remove."""
    values = members(content)
    values.update(members(changes))
    for name in remove_keys:
        values.pop(name, None)
    return object_text(values)


def body_of(content: bytes, metadata: Any) -> bytes:
    """What is stored of a message: `[metadata, content]`."""
    return b"[" + dump_json(metadata) + b"," + content + b"]"


def parts_of(body: bytes) -> tuple[bytes, bytes]:
    """(content, metadata) as texts. Raises ValueError for what `body_of` did not make."""
    try:
        items = _items.decode(body)
    except msgspec.DecodeError:
        return _odd_parts(body)
    if len(items) != 2:
        raise ValueError("a stored message has two parts")
    return bytes(items[1]), bytes(items[0])


def _odd_parts(body: bytes) -> tuple[bytes, bytes]:
    """The same where a text holds lone surrogates."""
    text = body.decode()
    _, end = LENIENT.raw_decode(text, 1)
    if text[:1] != "[" or text[end : end + 1] != "," or text[-1:] != "]":
        raise ValueError("a stored message has two parts")
    return text[end + 1 : -1].encode(), text[1:end].encode()


def dump_json(value: Any) -> bytes:
    """JSON text of any value that `json.loads` can give."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":")).encode()


def load_json(text: bytes) -> Any:
    """The value, integers of any size and lone surrogates kept."""
    return json.loads(text)
