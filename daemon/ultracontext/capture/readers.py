"""Readers of sessions that are being captured, kept in step with the store.

A reader that was fed every record of its session gives exact facts with each commit. One that was not
(the session was captured by an earlier run) only tells kinds apart until it has been caught up, record by
record, in idle time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence

import structlog

from ultracontext.formats import AgentSpec, SessionReader
from ultracontext.model import Message, MessageId, RawRecord, SessionFacts, message_id
from ultracontext.redaction import MaskedRecord, Redactor
from ultracontext.store.base import ContextRow, FactsUpdate, SpaceStore, StoredNode

log = structlog.get_logger(__name__)

KEPT = 128
"""Readers in memory."""

SessionKey = tuple[str, str]


class Kept:
    """A session's reader, how many of its nodes it was fed, and whether that is all of them."""

    __slots__ = ("broken", "exact", "fed", "reader")

    def __init__(self, reader: SessionReader, exact: bool) -> None:
        self.reader = reader
        self.exact = exact
        self.fed = 0
        self.broken = False


class Readers:
    """The readers of one engine."""

    def __init__(
        self, store: SpaceStore, redactor: Redactor, agents: Sequence[AgentSpec]
    ) -> None:
        self._specs = {spec.slug: spec for spec in agents}
        self._store = store
        self._redactor = redactor
        self._kept: OrderedDict[SessionKey, Kept] = OrderedDict()
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
        if facts.base is not None:
            kept.exact = False
            return None
        return facts

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
            fresh = self._store.by_session(agent, session_id) is None
            kept = Kept(self._specs[agent].reader(session_id), exact=fresh and "~" not in session_id)
            self._kept[key] = kept
            if len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        else:
            self._kept.move_to_end(key)
        return kept

    def catch_up(self, agent: str, session_id: str, step: int = 200) -> Iterator[None]:
        """Feeds a fresh reader all stored records, `step` at a time, and keeps it once it is level."""
        row = self._store.by_session(agent, session_id)
        if row is None:
            return
        kept = Kept(self._specs[agent].reader(session_id), exact=True)
        for count, node in enumerate(self._store.nodes(row.context_id), start=1):
            kept.reader.feed(masked(node, agent, self._redactor), message_id(node.event_id))
            kept.fed = count
            if count % step == 0:
                yield
        now = self._store.by_session(agent, session_id)
        if now is not None and now.nodes == kept.fed and kept.reader.facts().base is None:
            self._kept[agent, session_id] = kept


def masked(node: StoredNode, agent: str, redactor: Redactor) -> MaskedRecord:
    """A stored node as a masked record again, under today's rules."""
    data = node.body
    if not data and node.text is not None and node.too_large is None:
        data = node.text.encode("utf-8", "surrogatepass")
    raw = RawRecord(
        agent=agent,
        source=node.source_path,
        start=node.start,
        end=node.end,
        data=data,
        companions={k: v.encode("utf-8", "surrogatepass") for k, v in node.companions.items()},
        damage=node.damage,
        too_large=node.too_large,
    )
    return redactor.redact(raw)


def stored_records(
    store: SpaceStore, row: ContextRow, redactor: Redactor
) -> Iterator[MaskedRecord]:
    """All records of a context, in order."""
    for node in store.nodes(row.context_id):
        yield masked(node, row.agent, redactor)
