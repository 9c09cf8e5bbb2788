"""Reads the records of one Gemini CLI session, of one file or of several.

One message for each part of a turn: typed text, thought, answer, call, result (`turns` says what
else there is). Bookkeeping is `meta` with `event_type` `metadata`, `$set` or `$rewindTo`; a line
with nothing but `lastUpdated`, and a copy of what was told, give no message.

Metadata, all optional: `message_id` (the agent's), `model`, `media`; `status`, `spilled`,
`subagent` of calls and results; `guarded` (a text that our writer saved); and what the agent did
with a turn later, which is kept all the same: `undone` (rewound, failed or cancelled), `put_back`
(an undone prompt that was sent again in the same words), `deleted` (gone from a document),
`compacted` (the model has the summary instead).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ultracontext.agents.gemini.compat import NOTICES, TURNS
from ultracontext.agents.gemini.facts import Facts
from ultracontext.agents.gemini.layout import is_document
from ultracontext.agents.gemini.live import live
from ultracontext.agents.gemini.parts import parse
from ultracontext.agents.gemini.settle import settled
from ultracontext.agents.gemini.snapshot import Snapshot, head_ids, key_of, rewind, tell_turn
from ultracontext.agents.gemini.timeline import Entry, Stream, Timeline
from ultracontext.agents.gemini.tools import Ledger, richness
from ultracontext.agents.gemini.turns import Setting
from ultracontext.agents.gemini.values import identifier, kind_of, mapping, text_or_none
from ultracontext.agents.gemini.wrapping import CONTEXT, injected
from ultracontext.formats.draft import Draft
from ultracontext.model import Base, Message, MessageId, SessionFacts
from ultracontext.redaction import MaskedRecord

_ROLES = {"user": "user", "model": "gemini"}
"""Roles of a Content, as a checkpoint has it, and the types of messages."""


class GeminiReader:
    """Makes messages of a session's records, in the order of their files."""

    def __init__(self, session_id: str) -> None:
        self._facts = Facts(session_id)
        self._timeline = Timeline()
        self._ledger = Ledger()

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        draft = Draft(message_id)
        native = record.native
        if type(native) is not dict:
            self._opaque(record, draft)
            return draft.messages
        stream = self._stream(record)
        self._read(native, record, draft, stream)
        self._facts.count_unknown(draft.unknown)
        self._facts.note_messages(draft.messages)
        return draft.messages

    def _stream(self, record: MaskedRecord) -> Stream:
        """The file of a record; what its path and its companions say is noted."""
        if record.companions:
            self._facts.project.note_companions(record.source, record.companions)
        found = self._timeline.stream(record.source)
        if found is None:
            self._facts.note_source(record.source)
            found = self._timeline.open(record.source, document=is_document(record.source))
        return found

    def settle(self, messages: list[Message]) -> list[Message]:
        return settled(messages, self._timeline)

    def live(
        self, messages: list[Message], record: Callable[[str], MaskedRecord | None]
    ) -> list[Message]:
        del record
        return live(messages)

    def facts(self) -> SessionFacts:
        return self._facts.current(self._timeline)

    def covers(self, record: MaskedRecord, base: Base) -> bool:
        """Never: a session's files hold its whole beginning themselves."""
        return False

    def _read(
        self, native: dict[str, Any], record: MaskedRecord, draft: Draft, stream: Stream
    ) -> None:
        """Takes a record for what the program takes it, in the program's order (0.61.0)."""
        if type(native.get("$rewindTo")) is str:
            self._rewind(native["$rewindTo"], record, draft, stream)
        elif type(native.get("id")) is str or (stream.document and kind_of(native) in TURNS):
            self._turn(native, record, draft, stream)
        elif type(native.get("$set")) is dict:
            self._update(native["$set"], record, draft, stream)
        elif type(native.get("sessionId")) is str or type(native.get("messages")) is list:
            self._head(native, record, draft, stream)
        elif type(native.get("history")) is list:
            messages = [_as_turn(item) or item for item in native["history"]]
            self._head({**native, "messages": messages}, record, draft, stream)
        elif (turn := _as_turn(native)) is not None:
            self._turn(turn, record, draft, stream)
        else:
            self._unknown(native, draft)

    # ---- turns -----------------------------------------------------------------------------------
    def _turn(
        self, native: dict[str, Any], record: MaskedRecord, draft: Draft, stream: Stream
    ) -> None:
        stream.opened = False
        key = key_of(native)
        entry = self._timeline.find(key)
        if entry is None:
            entry = self._timeline.add(key)
            self._tell(native, record, draft, entry)
        elif not _poorer(native, entry, stream):
            self._tell(native, record, draft, entry)
        self._place(native, record, entry, stream)
        self._facts.note_turn(native)
        self._note_context(native)

    def _tell(
        self, native: dict[str, Any], record: MaskedRecord, draft: Draft, entry: Entry
    ) -> None:
        name = identifier(native.get("id"))
        if name is not None:
            draft.base = {"message_id": name}
        tell_turn(native, draft, self._timeline, entry, self._setting(record))

    def _place(
        self, native: dict[str, Any], record: MaskedRecord, entry: Entry, stream: Stream
    ) -> None:
        name = identifier(native.get("id"))
        if stream.document:
            place = len(stream.sequence) if name is None else name
            if (stream, place) not in entry.in_documents:
                entry.in_documents.append((stream, place))
                stream.sequence.append(entry)
            return
        entry.in_log = True
        entry.origin, entry.start = stream, record.start
        if kind_of(native) not in NOTICES:
            stream.live[entry] = None
        self._timeline.revive(entry)

    def _setting(self, record: MaskedRecord) -> Setting:
        return Setting(self._ledger, self._facts.delegated, record.companions)

    def _note_context(self, native: dict[str, Any]) -> None:
        if self._facts.project.path is not None or native.get("type") != "user":
            return
        for piece in parse(native.get("content")).pieces:
            if injected(piece) == CONTEXT:
                self._facts.project.note_context(piece)

    # ---- lists -----------------------------------------------------------------------------------
    def _snapshot(
        self, items: list[Any], record: MaskedRecord, draft: Draft, stream: Stream
    ) -> None:
        self._book(draft, {"messages": len(items)})
        snapshot = Snapshot(items, stream, self._timeline, self._setting(record), record.start)
        snapshot.take(draft)
        for item in items:
            self._facts.note_turn(mapping(item))
            self._note_context(mapping(item))

    def _book(self, draft: Draft, extra: dict[str, Any], event_type: str = "$set") -> None:
        """A record of bookkeeping: one `meta` message, before all others of its record."""
        draft.meta(event_type, extra=extra)
        self._timeline.tell(self._timeline.add(), draft, len(draft.messages) - 1)

    def _update(
        self, update: dict[str, Any], record: MaskedRecord, draft: Draft, stream: Stream
    ) -> None:
        self._facts.note_settings(update, record.source)
        self._facts.note_update(update)
        messages = update.get("messages")
        if type(messages) is list:
            self._snapshot(messages, record, draft, stream)
        elif update.keys() - {"lastUpdated", "sessionId"}:
            self._book(draft, {"fields": sorted(name[:40] for name in update)[:20]})
        if update.keys() - {"lastUpdated"}:
            stream.opened = False

    def _head(
        self, native: dict[str, Any], record: MaskedRecord, draft: Draft, stream: Stream
    ) -> None:
        """A metadata line, a document's head, or a document in one piece."""
        self._facts.note_settings(native, record.source)
        messages = native.get("messages")
        if type(messages) is not list:
            self._book(draft, {}, "metadata")
            stream.opened = True
        elif any(type(item) is dict for item in messages):
            self._snapshot(messages, record, draft, stream)
        else:
            self._book(draft, {}, "metadata")
            if stream.document:
                stream.kept, stream.length = frozenset(head_ids(messages)), len(messages)

    def _rewind(self, target: str, record: MaskedRecord, draft: Draft, stream: Stream) -> None:
        stream.opened = False
        self._book(draft, {"message_id": target[:200]}, "$rewindTo")
        rewind(target, stream, self._timeline, record.start)

    # ---- the rest --------------------------------------------------------------------------------
    def _opaque(self, record: MaskedRecord, draft: Draft) -> None:
        """A record that is no JSON object: kept as it is, and counted."""
        why = "too_large" if record.too_large is not None else record.damage
        draft.meta(why or "(no object)", record.text or "", {"damage": why} if why else None)
        self._timeline.tell(self._timeline.add(), draft, 0)
        if why is None:
            self._facts.count_unknown(["(no object)"])

    def _unknown(self, native: dict[str, Any], draft: Draft) -> None:
        """A record of a kind that is new to us, or a message that the agent does not read."""
        named = text_or_none(native.get("type"))
        if named is None:
            named = next((name for name in native if name.startswith("$")), "(none)")
        text = parse(native.get("content")).text if named in TURNS else ""
        draft.meta(named[:40], text)
        draft.unknown.append(named)
        self._timeline.tell(self._timeline.add(), draft, 0)


def _as_turn(native: Any) -> dict[str, Any] | None:
    """A Content as a message; None for anything else."""
    if type(native) is not dict or "parts" not in native or type(native.get("role")) is not str:
        return None
    kind = _ROLES.get(native["role"])
    return None if kind is None else {"type": kind, "content": native["parts"]}


def _poorer(native: dict[str, Any], entry: Entry, stream: Stream) -> bool:
    """Whether a message that comes again says less than what is known of it."""
    if stream.document and entry.in_log:
        return True
    calls, results = richness(native)
    if calls < entry.rich[0] or results < entry.rich[1]:
        return True
    return entry.display and not native.get("displayContent")
