"""Readers of sessions that are being captured, kept in step with the store.

A reader that was fed every record of its session gives exact facts with each commit. One that was
not (the session was captured by an earlier run) only tells kinds apart until it has been caught up,
record by record, in idle time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

import msgspec

from ultracontext.formats import AgentSpec, SessionReader
from ultracontext.logs import get_logger
from ultracontext.model import Base, EventId, Message, MessageId, SessionFacts, message_id
from ultracontext.redaction import MaskedRecord, Redactor
from ultracontext.store.base import ContextRow, FactsUpdate, SpaceStore, StoredNode
from ultracontext.store.beginning import Beginnings, remask

log = get_logger(__name__)

KEPT = 128
"""Readers in memory between two batches."""

SessionKey = tuple[str, str]


class Kept:
    """A session's reader, how many of its nodes it was fed, and whether that is all of them."""

    __slots__ = ("base", "exact", "fed", "reader", "whole")

    def __init__(self, reader: SessionReader, exact: bool) -> None:
        self.reader = reader
        self.exact = exact
        self.fed = 0
        self.base: Base | None = None
        """Where this copy of a session went on by itself; the reader does not know."""
        self.whole = False
        """Whether a beginning in another session was fed too."""


class Readers:
    """The readers of one engine."""

    def __init__(self, store: SpaceStore, redactor: Redactor, agents: Sequence[AgentSpec]) -> None:
        self._specs = {spec.slug: spec for spec in agents}
        self._store = store
        self._redactor = redactor
        self._kept: OrderedDict[SessionKey, Kept] = OrderedDict()
        self.orphans: dict[SessionKey, set[str]] = {}
        """Sessions that wait for their beginning, by the session that holds it."""
        self.failures = 0
        """Records at which a reader raised; they are stored all the same."""

    def feed(
        self, agent: str, session_id: str, record: MaskedRecord, name: MessageId, revision: int
    ) -> list[Message]:
        """Messages of one new record, in the order of the session."""
        kept = self._of(agent, session_id)
        if revision:
            kept.exact = False
        try:
            messages = kept.reader.feed(record, name)
        except Exception as error:  # noqa: BLE001 - a reader's bug must not cost the record
            kept.exact = False
            self.failures += 1
            log.warning(
                "reader_failed",
                agent=agent,
                session=session_id,
                position=record.start,
                error=type(error).__name__,
            )
            return []
        kept.fed += 1
        return messages

    def facts(self, agent: str, session_id: str) -> SessionFacts | None:
        """Exact facts, or None when they have to be computed from the store."""
        kept = self._kept.get((agent, session_id))
        if kept is None or not kept.exact:
            return None
        try:
            facts = kept.reader.facts()
        except Exception as error:  # noqa: BLE001 - as above
            kept.exact = False
            self.failures += 1
            log.warning(
                "reader_failed", agent=agent, session=session_id, error=type(error).__name__
            )
            return None
        if facts.base is not None and not kept.whole:
            kept.exact = False
            return None
        if kept.base is not None:
            return msgspec.structs.replace(
                facts, base=kept.base, relation="fork", parent_session=kept.base.session_id
            )
        return facts

    def trim(self) -> None:
        """Lets go of the readers that were used longest ago. Between batches only: a batch needs
        all."""
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def drop(self, keys: Iterator[SessionKey] | list[SessionKey]) -> None:
        """Forgets readers that ran ahead of a commit that failed."""
        for key in keys:
            self._kept.pop(key, None)

    def save(self, agent: str, session_id: str, facts: SessionFacts) -> None:
        """Writes facts that were caught up, unless the session has grown meanwhile."""
        row = self._store.by_session(agent, session_id)
        kept = self._kept.get((agent, session_id))
        if row is not None and kept is not None and row.nodes == kept.fed:
            update = FactsUpdate(agent=agent, session_id=session_id, facts=facts)
            self._store.save_facts([update], nodes={row.context_id: row.nodes})

    def _of(self, agent: str, session_id: str) -> Kept:
        key = (agent, session_id)
        kept = self._kept.get(key)
        if kept is None:
            fresh = self._store.by_session(agent, session_id) is None and "~" not in session_id
            kept = Kept(self._specs[agent].reader(session_id), exact=fresh)
            self._kept[key] = kept
        else:
            self._kept.move_to_end(key)
        return kept

    def catch_up(self, agent: str, session_id: str, step: int = 200) -> Iterator[None]:
        """Feeds a fresh reader all stored records, `step` at a time, and keeps it once it is level.

        Its beginning in another session is fed first; while that is missing, the session is listed
        in `orphans` and its facts are those of its own records.
        """
        row = self._store.by_session(agent, session_id)
        if row is None:
            return
        kept = Kept(self._specs[agent].reader(session_id), exact=True)
        whole = True
        mended: dict[EventId, tuple[str, str, str]] = {}
        for count, piece in enumerate(Beginnings(self._store, self._redactor).pieces(row), start=1):
            if piece.node is None or piece.record is None:
                whole = False
                continue
            messages = kept.reader.feed(piece.record, message_id(piece.node.event_id))
            if piece.row.context_id == row.context_id:
                kept.fed += 1
                mended |= _other_kinds(piece.node, messages)
            if count % step == 0:
                yield
        kept.whole = True
        if row.facts.base is not None and row.facts.base.unit == "position":
            kept.base = row.facts.base
        base = kept.base or kept.reader.facts().base
        if base is not None and not whole:
            self.orphans.setdefault((agent, base.session_id), set()).add(session_id)
        if mended:
            self._store.set_kinds(mended)
        now = self._store.by_session(agent, session_id)
        if now is not None and now.nodes == kept.fed:
            self._kept[agent, session_id] = kept


def _other_kinds(
    node: StoredNode, messages: Sequence[Message]
) -> dict[EventId, tuple[str, str, str]]:
    """What a node is, where that is not what is stored of it: what its first message is."""
    first = messages[0] if messages else None
    kinds = (first.kind, first.role, first.event_type) if first else ("meta", "system", "")
    same = kinds == (node.kind, node.role, node.event_type)
    return {} if same else {node.event_id: kinds}


def stored_records(
    store: SpaceStore, row: ContextRow, redactor: Redactor
) -> Iterator[MaskedRecord]:
    """All records of a context, in order."""
    for node in store.nodes(row.context_id):
        yield remask(node, row.agent, redactor)
