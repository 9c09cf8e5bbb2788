"""All strings and keys of a JSON value, and putting masked ones in their place."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ultracontext.redaction.names import nature

SHORTEST = 8
"""Characters of the shortest string that can hold a secret by itself."""

_LARGE = 1e15
"""Floats from here on may be integers that the fast parser had no room for."""

PLAIN, SENSITIVE, PROTOCOL, GENERIC = range(4)
"""What a key says of its value: nothing, a secret by name, opaque data of the agent's protocol, or
the value of a pair whose name stands beside it."""

_PROTOCOL_KEYS = frozenset(
    (
        "signature",
        "encrypted_content",
        "thoughtSignature",
        "thought_signature",
        "thinkingSignature",
        "encryptedContent",
        "data",
        "base64",
        "image_url",
        "url",
        "textSignature",
        "reasoning_opaque",
    )
)
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\\-]*")
_DATA_URL = re.compile(r"data:[a-z]+/[a-z0-9.+-]+;base64,")
_BINARY_HEADS = (
    "iVBORw0KGgo",
    "/9j/",
    "R0lGOD",
    "UklGR",
    "JVBERi0",
    "UEsDB",
    "Qk",
    "SUkq",
    "PHN2Z",
    "AAAA",
    "T2dnU",
    "H4sI",
    "GkXf",
    "SUQz",
)


@dataclass(slots=True)
class Found:
    """What a walk brings."""

    values: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    """Keys not known to be clean."""
    fields: list[tuple[str, str]] = field(default_factory=list)
    """Key and value where the key says that the value may be a secret."""
    lists: list[list[Any]] = field(default_factory=list)
    """Those with more than one block or line, which a secret may be cut over."""
    hidden: list[str] = field(default_factory=list)
    """Values that a repeated key hides."""
    members: int = 0
    """Members of all objects."""
    exact: bool = True
    """False when a number may be too large for the fast parser."""


class Names:
    """What keys mean, and how short a string may be left out."""

    __slots__ = ("extra", "shortest")

    def __init__(self, extra: frozenset[str] = frozenset(), shortest: int = SHORTEST) -> None:
        self.extra = extra
        """Keys of a person's, in lower case, whose values are secrets."""
        self.shortest = shortest

    def meaning(self, key: str) -> int:
        """What a key says of a string that stands under it."""
        if self.extra and key.lower() in self.extra:
            return SENSITIVE
        return meaning(key)


OUR_NAMES = Names()


def collect(root: Any, known: Mapping[str, int], names: Names = OUR_NAMES) -> Found:
    """Walks in no particular order; does not recurse. `known` has the meaning of clean keys."""
    shortest = names.shortest
    found = Found()
    add, add_key, get = found.values.append, found.keys.append, known.get
    members = 0
    stack: list[Any] = [root]
    push, pop = stack.append, stack.pop
    while stack:
        node = pop()
        if type(node) is list:
            _collect_list(node, found, push, shortest)
            continue
        members += len(node)
        for key, value in node.items():
            mark = get(key)
            if mark is None:
                add_key(key)
                mark = names.meaning(key)
            kind = type(value)
            if kind is str:
                if mark and _special(found, mark, node, key, value, names):
                    continue
                if len(value) >= shortest:
                    add(value)
            elif kind is dict or kind is list:
                push(value)
            elif kind is float and not -_LARGE < value < _LARGE:
                found.exact = False
    found.members = members
    return found


def _collect_list(
    node: list[Any], found: Found, push: Callable[[Any], None], shortest: int
) -> None:
    for value in node:
        kind = type(value)
        if kind is str:
            if len(value) >= shortest:
                found.values.append(value)
        elif kind is dict or kind is list:
            push(value)
        elif kind is float and not -_LARGE < value < _LARGE:
            found.exact = False
    if len(node) > 1:
        found.lists.append(node)


def meaning(key: str) -> int:
    """What a key says of a string that stands under it."""
    if key in _PROTOCOL_KEYS:
        return PROTOCOL
    if key in ("value", "Value"):
        return GENERIC
    return SENSITIVE if nature(key) else PLAIN


def protected(node: Mapping[str, Any], key: str, value: str) -> bool:
    """Whether a string is the protocol's own opaque data, which must not change by one byte.

    By its place: a signature of a thinking block, encrypted reasoning, a base64 image or document.
    The alphabet is checked as well, so that no text hides there.
    """
    kind = node.get("type")
    if key == "signature":
        place = "thinking" in node or kind in ("thinking", "redacted_thinking", "reasoning")
    elif key == "data":
        place = kind in ("base64", "redacted_thinking", "image", "reasoning.encrypted") or (
            "mimeType" in node or "media_type" in node or "mime_type" in node
        )
    elif key == "base64":
        place = value.startswith(_BINARY_HEADS)
    elif key in ("image_url", "url"):
        head = _DATA_URL.match(value[:100])
        return head is not None and _BASE64.fullmatch(value, head.end()) is not None
    else:
        place = True
    return place and len(value) >= 16 and _BASE64.fullmatch(value) is not None


def _special(
    found: Found, mark: int, node: dict[str, Any], key: str, value: str, names: Names
) -> bool:
    """Whether the value is not to be scanned. Notes a field that its name makes a secret."""
    if mark == PROTOCOL:
        return protected(node, key, value)
    name = key
    if mark == GENERIC:
        label = node.get("name") or node.get("key") or node.get("Name") or node.get("Key")
        if type(label) is not str or names.meaning(label) != SENSITIVE:
            return False
        name = label
    found.fields.append((name, value))
    return False


def replace(
    root: Any,
    values: Mapping[str, str],
    keys: Mapping[str, str],
    fields: Mapping[tuple[str, str], str],
    names: Names = OUR_NAMES,
) -> None:
    """Puts masked strings and keys in place of the plain ones, in place, order kept."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if type(node) is list:
            for index, value in enumerate(node):
                if type(value) is str:
                    node[index] = values.get(value, value)
                elif type(value) is dict or type(value) is list:
                    stack.append(value)
            continue
        for key, value in list(node.items()):
            if type(value) is str:
                node[key] = _masked(node, key, value, values, fields, names)
            elif type(value) is dict or type(value) is list:
                stack.append(value)
        if not keys.keys().isdisjoint(node):
            _rename(node, keys)


def _masked(
    node: dict[str, Any],
    key: str,
    value: str,
    values: Mapping[str, str],
    fields: Mapping[tuple[str, str], str],
    names: Names,
) -> str:
    mark = names.meaning(key)
    if mark == PROTOCOL and protected(node, key, value):
        return value
    name = key
    if mark == GENERIC:
        label = node.get("name") or node.get("key") or node.get("Name") or node.get("Key")
        name = label if type(label) is str else key
    field_mask = fields.get((name, value)) if mark in (SENSITIVE, GENERIC) else None
    return field_mask or values.get(value, value)


def _rename(node: dict[str, Any], keys: Mapping[str, str]) -> None:
    """Masked keys; two that became equal are told apart, so that no member is lost."""
    items = list(node.items())
    node.clear()
    taken = {key for key, _ in items if key not in keys}
    for key, value in items:
        name = fresh = keys.get(key, key)
        count = 2
        while key in keys and fresh in taken:
            fresh = f"{name}~{count}"
            count += 1
        taken.add(fresh)
        node[fresh] = value
