"""Where turns of a thread were taken back, and where it was compacted (FORMAT.md sections 3 and 7).

`thread_rolled_back` undoes the last `num_turns` turns (0.125 and later); a turn begins with a
prompt, whose item stands right before its event. Records have no ids: ordinals name them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultracontext.agents.codex.events import UNDO
from ultracontext.agents.codex.line import Dict, as_dict, as_text
from ultracontext.formats import Beginning

KEPT = 32
"""Turns whose begin is remembered; undoing more than these undoes from the oldest of them on."""


class Turns:
    """Follows the records of one rollout."""

    __slots__ = ("_count", "_item", "_starts")

    def __init__(self, saved: Mapping[str, Any]) -> None:
        count, starts = saved.get("count"), saved.get("starts")
        self._count = count if type(count) is int else 0
        """Records so far."""
        self._starts = [n for n in starts if type(n) is int] if type(starts) is list else []
        self._item = saved.get("item") is True
        """The record before was a user item."""

    def next(self, native: Dict) -> Beginning | None:
        """The version that begins with a record, if one does."""
        place, before = self._count, self._item
        self._count += 1
        self._item = False
        match native.get("type"):
            case "response_item":
                payload = as_dict(native.get("payload"))
                self._item = payload.get("role") == "user"
            case "event_msg":
                return self._event(as_dict(native.get("payload")), place - before)
            case "compacted":
                return Beginning(cause="compaction")
            case _:
                pass
        return None

    def _event(self, payload: Dict, start: int) -> Beginning | None:
        kind = as_text(payload.get("type"))
        item = as_dict(payload.get("item")).get("type") if kind == "item_completed" else None
        if kind == "user_message" or item == "UserMessage":
            self._starts.append(start)
            del self._starts[:-KEPT]
        elif kind == UNDO:
            return self._undone(payload.get("num_turns"))
        return None

    def _undone(self, turns: object) -> Beginning | None:
        if type(turns) is not int or turns < 1 or not self._starts:
            return None
        first = self._starts[-turns] if turns <= len(self._starts) else self._starts[0]
        del self._starts[-turns:]
        return Beginning(cause="rewind", first=(first,))

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"count": self._count, "starts": list(self._starts)}
        return {**state, "item": True} if self._item else state
