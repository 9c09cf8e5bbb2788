"""Messages and facts of one Codex thread, from its masked records in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ultracontext.agents.codex import events, items
from ultracontext.agents.codex.assign import meta_id
from ultracontext.agents.codex.content import texts
from ultracontext.agents.codex.instant import utc
from ultracontext.agents.codex.items import Handler
from ultracontext.agents.codex.line import Dict, Line, as_dict, as_text
from ultracontext.agents.codex.live import live
from ultracontext.agents.codex.settle import settled
from ultracontext.agents.codex.state import State
from ultracontext.model import Base, Message, MessageId, SessionFacts
from ultracontext.redaction import MaskedRecord

IMPORTED = "imported_thread_id"


class Reader:
    """One session's reader; see `formats.SessionReader`.

    `feed` shows each text where it stands first; what repeats it is `meta` with a pointer, which
    `settle` resolves. So the number of messages grows by what `feed` returns and nothing is counted
    back: `settle` only changes the kind of a message between kinds that count.

    Of a fork by `history_base` the records of the base, as far as `covers` goes, are fed first,
    then its own ones. Facts are the fork's own: started, folder and usage; the title is its own
    first prompt, else the base's.
    """

    __slots__ = ("_covering", "_state")

    def __init__(self, session_id: str) -> None:
        self._state = State(session_id)
        self._covering = True

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        native = record.native
        if type(native) is not dict:
            return self._opaque(record, message_id)
        kind = native.get("type")
        time = utc(native.get("timestamp"))
        line = Line(message_id, time, native)
        handler = RECORDS.get(kind) if type(kind) is str else None
        if handler is None or type(payload := native.get("payload")) is not dict:
            messages = bare(self._state, line, native)
        else:
            messages = handler(self._state, line, payload)
        session = self._state.session
        if time is not None and "thread_name" not in native:
            session.touch(time)
        session.count(messages)
        return messages

    def settle(self, messages: list[Message]) -> list[Message]:
        return settled(messages, delegated=self._state.session.subagent)

    def live(
        self, messages: list[Message], record: Callable[[str], MaskedRecord | None]
    ) -> list[Message]:
        return live(messages, record)

    def facts(self) -> SessionFacts:
        return self._state.session.value()

    def covers(self, record: MaskedRecord, base: Base) -> bool:
        """Records without a number (damaged ones) go with the one before; names never belong."""
        native = record.native
        if type(native) is dict:
            if "payload" not in native and ("thread_name" in native or IMPORTED in native):
                return False
            ordinal = native.get("ordinal")
            if type(ordinal) is int:
                self._covering = ordinal < base.end
        return self._covering

    def _opaque(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        """A record that is no JSON object, or too large to be read."""
        line = Line(message_id, None, {})
        if record.too_large is not None:
            size, digest = record.too_large
            self._state.session.messages += 1
            text = f"[record of {size} bytes]"
            known: Dict = {"bytes": size, "digest": digest}
            return [line.message("system", "too_large", text, metadata=known)]
        if record.damage is None and record.text is None:
            self._state.session.count_unknown(f"json/{type(record.native).__name__}")
        facts: Dict = {"damage": record.damage} if record.damage else {}
        return [line.message("meta", "opaque", record.text or "", metadata=facts)]


def response_item(state: State, line: Line, payload: Dict) -> list[Message]:
    return _typed(state, line, payload, "response_item", items.HANDLERS, items.BOOKKEEPING)


def event_msg(state: State, line: Line, payload: Dict) -> list[Message]:
    return _typed(state, line, payload, "event_msg", events.HANDLERS, events.BOOKKEEPING)


def _typed(
    state: State,
    line: Line,
    payload: Dict,
    outer: str,
    handlers: dict[str, Handler],
    bookkeeping: frozenset[str],
) -> list[Message]:
    kind = payload.get("type")
    if type(kind) is not str:
        kind = ""
    handler = handlers.get(kind)
    if handler is not None:
        return handler(state, line, payload)
    event_type = f"{outer}/{kind}"
    if kind not in bookkeeping:
        state.session.count_unknown(event_type)
    return [line.message("meta", event_type)]


def session_meta(state: State, line: Line, payload: Dict) -> list[Message]:
    state.session.meta(payload, line.time)
    return [line.message("meta", "session_meta")]


def turn_context(state: State, line: Line, payload: Dict) -> list[Message]:
    state.session.context(payload)
    return [line.message("meta", "turn_context")]


def token_usage_record(state: State, line: Line, payload: Dict) -> list[Message]:
    state.session.copied(line.time)
    state.session.record_tokens(payload)
    return [line.message("meta", "token_usage_record")]


def world_state(state: State, line: Line, payload: Dict) -> list[Message]:
    del state, payload
    return [line.message("meta", "world_state")]


def compacted(state: State, line: Line, payload: Dict) -> list[Message]:
    """From here on the model saw `replacement_history`, or the prompts so far and this summary."""
    state.twins.pause()
    text = as_text(payload.get("message"))
    history = payload.get("replacement_history")
    metadata: dict[str, Any] = {"compaction": True}
    if type(history) is list:
        metadata["replacement_items"] = len(history)
    return [line.message("system", "compacted", text or "[context compacted]", metadata=metadata)]


def inter_agent_communication(state: State, line: Line, payload: Dict) -> list[Message]:
    """S: openai/codex, codex-rs/protocol/src/protocol.rs, 2026."""
    del state
    text = "\n".join(texts(payload.get("content")))
    told = items.writers(payload)
    return [line.message("system", "inter_agent_communication", text, metadata=told)]


RECORDS: dict[str, Callable[[State, Line, Dict], list[Message]]] = {
    "response_item": response_item,
    "event_msg": event_msg,
    "session_meta": session_meta,
    "turn_context": turn_context,
    "token_usage_record": token_usage_record,
    "world_state": world_state,
    "compacted": compacted,
    "inter_agent_communication": inter_agent_communication,
}


def bare(state: State, line: Line, native: Dict) -> list[Message]:
    """Records without an envelope that we know, and everything that we do not know.

    Names from `session_index.jsonl`; and lines of Codex before September 2025, where meta and items
    stood bare (S: openai/codex, codex-rs/core/src/rollout.rs, August 2025).
    """
    kind = native.get("type")
    if "payload" not in native:
        if "thread_name" in native:
            state.session.name(native["thread_name"])
            name = as_text(native["thread_name"])
            return [line.message("meta", "session_index/thread_name", name)]
        if IMPORTED in native:
            state.session.imported(native.get("source_path"))
            return [line.message("meta", "import")]
        if meta_id(native) is not None:
            return session_meta(state, line, native)
        if type(kind) is str and (kind in items.HANDLERS or kind in items.BOOKKEEPING):
            return response_item(state, line, native)
        if as_text(native.get("record_type")) == "state":
            return [line.message("meta", "state")]
    name = kind if type(kind) is str else "untyped"
    inner = as_dict(native.get("payload")).get("type")
    name = f"{name}/{inner}" if type(inner) is str else name
    state.session.count_unknown(name)
    return [line.message("meta", name)]


def folder_of(record: MaskedRecord) -> str | None:
    """The thread's meta, a turn's context and applied settings say where the agent works."""
    native = record.native
    kind = native.get("type") if type(native) is dict else None
    if type(kind) is not str or kind not in PLACED:
        return None
    payload = as_dict(native.get("payload"))
    if kind == "event_msg":
        payload = as_dict(payload.get("thread_settings"))
    cwd = payload.get("cwd")
    return cwd if type(cwd) is str and cwd else None


PLACED = frozenset({"session_meta", "turn_context", "event_msg"})
