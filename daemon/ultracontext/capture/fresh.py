"""Sessions that are being read for the first time: what is known of them is what was read just now.

A backfill would otherwise ask the store for every record whether it holds it. A session of which
the store knew nothing when its first record came can only hold what came since; those ids are
remembered here, and the store is asked for no others.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container

from ultracontext.model import EventId, session_head
from ultracontext.store.base import SpaceStore

MOST_SESSIONS = 256
MOST_IDS = 32_768
"""About 3 MB; beyond it the session that was met longest ago is looked up like any other."""

Key = tuple[str, str]
"""(agent, session)."""


class Fresh:
    """Never says of a known event that it is new: it holds at least the ids that the store may
    hold, also of batches that were taken back."""

    def __init__(self, store: SpaceStore) -> None:
        self._store = store
        self._ids: OrderedDict[Key, set[EventId] | None] = OrderedDict()
        self._count = 0

    def is_new(self, key: Key, event: EventId, pending: Container[Key]) -> bool:
        """Whether the store surely does not know an event. `pending`: sessions with events on their
        way to the store."""
        if key not in self._ids:
            self._meet(key, pending)
        ids = self._ids[key]
        return ids is not None and event not in ids

    def _meet(self, key: Key, pending: Container[Key]) -> None:
        known = key in pending or self._store.knows_any(session_head(*key))
        self._ids[key] = None if known else set()
        if len(self._ids) > MOST_SESSIONS:
            _, ids = self._ids.popitem(last=False)
            self._count -= len(ids or ())

    def add(self, key: Key, event: EventId) -> None:
        """An event that is on its way to the store."""
        ids = self._ids.get(key)
        if ids is None or event in ids:
            return
        ids.add(event)
        self._count += 1
        while self._count > MOST_IDS:
            self._forget_one()

    def _forget_one(self) -> None:
        key = next(key for key, ids in self._ids.items() if ids)
        self._count -= len(self._ids[key] or ())
        self._ids[key] = None
