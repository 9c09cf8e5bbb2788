"""The messages of a session as they stand after all records so far.

An entry is one message of the agent's, under whatever ids, in whatever files and as often as it was
written; a stream is one file of the session. Nothing is ever taken out: what the agent dropped is
marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ultracontext.agents.gemini.turns import Told
from ultracontext.formats.draft import Draft

Key = tuple[str, str]
"""(type, id) of a message."""


@dataclass(slots=True, eq=False)
class Stream:
    """One file of the session."""

    document: bool
    live: dict[Entry, None] = field(default_factory=dict)
    """A log's messages that the agent would send now, in order."""
    opened: bool = False
    """The last record was a metadata line: a process has begun."""
    kept: frozenset[str] | None = None
    """Ids of a document's messages by its newest head."""
    length: int = 0
    sequence: list[Entry] = field(default_factory=list)
    """A document's messages in order."""


@dataclass(slots=True, eq=False)
class Entry:
    """One message of the agent's, or one record of bookkeeping."""

    turn: bool = False
    """A prompt, an answer or results: what the agent can undo."""
    ids: list[str] = field(default_factory=list)
    """Of the messages that tell it, in order."""
    shown: int = 0
    """How many of them are not `meta`."""
    told: Told = field(default_factory=Told)
    words: int | None = None
    display: bool = False
    rich: tuple[int, int] = (0, 0)
    tokens: dict[str, int] = field(default_factory=dict)
    origin: Stream | None = None
    start: int = 0
    """Where its newest record begins in `origin`."""
    in_log: bool = False
    in_documents: list[tuple[Stream, str | int]] = field(default_factory=list)
    """Documents that hold it, with its id or place there."""
    undone: bool = False
    compacted: bool = False

    @property
    def deleted(self) -> bool:
        """No document that held it holds it still, and no log does."""
        if self.in_log or not self.in_documents:
            return False
        return all(_gone(stream, name) for stream, name in self.in_documents)

    def later_than(self, stream: Stream, start: int) -> bool:
        """Whether its newest record stands behind a place of the stream (revisions come early)."""
        return self.origin is stream and self.start > start


def _gone(stream: Stream, name: str | int) -> bool:
    if stream.kept is None:
        return False
    return name >= stream.length if isinstance(name, int) else name not in stream.kept


