"""Pieces of answers, put together from JSON text so that a message's content is never parsed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultracontext.wire.payload import render

GENERATED = ("id", "index", "metadata")
"""Keys of a message that are ours; what a writer puts under `id` or `index` is not kept."""


def message(content: bytes, *, name: str, index: int, metadata: Any, duplicate: bool) -> bytes:
    """A message as clients get it: its own keys, then `id`, `index`, `metadata`."""
    tail: dict[str, Any] = {"id": name, "index": index, "metadata": metadata}
    if duplicate:
        tail["duplicate"] = True
    return spliced(content, render(tail))


def spliced(first: bytes, second: bytes) -> bytes:
    """One JSON object of the members of two; the texts are those of objects."""
    head = first.rstrip()[:-1].rstrip()
    if head == b"{":
        return second
    return head + (b"}" if second == b"{}" else b"," + second[1:])


def split(given: Mapping[str, Any]) -> tuple[bytes, Any]:
    """Content as JSON text, and metadata, of a message as a client sends it."""
    metadata = given.get("metadata")
    kept = {name: value for name, value in given.items() if name not in GENERATED}
    return render(kept), {} if metadata is None else metadata
