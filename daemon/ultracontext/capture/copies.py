"""Where a copy of a session's file went on by itself, by what its records follow.

Records with ids of their own do not collide in two copies, so that nothing but their parents shows
it: a record that follows one which another file's turns follow already begins a fork. Which file is
met first decides only which of the two keeps the session's name.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ultracontext.formats import Engine
from ultracontext.model import EventId, event_id
from ultracontext.store.base import SpaceStore

if TYPE_CHECKING:
    from ultracontext.capture.ingest import Batch, Candidate

SPEAKING = frozenset({"user", "assistant", "reasoning", "tool_call", "tool_result"})
"""Kinds of which a turn consists: what else trails one decides nothing."""
KEPT = 4096

Brought = tuple[EventId, int | None, str]
"""(event, the source that brought it, kind)."""


class Copies:
    """Which file each session grew by last. One per engine."""

    def __init__(self, store: SpaceStore, still_there: Callable[[int], bool]) -> None:
        self._store = store
        self._still_there = still_there
        self._growing: OrderedDict[tuple[str, str], int] = OrderedDict()

    def grew(self, agent: str, session_id: str, source_id: int) -> None:
        """A record with an id of its own is the session's newest; others say nothing of where a
        file goes on."""
        key = (agent, session_id)
        if self._growing.get(key) == source_id:
            return
        self._growing[key] = source_id
        if len(self._growing) > KEPT:
            self._growing.popitem(last=False)

    def parting(self, candidate: Candidate, batch: Batch) -> EventId | None:
        """The first event of the session that a new record's file has no part in; None where the
        record just goes on."""
        source, parent = candidate.source, candidate.assignment.parent
        mine, slug = source.saved.source_id, source.spec.slug
        if parent is None or source.branch is not None:
            return None
        if self._growing.get((slug, candidate.session_id)) == mine:
            return None
        if source.facts.engine not in (Engine.APPEND_LOG, Engine.COMPRESSED_LOG):
            return None
        above = event_id(slug, candidate.session_id, parent)
        for name, brought_by, kind in self._behind(slug, candidate.session_id, above, batch):
            if kind not in SPEAKING or brought_by is None or brought_by == mine:
                continue
            if self._still_there(brought_by):
                return name
        return None

    def _behind(
        self, agent: str, session_id: str, above: EventId, batch: Batch
    ) -> Iterator[Brought]:
        """What the session has behind an event, in order; nothing when the event is not there."""
        pending = [e for e in batch.events if e.session_id == session_id and not e.revision]
        place = next((n for n, e in enumerate(pending) if e.event_id == above), None)
        if place is None:
            position = self._store.position_of(above)
            row = self._store.by_session(agent, session_id)
            if position is None or row is None:
                return
            for node in self._store.nodes(row.context_id, first=position + 1):
                if node.kind in SPEAKING:
                    known = self._store.known_events([node.event_id]).get(node.event_id)
                    yield node.event_id, known.source_id if known else None, node.kind
        for event in pending[0 if place is None else place + 1 :]:
            yield event.event_id, event.source_id, event.kind
