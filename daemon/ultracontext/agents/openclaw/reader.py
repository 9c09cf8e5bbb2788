"""Reads the records of one OpenClaw session, of its file, of the database, or of both.

A record that stands in both stores is one: the database wins where they differ. Files of the first
version have no ids; the same messages under ids (rewritten or imported) are known by their content.

Metadata, all optional: `entry_id` of the record; `origin` (`file`, `sqlite`); `model`; `aborted`;
`media`; `exit_code`; `first_kept_entry_id` (compactions); `lost_call_id` (a result whose call was
not recorded); `branch: "abandoned"`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from ultracontext.agents.openclaw.content import read_event, texts
from ultracontext.agents.openclaw.facts import Facts
from ultracontext.agents.openclaw.live import live
from ultracontext.agents.openclaw.settle import settled
from ultracontext.agents.openclaw.tree import Tree
from ultracontext.agents.openclaw.values import as_json, identifier, mapping, moment
from ultracontext.formats.draft import Draft
from ultracontext.model import Base, Message, MessageId, SessionFacts
from ultracontext.redaction import MaskedRecord


class _Held:
    """What of a record is shown."""

    __slots__ = ("count", "digest", "message_id", "origin")

    def __init__(self, message_id: str, origin: str, digest: int) -> None:
        self.message_id = message_id
        self.origin = origin
        self.digest = digest
        self.count = 0


class OpenClawReader:
    """Makes messages of a session's records, in the order of capture."""

    def __init__(self, session_id: str) -> None:
        self._facts = Facts(session_id)
        self._tree = Tree()
        self._held: dict[str, _Held] = {}
        self._loose: dict[int, deque[str]] = {}
        """Messages without an id by their content."""
        self._gone: set[str] = set()
        """Records whose other version is shown."""
        self._last_answer: str | None = None
        self._messages = 0

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        native = record.native
        if type(native) is not dict:
            return self._opaque(record, message_id)
        if native.get("table") == "window" and "key" in native:
            self._facts.note_window(mapping(native.get("value")))
            return self._bookkeeping("window", message_id)
        if native.get("table") == "transcript" and "key" in native:
            return self._event(mapping(native.get("value")), "sqlite", record, message_id)
        return self._event(native, "file", record, message_id)

    def settle(self, messages: list[Message]) -> list[Message]:
        return settled(messages, self._gone, self._tree)

    def live(
        self, messages: list[Message], record: Callable[[str], MaskedRecord | None]
    ) -> list[Message]:
        del record
        return live(messages)

    def facts(self) -> SessionFacts:
        return self._facts.current(self._messages)

    def covers(self, record: MaskedRecord, base: Base) -> bool:
        """Never: a fork's file holds its whole beginning itself."""
        return False

    def _event(
        self, event: dict[str, Any], origin: str, record: MaskedRecord, message_id: MessageId
    ) -> list[Message]:
        message = mapping(event.get("message"))
        time = moment(event.get("timestamp")) or moment(message.get("timestamp"))
        self._facts.note_time(time)
        if event.get("type") == "session":
            self._facts.note_header(event, record)
            return self._bookkeeping("session", message_id, time)
        held = self._twin(event, origin, message_id)
        if held is not None:
            self._tree.again(event, held.message_id, origin)
            return []
        return self._fresh(event, origin, message_id, time)

    def _fresh(
        self, event: dict[str, Any], origin: str, message_id: MessageId, time: str | None
    ) -> list[Message]:
        named = identifier(event.get("id"))
        self._tree.note(event, message_id, origin)
        base: dict[str, Any] = {"origin": origin}
        if named is not None:
            base["entry_id"] = named
        draft = Draft(message_id, time, base)
        if self._is_repeat(event):
            draft.meta("message/repeat")
        else:
            read_event(event, draft)
            self._facts.note_event(event)
            self._facts.note_messages(draft.messages)
        self._facts.note_unknown(draft.unknown)
        self._hold(event, named, origin, draft.messages)
        return draft.messages

    def _is_repeat(self, event: dict[str, Any]) -> bool:
        """The second record of an answer that the program masked (2026.7): `api` is `cli`."""
        message = mapping(event.get("message"))
        if event.get("type") != "message" or message.get("role") != "assistant":
            return False
        said = texts(message.get("content"))
        if message.get("api") == "cli" and said and said == self._last_answer:
            return True
        self._last_answer = said or self._last_answer
        return False

    # ---- the same record twice -------------------------------------------------------------------
    def _twin(self, event: dict[str, Any], origin: str, message_id: str) -> _Held | None:
        """The record that is shown for this one, None when it is to be shown itself."""
        named = identifier(event.get("id"))
        digest = _content(event)
        if named is None:
            return None
        held = self._held.get(named)
        if held is None:
            return self._nameless(named, digest, origin)
        if held.digest == digest or (held.origin == "sqlite" and origin == "file"):
            return held
        self._gone.add(held.message_id)
        self._messages -= held.count
        return None

    def _nameless(self, named: str, digest: int, origin: str) -> _Held | None:
        waiting = self._loose.get(digest)
        if not waiting:
            return None
        held = _Held(waiting.popleft(), origin, digest)
        self._held[named] = held
        return held

    def _hold(
        self, event: dict[str, Any], named: str | None, origin: str, messages: list[Message]
    ) -> None:
        count = sum(message.kind != "meta" for message in messages)
        self._messages += count
        base = messages[0].id
        if named is None:
            if event.get("type") == "message":
                self._loose.setdefault(_content(event), deque()).append(base)
            return
        held = self._held[named] = _Held(base, origin, _content(event))
        held.count = count

    # ---- the rest --------------------------------------------------------------------------------
    def _bookkeeping(
        self, kind: str, message_id: MessageId, time: str | None = None
    ) -> list[Message]:
        draft = Draft(message_id, time, {})
        draft.meta(kind)
        return draft.messages

    def _opaque(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        """A record that is no JSON object: kept as it is, and counted."""
        why = "too_large" if record.too_large is not None else record.damage
        draft = Draft(message_id, None, {"damage": why} if why else {})
        draft.meta(why or "(no object)", record.text or "")
        if why is None:
            self._facts.note_unknown(["(no object)"])
        return draft.messages


def _content(event: dict[str, Any]) -> int:
    """Digest of what a record says, without its names and times."""
    message = event.get("message")
    if event.get("type") == "message" and type(message) is dict:
        keys = ("role", "content", "toolCallId", "summary", "command", "output")
        return hash(as_json([message.get(key) for key in keys]))
    own = {k: v for k, v in event.items() if k not in ("id", "parentId", "timestamp")}
    return hash(as_json(own))


def folder_of(record: MaskedRecord) -> str | None:
    """The header of a session says where it works; in the database it is a row's value."""
    native = mapping(record.native)
    event = mapping(native.get("value")) if native.get("table") == "transcript" else native
    cwd = event.get("cwd") if event.get("type") == "session" else None
    return cwd if type(cwd) is str and cwd else None
