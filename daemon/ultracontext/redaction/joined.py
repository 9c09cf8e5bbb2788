"""Secrets that are cut over the pieces of one record: text blocks in a row, or lines of a list.

The text of neighbouring pieces is joined and looked through again. A find that a piece shows by
itself is the business of the scan of that piece; one that needs two of them is masked in every
piece that it touches, with one and the same mask.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from ultracontext.redaction.confirm import Span
from ultracontext.redaction.scan import SEPARATOR, Scanner, encoded

TEXT_KEYS = ("text", "thinking", "content", "output", "delta")
"""Keys of a block that hold what it says."""

MARKS = ("-----BEGIN", "-----END", "PuTTY-User-Key")
"""One of them is in every text that a framed secret is cut over."""

NEAR = 2048
"""Characters on each side of an end that are joined, unless a frame is open."""


@dataclass(slots=True)
class Piece:
    """A string of a record, and where it stands."""

    node: dict[str, Any] | list[Any]
    key: Any
    text: str
    edits: list[tuple[int, int, str]] = field(default_factory=list)

    def apply(self) -> None:
        text = self.text
        for start, end, mark in sorted(self.edits, reverse=True):
            text = text[:start] + mark + text[end:]
        self.node[self.key] = text


@dataclass(frozen=True, slots=True)
class _Part:
    """A range of a piece that is joined with others; without a piece, what stands between two."""

    piece: Piece | None
    start: int
    body: bytes


Chain = list[_Part]

_WORD = re.compile(rb"[A-Z]?[a-z]{1,20}|[A-Z]{1,20}")


def mask_joined(lists: Sequence[list[Any]], scanner: Scanner, counts: Counter[str]) -> bool:
    """Masks in place what is cut over members of these lists; whether there was anything."""
    chains = [pair for node in lists for pair in joins(node) if len(pair[0]) > 1]
    return bool(mask_chains(chains, scanner, counts))


def mask_chains(
    chains: Sequence[tuple[Chain, bool]], scanner: Scanner, counts: Counter[str]
) -> list[Piece]:
    """Masks in place what these chains show, framed secrets only where that is said; the changed
    pieces."""
    if not chains:
        return []
    for chain, framed, spans in _found(chains, scanner):
        for span in spans:
            if not framed or span.rule in scanner.frames:
                _edit(chain, span, scanner, counts)
    pieces = {id(part.piece): part.piece for chain, _ in chains for part in chain}
    changed = [piece for piece in pieces.values() if piece is not None and piece.edits]
    for piece in changed:
        piece.apply()
    return changed


def joins(node: list[Any]) -> Iterator[tuple[Chain, bool]]:
    """What is to be joined of a list, and whether only framed secrets count in it."""
    for run in _runs(node):
        for chain in chains_of(run):
            yield chain, False
    lines = _lines(node)
    if lines:
        yield _lined(lines), True


def _runs(node: list[Any]) -> Iterator[list[Piece]]:
    """Blocks in a row that say their text under the same key."""
    run: list[Piece] = []
    for block in node:
        key = text_key(block)
        if run and key != run[-1].key:
            if len(run) > 1:
                yield run
            run = []
        if key is not None:
            run.append(Piece(block, key, block[key]))
    if len(run) > 1:
        yield run


def text_key(block: Any) -> str | None:
    if type(block) is dict:
        for key in TEXT_KEYS:
            if type(block.get(key)) is str:
                return key
    return None


def _lines(node: list[Any]) -> list[Piece]:
    """The strings of a list in which a frame begins or ends: lines of a diff, of a notebook."""
    if not any(type(text) is str and has_mark(text) for text in node):
        return []
    return [Piece(node, i, text) for i, text in enumerate(node) if type(text) is str]


def has_mark(text: str) -> bool:
    return any(mark in text for mark in MARKS)


def chains_of(run: Sequence[Piece], near: int = NEAR) -> Iterator[Chain]:
    """Pieces joined end to end; the middle of a long one without a frame is left out."""
    whole = any(has_mark(piece.text) for piece in run)
    chain: Chain = []
    for piece in run:
        if whole or len(piece.text) <= 2 * near:
            chain.append(_Part(piece, 0, encoded(piece.text)))
            continue
        chain.append(_Part(piece, 0, encoded(piece.text[:near])))
        yield chain
        start = len(piece.text) - near
        chain = [_Part(piece, start, encoded(piece.text[start:]))]
    yield chain


def _lined(lines: Sequence[Piece]) -> Chain:
    chain: Chain = []
    for piece in lines:
        if chain and not chain[-1].body.endswith(b"\n"):
            chain.append(_Part(None, 0, b"\n"))
        chain.append(_Part(piece, 0, encoded(piece.text)))
    return chain


def _found(
    chains: Sequence[tuple[Chain, bool]], scanner: Scanner
) -> Iterator[tuple[Chain, bool, list[Span]]]:
    """One scan of all chains; the spans of each, from its own begin."""
    gap = encoded(SEPARATOR)
    bodies = [b"".join(part.body for part in chain) for chain, _ in chains]
    spans = scanner.find_bytes(gap.join(bodies))
    begin = 0
    for (chain, framed), body in zip(chains, bodies, strict=True):
        end = begin + len(body)
        own = [
            Span(s.start - begin, s.end - begin, s.rule, s.rank, s.value)
            for s in spans
            if begin <= s.start and s.end <= end
        ]
        yield chain, framed, own
        begin = end + len(gap)


def _edit(chain: Chain, span: Span, scanner: Scanner, counts: Counter[str]) -> None:
    """Notes what a find hides in each piece, unless the piece shows it by itself."""
    touched: list[tuple[_Part, int, int]] = []
    begin = 0
    for part in chain:
        low, high = max(span.start - begin, 0), min(span.end - begin, len(part.body))
        if part.piece is not None and low < high:
            touched.append((part, low, high))
        begin += len(part.body)
    if _known_alone(touched, scanner) if len(touched) < 2 else _complete(touched, span, scanner):
        return
    counts[span.rule] += 1
    mark = scanner.mark(span.rule, span.value)
    for part, low, high in touched:
        if part.piece is not None:
            start = part.start + _characters(part.body[:low])
            end = start + _characters(part.body[low:high])
            part.piece.edits.append((start, end, mark))


def _known_alone(touched: Sequence[tuple[_Part, int, int]], scanner: Scanner) -> bool:
    """Whether a find in one piece needs no other: it is found there without them as well."""
    return all(
        any(span.start <= low and high <= span.end for span in scanner.find_bytes(part.body))
        for part, low, high in touched
    )


def _complete(touched: Sequence[tuple[_Part, int, int]], span: Span, scanner: Scanner) -> bool:
    """Whether the secret ends with its piece, and a pattern without an end ran on into a word."""
    first, low, high = touched[0]
    rest = b"".join(part.body[start:end] for part, start, end in touched[1:])
    if _WORD.fullmatch(rest) is None:
        return False
    return any(
        own.start <= low and own.end == high and own.rule == span.rule
        for own in scanner.find_bytes(first.body)
    )


def _characters(data: bytes) -> int:
    return len(data.decode("utf-8", "surrogatepass"))
