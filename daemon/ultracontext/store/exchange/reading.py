"""Answers that hold messages, made page by page: a context of any size needs little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ultracontext.store.contexts import Reading, StoredMessage
from ultracontext.store.exchange import shapes
from ultracontext.store.exchange.call import Answer
from ultracontext.wire import render

PIECE_BYTES = 1 << 18

Seen = Callable[[StoredMessage], StoredMessage]


def answer(
    found: Reading, *, stored: bool = False, windowed: bool = False, seen: Seen, salvage: bool
) -> Answer:
    """`{"data": […], "version", "versions"?}`; what is large follows in pieces."""
    one = shapes.stored_message if stored else shapes.message
    texts = (one(seen(message)) for message in found.messages)
    pieces = _pieces(texts, lambda: _tail(found, stored, windowed=windowed, salvage=salvage))
    first = next(pieces)
    second = next(pieces, None)
    if second is None:
        return Answer(body=first)
    return Answer(body=first, rest=_chained(second, pieces))


def _chained(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _pieces(texts: Iterator[bytes], tail: Callable[[], bytes]) -> Iterator[bytes]:
    held, size, mark = [b'{"data":['], 0, b""
    for text in texts:
        held += (mark, text)
        size, mark = size + len(text), b","
        if size >= PIECE_BYTES:
            yield b"".join(held)
            held, size = [], 0
    held.append(tail())
    yield b"".join(held)


def _tail(found: Reading, stored: bool, *, windowed: bool, salvage: bool) -> bytes:
    body: dict[str, Any] = {"version": found.version}
    if found.versions is not None:
        body["versions"] = [shapes.version(v, stored=stored) for v in found.versions]
    if stored or windowed:
        body["total"] = found.total
    if stored:
        body |= {"id": found.context_id, "context_metadata": found.metadata}
    if salvage:
        body["gaps"] = [shapes.gap(gap) for gap in found.gaps]
    return b"]," + render(body)[1:]
