"""Facts of a conversation, gathered from all its stores."""

from __future__ import annotations

import re
from typing import Any

from ultracontext.agents.cursor.assign import META, TRUSTED, WORKER, WORKSPACE
from ultracontext.agents.cursor.values import (
    from_json,
    identifier,
    mapping,
    moment,
    one_line,
    text_or_none,
)
from ultracontext.formats import Changes, patched
from ultracontext.model import Message, SessionFacts, Tool
from ultracontext.redaction import MaskedRecord

MOST_TOKENS = 1 << 40
USAGE = {"input_tokens": "inputTokens", "output_tokens": "outputTokens"}
_EDITORS = frozenset(
    {
        "ApplyPatch", "Delete", "EditNotebook", "MultiEdit", "StrReplace", "Write", "apply_patch",
        "delete_file", "edit_file", "edit_file_v2", "edit_notebook", "search_replace", "write",
    }
)  # fmt: skip
"""Tools that change a file."""
_FILES = (
    "path", "file_path", "target_file", "target_notebook", "relativeWorkspacePath",
)  # fmt: skip
UNNAMED = ("New Agent", "New Chat", "Untitled")
_WORKER = re.compile(r"workspacePath=(.+)")
_ESCAPE = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_PARENTS = (
    "parentComposerId", "parentConversationId", "parentAgentId", "parentSessionId", "parentId",
)  # fmt: skip
PLACES = ("cwd", "workspace", "uri", "transcript")
"""Who says where the project lies, the surest first."""


class Facts:
    """What lists show of a session."""

    def __init__(self, session_id: str) -> None:
        self._session = session_id
        self._found = SessionFacts()
        self._names: dict[str, str] = {}
        self._prompt: str | None = None
        self._projects: dict[str, str] = {}
        self._tokens: dict[str, dict[str, int]] = {}
        self._changes = Changes(_changed)

    def current(self, messages: int) -> SessionFacts:
        """A picture of now."""
        found = self._found
        found.messages = messages
        name = next((self._names[k] for k in sorted(self._names)), None)
        found.title, found.title_source = name, "agent" if name is not None else None
        if name is None and self._prompt is not None:
            found.title, found.title_source = self._prompt, "prompt"
        found.project_path = self._project_path()
        found.files, found.usage = self._changes.files, {}
        for spent in self._tokens.values():
            for kind, count in spent.items():
                found.usage[kind] = found.usage.get(kind, 0) + count
        found.tokens = sum(found.usage.values())
        return found

    def _project_path(self) -> str | None:
        return next((self._projects[place] for place in PLACES if place in self._projects), None)

    def note_time(self, *times: Any) -> None:
        found = self._found
        for time in map(moment, times):
            if time is not None:
                found.started_at = min(found.started_at or time, time)
                found.updated_at = max(found.updated_at or time, time)

    def note_unknown(self, kinds: list[str]) -> None:
        for kind in kinds:
            self._found.unknown = {
                **self._found.unknown, kind: self._found.unknown.get(kind, 0) + 1,
            }  # fmt: skip

    def note_messages(self, messages: list[Message], *, sure: bool) -> None:
        """`sure`: from a transcript, which holds no results."""
        self._changes.note(messages, self._project_path(), sure=sure)
        for message in messages:
            self.note_time(message.timestamp)
            model = message.metadata.get("model")
            if model is not None:
                self._found.model = model
            titled = message.kind == "user" or message.event_type == "task"
            if self._prompt is None and titled:
                self._prompt = one_line(message.text) or None

    def note_tokens(self, bubble: str, value: Any) -> None:
        """A bubble's tokens; its later contents replace the earlier."""
        counts = {kind: mapping(value).get(name) for kind, name in USAGE.items()}
        spent = {k: n for k, n in counts.items() if type(n) is int and 0 < n < MOST_TOKENS}
        if spent:
            self._tokens[bubble] = spent

    def note_companions(self, record: MaskedRecord) -> None:
        """Files beside a source."""
        files = record.companions
        trusted = mapping(from_json(files.get(TRUSTED)))
        path = text_or_none(trusted.get("workspacePath")) or text_or_none(trusted.get("path"))
        worker = _WORKER.search(files.get(WORKER) or "")
        if path is None and worker is not None:
            path = worker[1].strip()
        self._project("transcript", path)
        workspace = mapping(from_json(files.get(WORKSPACE)))
        self._project("workspace", path_of(workspace.get("folder")))
        self._meta(mapping(from_json(files.get(META))))

    def _meta(self, meta: dict[str, Any]) -> None:
        """`meta.json` of a store."""
        self._project("cwd", text_or_none(meta.get("cwd")))
        self._name("2", meta.get("title"))
        self.note_time(meta.get("createdAtMs"), meta.get("updatedAtMs"))

    def note_conversation(self, value: dict[str, Any]) -> None:
        """A conversation's own row, in the IDE or in a store."""
        self._name("1", value.get("name"))
        self.note_time(value.get("createdAt"), value.get("lastUpdatedAt"))
        model = mapping(value.get("modelConfig")).get("modelName") or value.get("lastUsedModel")
        if self._found.model is None and type(model) is str and model not in ("", "default"):
            self._found.model = model
        identity = mapping(value.get("workspaceIdentifier"))
        uri = mapping(identity.get("uri"))
        path = text_or_none(uri.get("fsPath")) or path_of(uri.get("external"))
        self._project("cwd", path)
        self._project("uri", path_of(value.get("workspace")))
        self._parent(mapping(value.get("subagentInfo")) or value)

    def _parent(self, value: dict[str, Any]) -> None:
        parent = next((p for p in (identifier(value.get(key)) for key in _PARENTS) if p), None)
        self.note_parent(parent)

    def note_parent(self, parent: str | None) -> None:
        if parent is not None and parent != self._session:
            self._found.parent_session, self._found.relation = parent, "subagent"

    def _name(self, rank: str, value: Any) -> None:
        if type(value) is str and value.strip() and value not in UNNAMED:
            self._names[rank] = one_line(value)

    def _project(self, place: str, path: str | None) -> None:
        if path:
            self._projects[place] = path


def path_of(uri: Any) -> str | None:
    """The path in `file:///home/x`, `file:///c%3A/x` or a remote's URI."""
    if type(uri) is not str or "://" not in uri:
        return None
    rest = uri.partition("://")[2]
    slash = rest.find("/")
    if slash < 0:
        return None
    path = _ESCAPE.sub(_plain, rest[slash:])
    return path[1:] if re.match(r"/[A-Za-z]:", path) else path


def _plain(found: re.Match[str]) -> str:
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace")


def _changed(tool: Tool) -> list[Any]:
    if tool.name not in _EDITORS:
        return []
    given = mapping(tool.input)
    named = next((given[key] for key in _FILES if type(given.get(key)) is str), None)
    patch = tool.input if type(tool.input) is str else given.get("patch") or given.get("input")
    return [named, *patched(patch)]
