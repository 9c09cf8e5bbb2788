"""Sessions that begin with a part of another: their records, the other's first.

A base is followed through any number of sessions; a circle or a chain longer than `DEEPEST` ends
there as if the rest had not been captured.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import msgspec

from ultracontext.errors import FormatError
from ultracontext.formats import AgentSpec, SessionReader
from ultracontext.model import Base, RawRecord, message_id
from ultracontext.redaction import MaskedRecord, Redactor
from ultracontext.store.base import ContextRow, SpaceStore, StoredNode
from ultracontext.store.values import encode_text

DEEPEST = 64
PROBED = 20
"""Records in which a reader finds the base, where the stored facts lag behind."""


class Piece(msgspec.Struct, frozen=True):
    """One record on its way to a reader, or the place where the beginning is missing."""

    node: StoredNode | None
    record: MaskedRecord | None
    row: ContextRow
    """Session that the record was captured in."""


def remask(node: StoredNode, agent: str, redactor: Redactor) -> MaskedRecord:
    """A stored node as a masked record again, under today's rules, its large strings in it."""
    data = node.body if node.text is None else encode_text(node.text)
    return redactor.redact(
        RawRecord(
            agent=agent,
            source=node.source_path,
            start=node.start,
            end=node.end,
            data=b"" if node.too_large else data,
            companions={name: encode_text(text) for name, text in node.companions.items()},
            damage=node.damage,
            too_large=node.too_large,
        ),
        whole=True,
    )


def spec_of(slug: str) -> AgentSpec | None:
    """The agent, None when it is not known here (a plugin that is gone)."""
    from ultracontext.agents import agent

    try:
        return agent(slug)
    except FormatError:
        return None


class Beginnings:
    """Walks over the records of a session, whose base may lie in others."""

    def __init__(self, store: SpaceStore, redactor: Redactor) -> None:
        self.store = store
        self.redactor = redactor

    def pieces(
        self,
        row: ContextRow,
        *,
        until: int | None = None,
        seen: frozenset[str] = frozenset(),
        version: int | None = None,
    ) -> Iterator[Piece]:
        """Everything that a reader of the session is fed, in order; with `version` what that
        version of it shows."""
        spec = spec_of(row.agent)
        base = self.base_of(row, spec)
        if base is not None and spec is not None:
            yield from self._before(row, base, spec.reader(row.session_id), seen)
        for node in self.store.nodes(row.context_id, until=until, version=version):
            yield Piece(node, remask(node, row.agent, self.redactor), row)

    def _before(
        self, row: ContextRow, base: Base, reader: SessionReader, seen: frozenset[str]
    ) -> Iterator[Piece]:
        seen |= {row.context_id}
        origin = self.store.by_session(row.agent, base.session_id)
        if origin is None or origin.context_id in seen or len(seen) > DEEPEST:
            yield Piece(None, None, row)
            return
        if base.unit == "position":
            yield from self.pieces(origin, until=base.end, seen=seen)
            if origin.nodes < base.end:
                yield Piece(None, None, row)
            return
        for piece in self.pieces(origin, seen=seen):
            if piece.record is None or reader.covers(piece.record, base):
                yield piece

    def base_of(self, row: ContextRow, spec: AgentSpec | None) -> Base | None:
        known = row.facts.base
        if spec is None or not row.stale or (known is not None and known.unit == "position"):
            return known
        reader = spec.reader(row.session_id)
        for node in self.store.nodes(row.context_id, until=PROBED):
            record = remask(node, row.agent, self.redactor)
            with suppress(Exception):  # a reader's bug must not hide the whole session
                reader.feed(record, message_id(node.event_id))
            if (found := reader.facts().base) is not None:
                return found
        return None
