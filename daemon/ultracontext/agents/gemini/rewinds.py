"""Where the agent's list of messages lost some: a rewind, a failed prompt, a compression.

A log says so by `$rewindTo` and by `$set.messages`, a snapshot of the list (0.61.0); a document's
head lists its messages. A compression puts a summary in place of what it drops.
"""

from __future__ import annotations

from typing import Any

from ultracontext.agents.gemini.compat import TURNS
from ultracontext.agents.gemini.turns import is_injected
from ultracontext.agents.gemini.values import identifier, kind_of, mapping
from ultracontext.agents.gemini.values import listing as items_of
from ultracontext.agents.gemini.wrapping import CONTEXT, SUMMARY
from ultracontext.formats import Beginning

KEPT = 32
"""Of the list its end is remembered: what is dropped is there, or it is nearly all."""


class List:
    """The end of the list that one file holds, by the names of its records."""

    __slots__ = ("_live", "_opened", "_prefix", "_summary")

    def __init__(self, saved: Any, prefix: str) -> None:
        kept = mapping(saved)
        self._prefix = prefix
        self._live = [name for name in items_of(kept.get("live")) if type(name) is str]
        self._opened = kept.get("opened") is True
        """The last record was a metadata line: a process has begun."""
        self._summary = identifier(kept.get("summary"))
        """Of the last compression."""

    def next(self, native: dict[str, Any]) -> Beginning | None:
        """The version that begins with a record of a log, if one does."""
        target, update = native.get("$rewindTo"), native.get("$set")
        if type(target) is str:
            self._opened = False
            return self._rewound(target)
        if type(native.get("id")) is str:
            self._opened = False
            if _is_turn(native):
                self._append(_name(native))
            return None
        if type(update) is dict:
            return self._updated(update)
        if type(native.get("sessionId")) is str:
            self._opened = type(native.get("messages")) is not list
        return None

    def head(self, ids: list[Any]) -> Beginning | None:
        """The version that begins with a document's head, if one does."""
        named = [name for name in ids if type(name) is str]
        known = set(named)
        dropped = [name for name in self._live if name not in known]
        self._live = named[-KEPT:]
        if not dropped:
            return None
        names = (f"doc:{self._prefix}{kind}:{name}" for name in dropped for kind in sorted(TURNS))
        return Beginning(cause="rewind", records=tuple(names))

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"live": list(self._live)} if self._live else {}
        if self._summary is not None:
            state["summary"] = self._summary
        return {**state, "opened": True} if self._opened else state

    def _append(self, name: str) -> None:
        if name not in self._live:
            self._live.append(name)
            del self._live[:-KEPT]

    def _rewound(self, target: str) -> Beginning:
        names = [f"{kind}:{target}" for kind in sorted(TURNS)]
        place = next((n for n, name in enumerate(self._live) if name in names), 0)
        del self._live[place:]
        return Beginning(cause="rewind", first=tuple(self._prefix + name for name in names))

    def _updated(self, update: dict[str, Any]) -> Beginning | None:
        messages = update.get("messages")
        opened = self._opened
        if update.keys() - {"lastUpdated"}:
            self._opened = False
        if type(messages) is not list:
            return None
        items = [item for item in messages if type(item) is dict]
        if opened and all(is_injected(item, CONTEXT) for item in items):
            return None
        names = [_name(item) for item in items if _is_turn(item)]
        known = set(names)
        dropped = tuple(self._prefix + name for name in self._live if name not in known)
        self._live = names[-KEPT:]
        if self._compressed(items):
            return Beginning(cause="compaction")
        return Beginning(cause="rewind", records=dropped) if dropped else None

    def _compressed(self, items: list[dict[str, Any]]) -> bool:
        """Whether there is a summary that was not there before."""
        summary = next((_name(item) for item in items if is_injected(item, SUMMARY)), None)
        if summary is None or summary == self._summary:
            return False
        self._summary = summary
        return True


def _is_turn(native: dict[str, Any]) -> bool:
    """What the agent can undo; the context block is put in and taken out by the program."""
    return kind_of(native) in TURNS and not is_injected(native, CONTEXT)


def _name(native: dict[str, Any]) -> str:
    """As a record of a log is named."""
    return f"{kind_of(native)}:{identifier(native.get('id')) or ''}"
