"""Where a session goes on from an earlier record, and where it was compacted.

Records are a tree by `parentId`; the next record's parent is the leaf, which a `leaf` record moves
(FORMAT.md sections 3 and 5, runs of 2026.7.35 and 2026.9.6; `leaf` from the source).
"""

from __future__ import annotations

from typing import Any

from ultracontext.agents.openclaw.values import identifier, mapping
from ultracontext.formats import Beginning

KEPT = 32
"""Sessions of one database whose leaf is remembered: those that grew last."""


class Leaves:
    """The leaf of each session of one source."""

    __slots__ = ("_leaves",)

    def __init__(self, saved: Any) -> None:
        self._leaves = {k: v for k, v in mapping(saved).items() if type(v) is str}

    def next(self, session: str, event: dict[str, Any], prefix: str = "") -> Beginning | None:
        """The version that begins with a record, if one does."""
        name, leaf = identifier(event.get("id")), self._leaves.pop(session, None)
        if event.get("type") == "leaf":
            target = identifier(event.get("targetId"))
            self._keep(session, target or leaf)
            moved = target is not None and target != leaf
            return Beginning(cause="rewind", after=f"{prefix}{target}") if moved else None
        self._keep(session, name or leaf)
        parent = identifier(event.get("parentId"))
        if leaf is not None and parent is not None and parent != leaf:
            return Beginning(cause="rewind", after=f"{prefix}{parent}")
        return Beginning(cause="compaction") if event.get("type") == "compaction" else None

    def _keep(self, session: str, leaf: str | None) -> None:
        if leaf is not None:
            self._leaves[session] = leaf
        if len(self._leaves) > KEPT:
            del self._leaves[next(iter(self._leaves))]

    def state(self) -> dict[str, str]:
        return dict(self._leaves)
