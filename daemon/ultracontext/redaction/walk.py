"""All strings and keys of a JSON value, and putting masked ones in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SHORTEST = 8
"""Bytes of the shortest string that can hold a secret by itself."""


@dataclass(slots=True)
class Found:
    """What a walk brings."""

    values: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    """Keys not known to be clean."""
    fields: list[tuple[str, str]] = field(default_factory=list)
    """Key and value where the key says that the value may be a secret."""
    members: int = 0
    """Members of all objects."""
    exact: bool = True
    """False when a number is too large for the fast parser."""


def collect(root: Any, known: Mapping[str, int]) -> Found:
    """Walks in no particular order; does not recurse."""
    found = Found()
    add, add_key = found.values.append, found.keys.append
    get = known.get
    members = 0
    stack: list[Any] = [root]
    push = stack.append
    while stack:
        node = stack.pop()
        if type(node) is dict:
            members += len(node)
            for key, value in node.items():
                mark = get(key)
                if mark is None:
                    add_key(key)
                kind = type(value)
                if kind is str:
                    if len(value) >= SHORTEST:
                        add(value)
                elif kind is dict or kind is list:
                    push(value)
        else:
            for value in node:
                kind = type(value)
                if kind is str:
                    if len(value) >= SHORTEST:
                        add(value)
                elif kind is dict or kind is list:
                    push(value)
    found.members = members
    return found


def replace(root: Any, values: Mapping[str, str], keys: Mapping[str, str]) -> None:
    """Puts masked strings and keys in place of the plain ones, in place, order kept."""
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        items = list(node.items()) if type(node) is dict else list(enumerate(node))
        for key, value in items:
            if type(value) is str:
                if value in values:
                    node[key] = values[value]
            elif type(value) is dict or type(value) is list:
                stack.append(value)
        if keys and type(node) is dict and not keys.keys().isdisjoint(node):
            _rename(node, keys)


def _rename(node: dict[str, Any], keys: Mapping[str, str]) -> None:
    items = list(node.items())
    node.clear()
    taken = {key for key, _ in items if key not in keys}
    for key, value in items:
        name = fresh = keys.get(key, key)
        if key in keys:
            count = 2
            while fresh in taken:
                fresh = f"{name}~{count}"
                count += 1
            taken.add(fresh)
        node[fresh] = value
