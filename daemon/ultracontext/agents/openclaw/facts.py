"""Facts of a session, gathered record by record."""

from __future__ import annotations

import re
from typing import Any, Literal

from ultracontext.agents.openclaw.assign import INDEX, TRACE
from ultracontext.agents.openclaw.compat import MARK
from ultracontext.agents.openclaw.values import (
    from_json,
    identifier,
    mapping,
    one_line,
    text_or_none,
)
from ultracontext.formats import Changes, patched
from ultracontext.model import Message, SessionFacts, Tool
from ultracontext.redaction import MaskedRecord

MOST_TOKENS = 1 << 40
USAGE = {
    "input_tokens": "input", "output_tokens": "output", "cache_read_tokens": "cacheRead",
    "cache_write_tokens": "cacheWrite",
}  # fmt: skip
_KEY = re.compile(r'"sessionKey"\s*:\s*"([^"\\\[\]]{1,400})"')
"""Without brackets: a key that was masked names nothing."""
_FILE = re.compile(r"(?:^|[/\\])([^/\\]+?)(?:-topic-[^/\\]+)?\.jsonl(?:\.[^/\\]*)?$")


class Facts:
    """What lists show of a session."""

    def __init__(self, session_id: str) -> None:
        self._session = session_id
        self._found = SessionFacts()
        self._name: str | None = None
        self._label: str | None = None
        self._own: str | None = None
        self._prompt: str | None = None
        self._key: str | None = None
        self._usage: dict[str, int] = {}
        self._changes = Changes(_changed)

    def current(self, messages: int) -> SessionFacts:
        """A picture of now."""
        found = self._found
        found.messages = messages
        found.title, found.title_source = self._title()
        found.usage, found.files = dict(self._usage), self._changes.files
        found.tokens = sum(self._usage.get(kind, 0) for kind in ("input_tokens", "output_tokens"))
        filed = found.parent_session is None and self._key is not None
        found.lineage_key = self._key if filed else None
        return found

    def _title(self) -> tuple[str | None, Literal["name", "agent", "prompt"] | None]:
        name = self._name or self._label
        if name is not None:
            return name, "name"
        if self._own is not None:
            return self._own, "agent"
        return self._prompt, "prompt" if self._prompt is not None else None

    def note_time(self, time: str | None) -> None:
        if time is None:
            return
        found = self._found
        found.started_at = min(found.started_at or time, time)
        found.updated_at = max(found.updated_at or time, time)

    def note_unknown(self, kinds: list[str]) -> None:
        for kind in kinds:
            self._found.unknown = {
                **self._found.unknown, kind: self._found.unknown.get(kind, 0) + 1,
            }  # fmt: skip

    def note_messages(self, messages: list[Message]) -> None:
        self._changes.note(messages, self._found.project_path)
        if self._prompt is None:
            typed = next((m.text for m in messages if m.kind == "user" and m.text.strip()), None)
            self._prompt = one_line(typed) if typed is not None else None

    def note_header(self, event: dict[str, Any], record: MaskedRecord) -> None:
        found = self._found
        found.project_path = text_or_none(event.get("cwd")) or found.project_path
        parent = _session_of(event.get("parentSession"))
        if parent is not None and parent != self._session:
            found.parent_session, found.relation = parent, "fork"
        self._index(record.companions.get(INDEX))
        trace = _KEY.search(record.companions.get(TRACE) or "")
        if trace is not None and self._key is None:
            self._key = trace[1]

    def _index(self, text: str | None) -> None:
        """The session's entry in `sessions.json`; of a cut index only its key."""
        if text is None:
            return
        index = mapping(from_json(text))
        if not index:
            named = re.search(
                r'"([^"\\]+)"\s*:\s*\{\s*"sessionId"\s*:\s*"' + re.escape(self._session) + '"', text
            )
            self._key = named[1] if named is not None else None
            return
        for key, value in index.items():
            entry = mapping(value)
            if entry.get("sessionId") == self._session:
                self._key = key
                self._entry(entry, index)

    def _entry(self, entry: dict[str, Any], index: dict[str, Any]) -> None:
        label = text_or_none(entry.get("label"))
        self._label = one_line(label) if label is not None else None
        own = text_or_none(entry.get("displayName"))
        self._own = one_line(own) if own is not None else None
        spawner = mapping(index.get(identifier(entry.get("spawnedBy")) or ""))
        self._spawned(identifier(spawner.get("sessionId")))

    def _spawned(self, parent: str | None) -> None:
        if parent is not None and parent != self._session:
            self._found.parent_session, self._found.relation = parent, "subagent"

    def note_window(self, window: dict[str, Any]) -> None:
        """A row of `session_windows` and what `session_nodes` says of its key."""
        label = text_or_none(window.get("label"))
        self._label = one_line(label) if label is not None else None
        own = text_or_none(window.get("display_name"))
        self._own = one_line(own) if own is not None else None
        origin = identifier(window.get("fork_source_session_id"))
        before = identifier(window.get("previous_session_id"))
        if origin is not None and origin != self._session:
            self._found.parent_session, self._found.relation = origin, "fork"
        elif before is not None and before != self._session:
            self._found.parent_session, self._found.relation = before, "fork"
        self._spawned(identifier(window.get("spawned_by_session_id")))

    def note_event(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind == "session_info":
            name = text_or_none(event.get("name"))
            self._name = one_line(name) if name is not None else self._name
        elif kind == "model_change":
            self._found.model = text_or_none(event.get("modelId")) or self._found.model
        elif kind == "custom" and event.get("customType") == MARK:
            self._note_origin(mapping(event.get("data")))
        elif kind == "message":
            self._note_answer(mapping(event.get("message")))

    def _note_origin(self, mark: dict[str, Any]) -> None:
        origin = identifier(mark.get("session_id"))
        if origin is not None:
            self._found.parent_session, self._found.relation = origin, "switch"
            self._found.parent_agent = identifier(mark.get("from"))

    def _note_answer(self, message: dict[str, Any]) -> None:
        if message.get("role") != "assistant":
            return
        self._found.model = text_or_none(message.get("model")) or self._found.model
        usage = mapping(message.get("usage"))
        for kind, name in USAGE.items():
            value = usage.get(name)
            if type(value) is int and 0 < value < MOST_TOKENS:
                self._usage[kind] = self._usage.get(kind, 0) + value


def _changed(tool: Tool) -> list[Any]:
    """Files that a call would change."""
    given = mapping(tool.input)
    if tool.name in ("write", "edit"):
        return [given.get("path") or given.get("file_path")]
    if tool.name == "apply_patch":
        return [*patched(given.get("input") or given.get("patch"))]
    return []


def _session_of(value: Any) -> str | None:
    """The id in a parent's path, or the id itself."""
    text = identifier(value) or (value if type(value) is str else None)
    if not text:
        return None
    found = _FILE.search(text)
    return found[1] if found is not None else identifier(text)
