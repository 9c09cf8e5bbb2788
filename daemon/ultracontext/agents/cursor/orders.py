"""Where a conversation's list of messages lost some: they were deleted, edited, or taken back.

A deletion changes nothing but the list in the conversation's own row (FORMAT.md section 5).
"""

from __future__ import annotations

from typing import Any

from ultracontext.agents.cursor.values import listing, mapping
from ultracontext.formats import Beginning

KEPT = 8
"""Of each list its end is remembered."""
SESSIONS = 16
"""Conversations of one database whose list is: those that changed last."""


class Orders:
    """The end of the list of each conversation of one source."""

    __slots__ = ("_ends",)

    def __init__(self, saved: Any) -> None:
        self._ends = {session: _names(end) for session, end in mapping(saved).items()}

    def next(self, session: str, order: Any, bubbles: str = "") -> Beginning | None:
        """The version that begins with a row, if one does; `bubbles` comes before an id in the name
        of a message's record."""
        names = _names(order)
        if not names:
            return None
        known = set(names)
        dropped = [name for name in self._ends.pop(session, ()) if name not in known]
        self._ends[session] = names[-KEPT:]
        if len(self._ends) > SESSIONS:
            del self._ends[next(iter(self._ends))]
        if not dropped:
            return None
        return Beginning(cause="rewind", records=tuple(bubbles + name for name in dropped))

    def state(self) -> dict[str, list[str]]:
        return dict(self._ends)


def _names(order: Any) -> list[str]:
    return [name for name in listing(order) if type(name) is str]
