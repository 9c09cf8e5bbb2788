"""The tree that a session's records form, and the branch that is the conversation.

The leaf is the last record, or the target of a `leaf` record that is the last. A parent that is not
there counts as the record before: the program loses what is above such a gap, we keep it.
"""

from __future__ import annotations

from typing import Any

from ultracontext.agents.openclaw.values import identifier


class Tree:
    """Records by id, in the order of arrival. One without an id gets a name of its own."""

    def __init__(self) -> None:
        self._parents: dict[str, str | None] = {}
        self._places: dict[str, int] = {}
        self._before: dict[str, str | None] = {}
        self._names: dict[str, str] = {}
        """Message id of a record → its name in the tree."""
        self._last: dict[str, str] = {}
        """Newest record of each store."""
        self._targets: dict[str, str] = {}
        self._others: dict[str, str] = {}
        """Names that were given later to records without one."""

    def note(self, event: dict[str, Any], message_id: str, store: str) -> None:
        """A record that is new to the session."""
        name = identifier(event.get("id")) or f"#{message_id}"
        self._names[message_id] = name
        if name not in self._places:
            self._places[name] = len(self._places)
            self._before[name] = self._last.get(store)
            self._parents[name] = self._parent(event, self._before[name])
        self._advance(event, name, store)

    def again(self, event: dict[str, Any], message_id: str, store: str) -> None:
        """A record whose content came before, under the message id of the first."""
        name = identifier(event.get("id")) or f"#{message_id}"
        held = self._names.get(message_id)
        if held is not None and held != name:
            self._others[name] = held
        self._advance(event, held or name, store)

    @staticmethod
    def _parent(event: dict[str, Any], before: str | None) -> str | None:
        if "parentId" not in event:
            return before
        return identifier(event["parentId"])

    def _advance(self, event: dict[str, Any], name: str, store: str) -> None:
        self._last[store] = name
        target = identifier(event.get("targetId")) if event.get("type") == "leaf" else None
        if target is not None:
            self._targets[name] = target

    def branch(self) -> list[str]:
        """Names from the root to the leaf."""
        name = self._last.get("sqlite") or self._last.get("file")
        target = self._known(self._targets.get(name or ""))
        name = target or name
        path: list[str] = []
        seen: set[str] = set()
        while name is not None and name not in seen:
            seen.add(name)
            path.append(name)
            parent = self._parents.get(name)
            name = (self._known(parent) or self._before.get(name)) if parent is not None else None
        return path[::-1]

    def _known(self, name: str | None) -> str | None:
        name = self._others.get(name or "", name)
        return name if name in self._places else None

    def name_of(self, message_id: str) -> str | None:
        """The tree's name of the record that a message is of."""
        return self._names.get(message_id.partition(".")[0])
