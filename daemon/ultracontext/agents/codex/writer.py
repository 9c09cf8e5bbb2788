"""Writes a thread that Codex 0.45 to 0.171 resume and show (FORMAT.md sections 3 to 7).

Every text stands twice: as an item for the model and as an event for the screen, a user's item
before its event, an answer's after it. Each turn is framed by `task_started` and `task_complete`.
No provider, no usage and no `turn_context`: the first is refused when it is not the configured one,
the others make the program compact. A home whose index is complete gets a row in it: without one
0.171 lists the file nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from ultracontext.agents.codex.index import LOOKUPS, row
from ultracontext.agents.codex.layout import NAMES_FILE
from ultracontext.agents.codex.line import MARK
from ultracontext.formats import (
    AppendLine,
    Command,
    Conversation,
    Entry,
    FileWrite,
    Limits,
    Lookup,
    Probe,
    Step,
    Target,
    Turn,
    WritePlan,
)
from ultracontext.formats.gate import Permit
from ultracontext.redaction import dump_json

RAW_TOOLS = frozenset({"apply_patch", "exec"})
"""Custom tools, whose input is text."""

Native = dict[str, Any]


class CodexWriter:
    """Pure: ids are made of the session's."""

    format = "rollout"
    lookups: Sequence[Lookup] = LOOKUPS
    probes: Sequence[Probe] = ()
    limits = Limits(
        call_id=r"[A-Za-z0-9_-]+",
        tool_name=r"[A-Za-z0-9_-]{1,128}",
        output_chars=10_000,
        images=20,
        result_images=True,
        reasoning=True,
        window_tokens=240_000,
    )

    def __init__(self, permit: Permit) -> None:
        self.version = permit.version

    def plan(self, conversation: Conversation, target: Target) -> WritePlan:
        """One rollout, its name in the index of names, its row in the index of threads."""
        session = target.session_id
        path = _path(session, target.local)
        lines = _Lines(conversation, session, self.version)
        data = b"".join(map(_line, lines.all()))
        added, notes = row(conversation, target, path, self.version)
        argv = ["codex", "resume", session]
        if conversation.pending is not None:
            argv.append(conversation.pending)
        steps: tuple[Step, ...] = (*_name(conversation, session, target.now), *added)
        return WritePlan(
            session_id=session,
            files=(FileWrite(path=path, data=data),),
            steps=steps,
            source=path,
            command=Command(argv=tuple(argv), cwd=conversation.cwd),
            expected=tuple(e for e in conversation.entries() if not e.note),
            notes=tuple(notes),
        )


def _path(session: str, local: datetime) -> str:
    """Folder and name bear local time."""
    return f"sessions/{local:%Y/%m/%d}/rollout-{local:%Y-%m-%dT%H-%M-%S}-{session}.jsonl"


def _name(conversation: Conversation, session: str, now: datetime) -> Iterator[AppendLine]:
    if conversation.title is not None:
        named = {"id": session, "thread_name": conversation.title, "updated_at": _iso(now)}
        yield AppendLine(path=NAMES_FILE, line=_line(named)[:-1])


class _Lines:
    """The lines of one rollout."""

    def __init__(self, conversation: Conversation, session: str, version: str) -> None:
        self.conversation = conversation
        self.session = session
        self.version = version
        self.space = UUID(session)
        self.raw: set[str] = set()
        """Ids of calls to custom tools: an output of another kind would be an orphan."""

    def all(self) -> Iterator[Native]:
        yield self._meta()
        for number, turn in enumerate(self.conversation.turns):
            yield from self._turn(turn, str(uuid5(self.space, f"turn {number}")))

    def _meta(self) -> Native:
        talk = self.conversation
        first = next(talk.entries()).timestamp
        payload: Native = {
            "id": self.session, "timestamp": _iso(first), "cwd": talk.cwd,
            "originator": "codex_cli_rs", "cli_version": self.version, "source": "cli",
            MARK: {
                "from": talk.origin.agent, "session_id": talk.origin.session_id,
                "context_id": talk.origin.context_id, "masked": talk.origin.masked,
            },
        }  # fmt: skip
        git = {
            "commit_hash": talk.commit, "branch": talk.git_branch,
            "repository_url": talk.git_remote,
        }  # fmt: skip
        if any(git.values()):
            payload["git"] = {key: value for key, value in git.items() if value}
        return _wrapped("session_meta", payload, first)

    def _turn(self, turn: Turn, turn_id: str) -> Iterator[Native]:
        first, last = turn.entries[0].timestamp, turn.entries[-1].timestamp
        yield _event({"type": "task_started", "turn_id": turn_id}, first)
        for entry in turn.entries:
            if entry.kind == "tool_call" and raw(entry):
                self.raw.add(entry.call_id)
            yield from _entry(entry, custom=entry.call_id in self.raw)
        ended: Native = {"type": "task_complete", "turn_id": turn_id}
        ended["last_agent_message"] = turn.answer or None
        yield _event(ended, last)


def _entry(entry: Entry, *, custom: bool) -> Iterator[Native]:
    time = entry.timestamp
    if entry.kind == "user":
        yield _item(_message("user", _parts(entry, "input_text")), time)
        if not entry.note:
            yield _event({"type": "user_message", "message": entry.text, **_shown(entry)}, time)
    elif entry.kind == "assistant":
        yield _event({"type": "agent_message", "message": entry.text}, time)
        yield _item(_message("assistant", [{"type": "output_text", "text": entry.text}]), time)
    elif entry.kind == "tool_call":
        yield _item(_call(entry), time)
    elif entry.kind == "tool_result":
        yield _item(_result(entry, custom=custom), time)
    elif isinstance(entry.native, dict):
        yield _item(entry.native, time)


def _shown(entry: Entry) -> Native:
    """Pictures that the screen is told of."""
    if not entry.images:
        return {}
    return {"images": [_url(image.media_type, image.data) for image in entry.images]}


def _message(role: str, content: list[Native]) -> Native:
    return {"type": "message", "role": role, "content": content}


def _parts(entry: Entry, kind: str) -> list[Native]:
    text: list[Native] = [{"type": kind, "text": entry.text}] if entry.text else []
    return [
        *text,
        *(
            {"type": "input_image", "image_url": _url(image.media_type, image.data)}
            for image in entry.images
        ),
    ]


def _url(media_type: str, data: str) -> str:
    return f"data:{media_type};base64,{data}"


def raw(entry: Entry) -> bool:
    """Whether a call's input was text: then it is a custom tool's."""
    return (
        entry.name in RAW_TOOLS
        and set(entry.input) == {"input"}
        and isinstance(entry.input["input"], str)
    )


def _call(entry: Entry) -> Native:
    named = {"name": entry.name, "call_id": entry.call_id}
    if raw(entry):
        return {"type": "custom_tool_call", **named, "input": entry.input["input"]}
    arguments = dump_json(dict(entry.input)).decode()
    return {"type": "function_call", **named, "arguments": arguments}


def _result(entry: Entry, *, custom: bool) -> Native:
    kind = "custom_tool_call_output" if custom else "function_call_output"
    output: Any = _parts(entry, "input_text") if entry.images else entry.text
    return {"type": kind, "call_id": entry.call_id, "output": output}


def _item(payload: Native, time: datetime) -> Native:
    return _wrapped("response_item", payload, time)


def _event(payload: Native, time: datetime) -> Native:
    return _wrapped("event_msg", payload, time)


def _wrapped(kind: str, payload: Native, time: datetime) -> Native:
    return {"timestamp": _iso(time), "type": kind, "payload": payload}


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _line(record: Native) -> bytes:
    return dump_json(record) + b"\n"
