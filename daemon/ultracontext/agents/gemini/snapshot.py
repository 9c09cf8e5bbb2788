"""`$set.messages`, `$rewindTo` and documents' heads: what the agent holds of the session now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ultracontext.agents.gemini.compat import TURNS
from ultracontext.agents.gemini.parts import parse
from ultracontext.agents.gemini.timeline import Entry, Key, Stream, Timeline
from ultracontext.agents.gemini.tools import richness
from ultracontext.agents.gemini.turns import (
    Setting,
    is_injected,
    opening,
    read_turn,
    tokens,
    words,
)
from ultracontext.agents.gemini.values import identifier, kind_of
from ultracontext.agents.gemini.wrapping import CONTEXT, SUMMARY
from ultracontext.formats.draft import Draft


def key_of(native: dict[str, Any]) -> Key | None:
    """Name of a message; None where it has no id."""
    name = identifier(native.get("id"))
    return None if name is None else (kind_of(native), name)


def tell_turn(
    native: dict[str, Any], draft: Draft, timeline: Timeline, entry: Entry, setting: Setting
) -> None:
    """Reads a message into the draft, as what tells the entry from now on."""
    since = len(draft.messages)
    content = parse(native.get("content"))
    told = read_turn(native, content, draft, setting, entry)
    entry.turn = kind_of(native) in TURNS and opening(native, content) != CONTEXT
    entry.rich, entry.display = richness(native), bool(native.get("displayContent"))
    timeline.tell(entry, draft, since, told)
    timeline.say(entry, words(native, content))
    timeline.spend(entry, tokens(native))


class Snapshot:
    """A list of messages that replaces the agent's list, or is one document's whole content."""

    def __init__(
        self, items: list[Any], stream: Stream, timeline: Timeline, setting: Setting, start: int
    ) -> None:
        self._items = [item for item in items if type(item) is dict]
        self._stream = stream
        self._timeline = timeline
        self._setting = setting
        self._start = start

    def take(self, draft: Draft) -> None:
        """Tells what is new, marks what is no longer in the list."""
        compressed = self._resolve_and_tell(draft)
        if self._stream.document:
            return
        if self._stream.opened and all(is_injected(item, CONTEXT) for item in self._items):
            return
        self._replace(compressed)

    def _resolve_and_tell(self, draft: Draft) -> bool:
        """Finds or makes the entry of each item; whether there is a new summary."""
        self._entries: list[Entry] = []
        compressed = after = False
        for item, known in zip(self._items, self._known(), strict=True):
            summary = is_injected(item, SUMMARY)
            if known is None:
                self._setting.after_summary = after
                known = self._timeline.add(key_of(item))
                tell_turn(item, draft, self._timeline, known, self._setting)
                known.origin, known.start = self._stream, self._start
                compressed = compressed or summary
            else:
                self._reword(item, known, draft)
            self._join(item, known)
            after = summary or is_injected(item, CONTEXT)
            if summary:
                self._timeline.compress()
        self._setting.after_summary = False
        return compressed

    def _known(self) -> list[Entry | None]:
        """The entries by id, else by what the message says: a compression gives new ids."""
        found = [self._timeline.find(key_of(item)) for item in self._items]
        taken = {entry for entry in found if entry is not None}
        for place in range(len(found) - 1, -1, -1):
            if found[place] is not None:
                continue
            said = words(self._items[place], parse(self._items[place].get("content")))
            alike = self._timeline.alike(said, taken)
            if alike is not None:
                found[place] = alike
                taken.add(alike)
                key = key_of(self._items[place])
                if key is not None:
                    self._timeline.alias(key, alike)
        return found

    def _join(self, item: dict[str, Any], entry: Entry) -> None:
        self._entries.append(entry)
        if self._stream.document:
            place = identifier(item.get("id"))
            name = len(self._stream.sequence) if place is None else place
            entry.in_documents.append((self._stream, name))
            self._stream.sequence.append(entry)
        else:
            entry.in_log = True

    def _reword(self, item: dict[str, Any], entry: Entry, draft: Draft) -> None:
        """The agent's list has another text under a known id: the newest counts."""
        old = entry.told.text_id
        if old is None or entry.display or entry.later_than(self._stream, self._start):
            return
        if self._stream.document and entry.in_log:
            return
        content = parse(item.get("content"))
        text, said = content.text, words(item, content)
        if said == entry.words or not text.strip():
            return
        if entry.told.typed:
            draft.add("user", "user", "user", text)
        else:
            draft.add("assistant", "assistant", "gemini", text)
        self._timeline.swap_text(entry, draft.messages[-1].id)
        self._timeline.say(entry, said)

    def _replace(self, compressed: bool) -> None:
        stream, fresh = self._stream, dict.fromkeys(self._entries)
        gone = [entry for entry in stream.live if entry not in fresh]
        later = [entry for entry in gone if entry.later_than(stream, self._start)]
        dropped = [entry for entry in gone if not entry.later_than(stream, self._start)]
        if compressed:
            for entry in dropped:
                entry.compacted = not entry.undone
        else:
            self._timeline.undo(entry for entry in dropped if not entry.compacted)
        for entry in fresh:
            self._timeline.revive(entry)
        stream.live = {**fresh, **dict.fromkeys(later)}


def rewind(target: Any, stream: Stream, timeline: Timeline, start: int) -> None:
    """Undoes a message and all after it; an id that is not in the list undoes all of it."""
    name = identifier(target)
    wanted = {timeline.find((kind, name)) for kind in TURNS} if name is not None else set()
    live = list(stream.live)
    first = next((place for place, entry in enumerate(live) if entry in wanted), 0)
    undone = [entry for entry in live[first:] if not entry.later_than(stream, start)]
    timeline.undo(undone)
    for entry in undone:
        stream.live.pop(entry, None)


def head_ids(value: Any) -> Iterator[str]:
    """The ids in a document's head."""
    if type(value) is list:
        for name in value:
            if type(name) is str:
                yield name
