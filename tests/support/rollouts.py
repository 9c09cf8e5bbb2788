"""Records of Codex, made by hand or recorded, and what the reader makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol

from recordings import FIXTURES

from ultracontext.agents.codex import SPEC
from ultracontext.formats import Assigner
from ultracontext.model import (
    Message,
    MessageId,
    RawRecord,
    SessionFacts,
    Tool,
    event_id,
    message_id,
)
from ultracontext.redaction import MaskedRecord, Redactor

CODEX = FIXTURES / "codex"
SESSION = "01a22cd6-0000-7000-8000-000000000001"

Native = dict[str, Any]
"""A record as Codex writes it."""

Named = tuple[MessageId, MaskedRecord]


class Masking(Protocol):
    """Makes a masked record of a value, or of raw bytes; `more` goes to `RawRecord`."""

    def __call__(self, value: Any, **more: Any) -> MaskedRecord: ...


@dataclass
class Read:
    """A session that was read."""

    facts: SessionFacts
    messages: list[Message]

    def of(self, *kinds: str) -> list[str]:
        return [message.text for message in self.messages if message.kind in kinds]

    def kinds(self) -> list[str]:
        return [message.kind for message in self.messages if message.kind != "meta"]


class Reading(Protocol):
    """Reads records given as values."""

    def __call__(self, *values: Any, session: str = SESSION) -> Read: ...


def tool_of(message: Message) -> Tool:
    assert message.tool is not None
    return message.tool


def run(named: list[Named], session: str = SESSION) -> Read:
    """Feeds, settles, and holds the law of counting at every step of a short session."""
    reader = SPEC.reader(session)
    fed: list[Message] = []
    for number, (name, record) in enumerate(named):
        fed += reader.feed(record, name)
        if len(named) < 80 or number == len(named) - 1:
            shown = [message for message in reader.settle(fed) if message.kind != "meta"]
            assert reader.facts().messages == len(shown)
    settled = reader.settle(fed)
    assert len({message.id for message in settled}) == len(settled)
    assert not any({"twin", "assumed"} & set(message.metadata) for message in settled)
    return Read(reader.facts(), settled)


class CodexHome:
    """Records of a CODEX_HOME by session, as capture would hand them out."""

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self.sessions: dict[str | None, list[Named]] = {}
        for path in sorted(folder.rglob("*.jsonl")):
            facts = SPEC.classify(PurePosixPath(path.relative_to(folder)))
            if facts is None:
                continue
            assigner, start = SPEC.assigner(facts, None), 0
            for ordinal, data in enumerate(path.read_bytes().split(b"\n")):
                end = start + len(data) + 1
                raw = RawRecord(agent="codex", source=str(path), start=start, end=end, data=data)
                start = end
                if data:
                    self._add(redactor.redact(raw), assigner, ordinal)

    def _add(self, record: MaskedRecord, assigner: Assigner, ordinal: int) -> None:
        assignment = assigner.assign(record)
        own = assignment.record_id
        name = event_id("codex", str(assignment.session_id), ordinal if own is None else own)
        self.sessions.setdefault(assignment.session_id, []).append((message_id(name), record))

    def names(self) -> list[str]:
        """Ids of its sessions; every record must have one."""
        found = [name for name in self.sessions if name is not None]
        assert len(found) == len(self.sessions)
        return found

    def read(self, session: str) -> Read:
        return run(self.sessions[session], session)

    def whole(self, session: str) -> Read:
        """With the beginning that lies in another session."""
        base = self.read(session).facts.base
        if base is None:
            return self.read(session)
        reader = SPEC.reader(session)
        records = self.sessions[base.session_id]
        covered = [pair for pair in records if reader.covers(pair[1], base)]
        return run(covered + self.sessions[session], session)


OpenHome = Callable[[str], CodexHome]
"""A recording by name."""


class Say:
    """Records as Codex writes them."""

    SESSION = SESSION

    def record(self, kind: str, payload: Any, time: str = "2026-11-30T10:00:01.000Z") -> Native:
        return {"timestamp": time, "type": kind, "payload": payload}

    def item(self, payload: Native) -> Native:
        return self.record("response_item", payload)

    def event(self, kind: str, /, **fields: Any) -> Native:
        return self.record("event_msg", {"type": kind, **fields})

    def completed(self, kind: str, /, **fields: Any) -> Native:
        return self.event("item_completed", thread_id=SESSION, item={"type": kind, **fields})

    def meta(self, session: str = SESSION, **more: Any) -> Native:
        time = "2026-11-30T10:00:00.000Z"
        return self.record(
            "session_meta",
            {"id": session, "timestamp": time, "cwd": "/w", "cli_version": "0.125.0", **more},
            time,
        )

    def call(self, name: str, call_id: str, **arguments: Any) -> Native:
        given = json.dumps(arguments)
        payload = {"type": "function_call", "name": name, "arguments": given, "call_id": call_id}
        return self.item(payload)

    def output(self, call_id: str, output: Any) -> Native:
        return self.item({"type": "function_call_output", "call_id": call_id, "output": output})

    def user(self, text: str, **more: Any) -> Native:
        return self._spoken("user", text, **more)

    def assistant(self, text: str, **more: Any) -> Native:
        return self._spoken("assistant", text, **more)

    def developer(self, text: str) -> Native:
        return self._spoken("developer", text)

    def typed(self, text: str, **more: Any) -> Native:
        return self.event("user_message", message=text, **more)

    def said(self, text: str, **more: Any) -> Native:
        return self.event("agent_message", message=text, **more)

    def turn(self, prompt: str, answer: str) -> list[Native]:
        return [self.user(prompt), self.typed(prompt), self.said(answer), self.assistant(answer)]

    def _spoken(self, role: str, text: str, **more: Any) -> Native:
        kind = "output_text" if role == "assistant" else "input_text"
        content = [{"type": kind, "text": text}]
        return self.item({"type": "message", "role": role, "content": content, **more})
