"""Reads the records of one Claude Code session.

A record gives one message for each of its blocks (typed text with its pictures is one message).
What was not typed and not answered by a model is `system`, with `event_type` saying what it is:

    slash_command, local_command_output, memory_input    done at the prompt
    bash_input, bash_output                              the same, in the `!` mode
    interrupt, compact_boundary, compact_summary         what happened
    system/api_error                                     the same, one for each retry
    injected, system_reminder, task_notification         put in by the program
    attachment/…                                         the same, of another file or a hook
    task                                                 a sub-agent's prompt, by its parent
    assistant (metadata `error` or `synthetic`)          an API error, a filler

Metadata, all optional: `uuid` of the record; `message_id` and `model` of the answer of which the
message is a part; `aborted`; `cwd` and `git_branch` where they change; `media`; `spilled`,
`interrupted`, `denied` (tool results); `subagent` (session id, on a call and its result);
`branch: "abandoned"`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ultracontext.agents.claude.assign import SIDECHAIN
from ultracontext.agents.claude.assistant import read_assistant
from ultracontext.agents.claude.branches import PARENT, ROOT
from ultracontext.agents.claude.facts import Facts
from ultracontext.agents.claude.layout import AGENT
from ultracontext.agents.claude.live import live
from ultracontext.agents.claude.others import read_attachment, read_loose, read_system
from ultracontext.agents.claude.settle import settled
from ultracontext.agents.claude.user import read_user
from ultracontext.agents.claude.values import identifier, moment, text_or_none
from ultracontext.formats.draft import Draft
from ultracontext.model import Base, Message, MessageId, SessionFacts
from ultracontext.redaction import MaskedRecord

MARK = "ultracontext"
"""Field of the first record of a session that a switch wrote: where it comes from."""


class ClaudeReader:
    """Makes messages of a session's records, in file order."""

    def __init__(self, session_id: str) -> None:
        self._session = session_id
        self._facts = Facts()
        self._delegated = session_id.startswith(SIDECHAIN)
        self._begun = False
        self._seen: set[int] = set()
        """Hashes of the chain records' uuids."""
        self._last: str | None = None
        """uuid of the chain record before."""
        self._cwd: Any = None
        self._branch: Any = None

    def feed(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        native = record.native
        if type(native) is not dict:
            return self._opaque(record, message_id)
        if not self._begun:
            self._begin(native, record.source)
        time = moment(native.get("timestamp"))
        kind = native.get("type")
        uuid = identifier(native.get("uuid"))
        again = uuid is not None and hash(uuid) in self._seen
        base = {} if uuid is None else self._base(native, uuid)
        draft = Draft(message_id, time, base, delegated=self._delegated)
        _read(kind, record, draft)
        if not again:
            self._note(kind, native, uuid, time, draft)
        return draft.messages

    def settle(self, messages: list[Message]) -> list[Message]:
        return settled(messages)

    def live(
        self, messages: list[Message], record: Callable[[str], MaskedRecord | None]
    ) -> list[Message]:
        del record
        return live(messages)

    def facts(self) -> SessionFacts:
        return self._facts.current(lineage=not self._delegated)

    def covers(self, record: MaskedRecord, base: Base) -> bool:
        """Never: a fork's file holds its whole beginning itself."""
        return False

    def _begin(self, native: dict[str, Any], source: str) -> None:
        """Finds out whose session this is: a sub-agent's names its parent in each record."""
        self._begun = True
        folders = source.replace("\\", "/").split("/")
        named = folders[-1].startswith(AGENT) or native.get("agentId") == self._session
        self._delegated = self._delegated or named
        if not self._delegated:
            self._facts.note_origin(native.get(MARK))
            return
        parent = text_or_none(native.get("sessionId"))
        if self._session.startswith(SIDECHAIN):
            parent = self._session.partition("@")[2] or parent
        elif parent is None and len(folders) > 3 and folders[-2] == "subagents":
            parent = folders[-3]
        if parent is not None and parent != self._session:
            self._facts.parent, self._facts.relation = parent, "subagent"

    def _base(self, native: dict[str, Any], uuid: str) -> dict[str, Any]:
        """Metadata that all messages of a chain record share."""
        base: dict[str, Any] = {"uuid": uuid}
        said = native.get("parentUuid")
        parent = said if said == self._last else identifier(said)
        if parent is not None:
            if parent != self._last:
                base[PARENT] = parent
        elif self._last is not None and native.get("type") == "user" and "parentUuid" in native:
            base[PARENT] = ROOT
        if native.get("type") == "assistant":
            _describe_answer(native, base)
        cwd = native.get("cwd")
        if cwd != self._cwd and type(cwd) is str:
            base["cwd"] = cwd
        branch = native.get("gitBranch")
        if branch != self._branch and type(branch) is str and branch:
            base["git_branch"] = branch
        return base

    def _note(
        self, kind: Any, native: dict[str, Any], uuid: str | None, time: str | None, draft: Draft
    ) -> None:
        facts = self._facts
        facts.note(native, time)
        facts.count(draft.messages, draft.unknown)
        if uuid is not None:
            self._seen.add(hash(uuid))
            self._last = uuid
            self._cwd = draft.base.get("cwd", self._cwd)
            self._branch = draft.base.get("git_branch", self._branch)
            facts.note_root(uuid)
            facts.note_leaf(uuid)
        if kind == "assistant":
            facts.note_answer(native)
        elif kind == "user" or kind == "attachment" or kind == "system":
            facts.note_prompt(draft.messages)
        elif type(kind) is str:
            facts.note_title(kind, native, self._seen)

    def _opaque(self, record: MaskedRecord, message_id: MessageId) -> list[Message]:
        """A record that is no JSON object: kept as it is, and counted.

        One that was too large leaves a hole that a person should see.
        """
        why = record.damage or "(no object)"
        draft = Draft(message_id, None, {"damage": why}, delegated=False)
        if record.too_large is not None:
            draft.system("too_large", record.text or "")
        else:
            draft.meta(why, record.text or "")
        self._facts.count(draft.messages, [] if record.damage or record.too_large else [why])
        return draft.messages


def _read(kind: Any, record: MaskedRecord, draft: Draft) -> None:
    native = record.native
    if kind == "assistant":
        read_assistant(native, draft)
    elif kind == "user":
        read_user(record, draft)
    elif kind == "attachment":
        read_attachment(native, draft)
    elif kind == "system":
        read_system(native, draft)
    else:
        read_loose(kind if type(kind) is str else "(none)", native, draft)


def _describe_answer(native: dict[str, Any], base: dict[str, Any]) -> None:
    message = native.get("message")
    if type(message) is dict:
        answer = identifier(message.get("id"))
        if answer is not None:
            base["message_id"] = answer
        model = message.get("model")
        if type(model) is str and model:
            base["model"] = model
    if native.get("isAbortedMidStream") is True:
        base["aborted"] = True


def folder_of(record: MaskedRecord) -> str | None:
    """Chain records say where the agent works."""
    native = record.native
    cwd = native.get("cwd") if type(native) is dict else None
    return cwd if type(cwd) is str and cwd else None