class Timeline:
    """All entries, in the order of their first record."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._keys: dict[Key, Entry] = {}
        self._by_words: dict[int, list[Entry]] = {}
        self._streams: dict[str, Stream] = {}
        self._issued: dict[str, Entry] = {}
        """Message id → its entry, also of messages that were replaced."""
        self._shown = 0
        self._undone = 0
        self._compressed = False
        self.usage: dict[str, int] = {}
        self._put_back: set[Entry] | None = None

    # ---- finding ---------------------------------------------------------------------------------
    def stream(self, source: str) -> Stream | None:
        return self._streams.get(source)

    def open(self, source: str, *, document: bool) -> Stream:
        """A file of the session that is new here."""
        found = self._streams[source] = Stream(document)
        return found

    def find(self, key: Key | None) -> Entry | None:
        return None if key is None else self._keys.get(key)

    def alike(self, words: int | None, taken: set[Entry]) -> Entry | None:
        """The last message that says the same and is not taken yet."""
        if words is None:
            return None
        candidates = self._by_words.get(words, ())
        return next((entry for entry in reversed(candidates) if entry not in taken), None)

    # ---- telling ---------------------------------------------------------------------------------
    def add(self, key: Key | None = None) -> Entry:
        entry = Entry()
        self._entries.append(entry)
        if key is not None:
            self._keys[key] = entry
        return entry

    def alias(self, key: Key, entry: Entry) -> None:
        """The same message under another id."""
        self._keys[key] = entry

    def tell(self, entry: Entry, draft: Draft, since: int, told: Told | None = None) -> None:
        """From now on the draft's messages from `since` on tell the entry."""
        new = draft.messages[since:]
        entry.ids = [message.id for message in new]
        self._count(entry, sum(message.kind != "meta" for message in new))
        entry.told = told or Told()
        for name in entry.ids:
            self._issued[name] = entry
        self._put_back = None

    def swap_text(self, entry: Entry, name: str) -> None:
        """The entry's text is told by another message now."""
        old = entry.told.text_id
        if old in entry.ids:
            entry.ids[entry.ids.index(old)] = name
        entry.told.text_id = name
        self._issued[name] = entry
        self._put_back = None

    def spend(self, entry: Entry, tokens: dict[str, int]) -> None:
        """An answer's tokens; its later contents replace the earlier."""
        for kind in {**entry.tokens, **tokens}:
            step = tokens.get(kind, 0) - entry.tokens.get(kind, 0)
            self.usage[kind] = self.usage.get(kind, 0) + step
        entry.tokens = tokens

    def say(self, entry: Entry, words: int | None) -> None:
        """Notes what the entry says, to know it again."""
        if words is None or words == entry.words:
            return
        entry.words = words
        self._by_words.setdefault(words, []).append(entry)

    def _count(self, entry: Entry, shown: int) -> None:
        self._shown += shown - entry.shown
        entry.shown = shown

    # ---- marking ---------------------------------------------------------------------------------
    def undo(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            if entry.turn and not entry.undone:
                entry.undone = True
                self._undone += 1
                self._put_back = None

    def compress(self) -> None:
        """The agent's list has a summary in place of turns."""
        self._compressed = True
        self._put_back = None

    def revive(self, entry: Entry) -> None:
        entry.compacted = False
        if entry.undone:
            entry.undone = False
            self._undone -= 1
            self._put_back = None

    # ---- the result ------------------------------------------------------------------------------
    @property
    def shown(self) -> int:
        """Messages that are not `meta`."""
        return self._shown - sum(entry.shown for entry in self.put_back)

    @property
    def put_back(self) -> set[Entry]:
        """Undone prompts whose words are the next prompt that stands: they are one prompt.

        None in a compressed session: what was dropped there, and why, is less sure.
        """
        if self._put_back is None:
            self._put_back = self._find_put_back()
        return self._put_back

    def _find_put_back(self) -> set[Entry]:
        found: set[Entry] = set()
        standing: int | None = None
        looked_at = self._undone and not self._compressed
        for entry in reversed(self._entries) if looked_at else ():
            if not entry.told.typed:
                continue
            if not entry.undone:
                standing = entry.told.said
            elif entry.in_log and standing is not None and standing == entry.told.said:
                found.add(entry)
        return found

    def first_prompt(self) -> str | None:
        """The first prompt that stands, else the first at all."""
        first: str | None = None
        for entry in self.order():
            if entry.told.title is not None:
                if not entry.undone:
                    return entry.told.title
                first = first or entry.told.title
        return first

    def owner(self, name: str) -> Entry | None:
        """The entry that a message was made for."""
        return self._issued.get(name)

    def order(self) -> list[Entry]:
        """All entries; what only a document has stands behind the message before it there."""
        if not any(stream.document for stream in self._streams.values()):
            return self._entries
        alone = {e for e in self._entries if e.in_documents and not e.in_log}
        if not alone or not any(entry.in_log for entry in self._entries):
            return self._entries
        behind: dict[Entry | None, list[Entry]] = {}
        for stream in self._streams.values():
            before: Entry | None = None
            for entry in stream.sequence:
                if entry in alone:
                    behind.setdefault(before, []).append(entry)
                    alone.discard(entry)
                before = entry
        first = [None, *(e for e in self._entries if e.in_log or not e.in_documents)]
        return [entry for entry in _woven(first, behind) if entry is not None]


def _woven(
    first: list[Entry | None], behind: dict[Entry | None, list[Entry]]
) -> Iterator[Entry | None]:
    stack: list[Any] = list(reversed(first))
    while stack:
        entry = stack.pop()
        yield entry
        stack.extend(reversed(behind.get(entry, ())))
