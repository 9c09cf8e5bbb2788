"""Reads the records of one Cursor conversation, of one store or of several.

Metadata, all optional: `origin` (`state.vscdb`, `store.db`, `transcript`, `txt`); `native_id` of
the bubble or blob; `model`; `media`; `status` of a tool; `lost_call_id` (a result whose call is
not there); `deleted` (its agent removed it), `superseded` (left behind by a compaction).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ultracontext.agents.cursor.blob import read_blob
from ultracontext.agents.cursor.bubble import read_bubble
from ultracontext.agents.cursor.entry import DB, KV, TRANSCRIPT, TXT, Entry, entry
from ultracontext.agents.cursor.facts import Facts
from ultracontext.agents.cursor.join import joined
from ultracontext.agents.cursor.lanes import Order, lanes
from ultracontext.agents.cursor.live import live
from ultracontext.agents.cursor.settle import settled
from ultracontext.agents.cursor.transcript import read_line, read_text
from ultracontext.agents.cursor.values import identifier, listing, mapping, moment
from ultracontext.formats.draft import Draft
from ultracontext.model import Base, Message, MessageId, SessionFacts
from ultracontext.redaction import MaskedRecord

BUBBLES = ("bubble", "inline", "tab-bubble")
HEADS = ("composer", "head", "row", "tab")
SUBAGENTS = "subagents"


class CursorReader:
    """Makes messages of a conversation's records, in the order of capture."""

    def __init__(self, session_id: str) -> None:
        self._facts = Facts(session_id)
        self._entries: dict[str, Entry] = {}
        self._orders: dict[str, Order] = {}
        self._delegated = False
        self._plan: tuple[list[str], dict[str, str], set[str]] | None = None

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        native = record.native
        if type(native) is not dict:
            return self._without_json(record, message_id)
        self._facts.note_companions(record)
        table = native.get("table")
        if type(table) is str and "key" in native and "value" in native:
            return self._row(table, native, message_id)
        self._note_place(record.source)
        if type(native.get("text")) is str and len(native) == 1:
            return self._text(_whole(record, native["text"]), message_id)
        draft = Draft(message_id, None, {"origin": TRANSCRIPT})
        read_line(native, draft, delegated=self._delegated)
        return self._done(draft, TRANSCRIPT, message_id)

    def settle(self, messages: list[Message]) -> list[Message]:
        order, marks, dropped = self._planned()
        return settled(messages, order, marks, dropped)

    def live(
        self, messages: list[Message], record: Callable[[str], MaskedRecord | None]
    ) -> list[Message]:
        del record
        return live(messages)

    def facts(self) -> SessionFacts:
        return self._facts.current(len(self._planned()[0]))

    def covers(self, record: MaskedRecord, base: Base) -> bool:
        """Never: each store holds a conversation from its beginning."""
        return False

    def _planned(self) -> tuple[list[str], dict[str, str], set[str]]:
        """What is shown in which order; computed once for what was fed."""
        if self._plan is None:
            order, marks = joined(lanes(self._entries.values(), self._orders))
            self._plan = order, marks, set(self._entries) - set(order)
        return self._plan

    # ---- rows --------------------------------------------------------------------------------
    def _row(self, table: str, native: dict[str, Any], message_id: MessageId) -> list[Message]:
        value = mapping(native.get("value"))
        key = native["key"] if type(native["key"]) is str else ""
        if table in BUBBLES:
            return self._bubble(table, key.rpartition(":")[2], value, message_id)
        if table == "blob":
            draft = Draft(message_id, None, {"origin": DB, "native_id": key})
            read_blob(value, draft)
            return self._done(draft, DB, key)
        if table in HEADS or table == "meta":
            return self._head(table, value, message_id)
        self._facts.note_unknown([f"table/{table}"])
        return self._bookkeeping(table, message_id)

    def _bubble(
        self, table: str, key: str, value: dict[str, Any], message_id: MessageId
    ) -> list[Message]:
        name = identifier(value.get("bubbleId")) or key
        draft = Draft(message_id, moment(value.get("createdAt")), {"origin": KV, "native_id": name})
        read_bubble(value, draft)
        self._facts.note_tokens(name, value.get("tokenCount"))
        return self._done(draft, KV, name, inline=table != "bubble")

    def _head(self, table: str, value: dict[str, Any], message_id: MessageId) -> list[Message]:
        self._facts.note_conversation(value)
        if "order" in value:
            ids = [name for name in map(identifier, listing(value["order"])) if name is not None]
            store = DB if table == "meta" else KV
            self._orders[store] = Order(ids, moment(value.get("lastUpdatedAt")))
            self._plan = None
        return self._bookkeeping(table, message_id)

    def _bookkeeping(self, kind: str, message_id: MessageId) -> list[Message]:
        draft = Draft(message_id, None, {})
        draft.meta(kind)
        return draft.messages

    # ---- transcripts -------------------------------------------------------------------------
    def _note_place(self, source: str) -> None:
        folders = source.replace("\\", "/").split("/")
        if len(folders) > 2 and folders[-2] == SUBAGENTS:
            self._delegated = True
            self._facts.note_parent(folders[-3])

    def _text(self, text: str, message_id: MessageId) -> list[Message]:
        draft = Draft(message_id, None, {"origin": TXT})
        read_text(text, draft, delegated=self._delegated)
        return self._done(draft, TXT, message_id)

    def _without_json(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        """A legacy transcript; else a record that is no JSON object: kept as it is, and counted."""
        sound = record.damage is None and record.too_large is None
        if sound and record.text is not None and record.source.endswith(".txt"):
            self._facts.note_companions(record)
            self._note_place(record.source)
            return self._text(record.text, message_id)
        why = "too_large" if record.too_large is not None else record.damage
        draft = Draft(message_id, None, {"damage": why} if why else {})
        draft.meta(why or "(no object)", record.text or "")
        if why is None:
            self._facts.note_unknown(["(no object)"])
        return draft.messages

    def _done(
        self, draft: Draft, store: str, native: str, *, inline: bool = False
    ) -> list[Message]:
        for message in draft.messages:
            if message.kind != "meta":
                self._entries[message.id] = entry(message, store, native, inline)
        self._plan = None
        self._facts.note_messages(draft.messages, sure=store in (TRANSCRIPT, TXT))
        self._facts.note_unknown(draft.unknown)
        return draft.messages


def _whole(record: MaskedRecord, text: str) -> str:
    """A transcript's text; a long one is kept beside its record."""
    for part in record.parts:
        if part.path == ("text",):
            return part.data.decode("utf-8", "surrogatepass")
    return text
