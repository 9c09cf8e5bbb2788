"""Records that their agent changes in place again and again: an answer that is being written.

Each look finds another content. Its first change is a revision, and while it goes on changing, that
revision is replaced; once it has rested, it is sealed, and what comes then is the next one. After a
restart nothing streams.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

from ultracontext.formats import Engine

if TYPE_CHECKING:
    from ultracontext.capture.ingest import Candidate

REST_SECONDS = 10.0
KEPT = 1024

Key = tuple[str, str, str | int]
"""(agent, session, name of the record)."""


class Streams:
    """The newest revision of each record that changed lately."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._newest: OrderedDict[Key, tuple[int, float]] = OrderedDict()

    def goes_on(self, candidate: Candidate, revision: int) -> bool:
        """Notes that a record gets the content `revision`; whether that is to replace the one
        before."""
        if not revision or candidate.source.facts.engine not in (Engine.DOCUMENT, Engine.DATABASE):
            return False
        slug, session = candidate.source.spec.slug, candidate.session_id
        if candidate.assignment.version is not None:
            self._seal(slug, session)
        key, now = (slug, session, candidate.name), self._monotonic()
        newest, at = self._newest.pop(key, (0, 0.0))
        replaces = newest == revision - 1 > 0 and now - at < REST_SECONDS
        self._newest[key] = (newest if replaces else revision, now)
        if len(self._newest) > KEPT:
            self._newest.popitem(last=False)
        return replaces

    def _seal(self, agent: str, session_id: str) -> None:
        """A version begins: what the one before holds stays."""
        for key in [key for key in self._newest if key[:2] == (agent, session_id)]:
            del self._newest[key]
