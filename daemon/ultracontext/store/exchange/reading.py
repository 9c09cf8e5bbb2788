"""Answers that hold messages, made page by page: a context of any size needs little memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from ultracontext.store.contexts import Reading, StoredMessage
from ultracontext.store.exchange import shapes
from ultracontext.store.exchange.call import Answer
from ultracontext.wire import render
from ultracontext.wire.queries import Window

PIECE_BYTES = 1 << 18

Seen = Callable[[StoredMessage], StoredMessage]


def answer(found: Reading, wanted: Window, *, seen: Seen) -> Answer:
    """`{"data": […], "version", "versions"?}`; what is large follows in pieces."""
    one = shapes.stored_message if wanted.stored else shapes.message
    texts = (one(seen(message)) for message in islice(found.messages, wanted.count))
    pieces = _pieces(texts, lambda: _tail(found, wanted))
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


def _tail(found: Reading, wanted: Window) -> bytes:
    body: dict[str, Any] = {"version": found.version}
    if found.versions is not None:
        body["versions"] = [shapes.version(v, stored=wanted.stored) for v in found.versions]
    if wanted.stored or any(n is not None for n in (wanted.first, wanted.last, wanted.count)):
        body["total"] = found.total
    if wanted.stored:
        body |= {"id": found.context_id, "context_metadata": found.metadata}
    if wanted.salvage:
        body["gaps"] = [shapes.gap(gap) for gap in found.gaps]
    return b"]," + render(body)[1:]
