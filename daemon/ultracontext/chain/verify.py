"""What a chain of digests proves of a context: of its rows, and of its heads.

Rows come in order of (position, born, revision). The first row of a position is linked to the first
row of the position before; an edit to the row that it replaces; a revision to the newest captured
row at its place. The rows that a fork took from its source keep their links and say what they were
linked to (`base`); a seal over all of them, in head 0, keeps their order, and what is appended is
linked to the seal. Each head is linked to the head before, and says what the rows were then.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Protocol

from ultracontext.chain.digest import DIGEST_BYTES, link


class Row(Protocol):
    """What the chain asks of a row."""

    @property
    def position(self) -> int: ...
    @property
    def event_id(self) -> bytes: ...
    @property
    def parent(self) -> bytes | None: ...
    @property
    def chain(self) -> bytes | None: ...
    @property
    def base(self) -> bytes | None: ...
    @property
    def captured(self) -> bool: ...


@dataclass(slots=True)
class RowChain:
    """Walks over rows; says of each what it must be linked to."""

    copied: int
    """Positions that were taken from the fork's source."""
    seal: bytes
    position: int
    """That of the last row; -1 before the first."""
    first: list[bytes] = field(default_factory=list)
    """Links that the first row of the next position may stand on."""
    here: dict[bytes, bytes] = field(default_factory=dict)
    """Links of the rows at this position, by event id."""
    captured: list[bytes] = field(default_factory=list)
    """Links of the captured rows at this position."""

    def take(self, row: Row) -> Sequence[bytes] | None:
        """The links on which the row may stand; None when rows are missing before it."""
        if row.position == self.position:
            return self._further(row)
        if row.position != self.position + 1:
            return None
        if row.base is not None:
            return [row.base]
        if row.position == self.copied:
            return [self.seal]
        return list(self.first)

    def _further(self, row: Row) -> Sequence[bytes] | None:
        if row.captured:
            return list(self.captured)
        replaced = self.here.get(row.parent or b"")
        return None if replaced is None else [replaced]

    def passed(self, row: Row, computed: bytes | None = None) -> None:
        """Goes on behind the row; `computed` is its true link where the stored one is wrong."""
        chain = row.chain or b""
        links = [chain] if computed is None or computed == chain else [chain, computed]
        if row.position != self.position:
            self.position, self.first = row.position, links
            self.here.clear()
            self.captured.clear()
        self.here[row.event_id] = chain
        if row.captured:
            self.captured += links


def borne_out(row: Row, stands_on: Iterable[bytes], content: bytes) -> bool:
    """Whether a row's link is that of its content over one of the links before."""
    return any(link(before, content) == row.chain for before in stands_on)


class Seal:
    """Digest over the links of the rows of a fork, in order."""

    def __init__(self, context_id: str) -> None:
        self._digest = blake2b(context_id.encode(), digest_size=DIGEST_BYTES, person=b"seal")
        self.count = 0

    def add(self, chain: bytes) -> None:
        self._digest.update(chain.ljust(DIGEST_BYTES, b"\0"))
        self.count += 1

    def digest(self) -> bytes:
        """Empty when nothing was taken."""
        return self._digest.digest() if self.count else b""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadFacts:
    """What a head's digest covers."""

    context_id: str
    version: int
    operation: str
    operation_id: str | None
    affected: bytes | None
    """JSON list of message ids."""
    metadata: bytes | None
    context_metadata: bytes | None
    repair: bytes | None
    created_ms: int
    positions: int
    """Positions of the context when the head was made."""
    removed: int
    """Of them without a message, as of the head."""


def head_link(previous: bytes, facts: HeadFacts, tail: bytes, rows: Iterable[bytes]) -> bytes:
    """The digest of a head, over the one before (empty for version 0), the link of the last
    position before it (`tail`), and the links of the rows that it wrote, in order of position."""
    fields = [
        facts.context_id, facts.version, facts.operation, facts.operation_id,
        _text(facts.affected), _text(facts.metadata), _text(facts.context_metadata),
        _text(facts.repair), facts.created_ms, facts.positions, facts.removed,
    ]  # fmt: skip
    digest = blake2b(digest_size=DIGEST_BYTES, person=b"head")
    digest.update(len(previous).to_bytes(1, "big") + previous)
    digest.update(len(tail).to_bytes(1, "big") + tail)
    data = json.dumps(fields, separators=(",", ":")).encode()
    digest.update(len(data).to_bytes(8, "big") + data)
    for chain in rows:
        digest.update(chain)
    return digest.digest()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "surrogatepass")
