"""Records of Codex, made by hand or recorded, and what the reader makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest

from ultracontext.agents.codex import SPEC
from ultracontext.model import Message, MessageId, RawRecord, SessionFacts, event_id, message_id
from ultracontext.redaction import MaskedRecord, Redactor, load_redactor

FIXTURES = Path(__file__).parents[3] / "fixtures" / "codex"
SESSION = "01a22cd6-0000-7000-8000-000000000001"
Named = tuple[MessageId, MaskedRecord]


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return load_redactor(b"a secret of this test" * 2)


@pytest.fixture(scope="session")
def masked(redactor: Redactor) -> Callable[[Any], MaskedRecord]:
    """A masked record of a value, or of raw bytes."""

    def make(value: Any, **more: Any) -> MaskedRecord:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        raw = RawRecord(
            agent="codex", source="/x/rollout.jsonl", start=0, end=len(data) + 1, data=data, **more
        )
        return redactor.redact(raw)

    return make


@dataclass
class Read:
    """A session that was read."""

    facts: SessionFacts
    messages: list[Message]

    def of(self, *kinds: str) -> list[str]:
        return [message.text for message in self.messages if message.kind in kinds]

    def kinds(self) -> list[str]:
        return [message.kind for message in self.messages if message.kind != "meta"]


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


@pytest.fixture
def read(masked: Callable[[Any], MaskedRecord]) -> Callable[..., Read]:
    """Reads records given as values."""

    def reading(*values: Any, session: str = SESSION) -> Read:
        named = [
            (message_id(event_id("codex", session, number)), masked(value))
            for number, value in enumerate(values)
        ]
        return run(named, session)

    return reading


class Home:
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

    def _add(self, record: MaskedRecord, assigner: Any, ordinal: int) -> None:
        assignment = assigner.assign(record)
        own = assignment.record_id
        name = event_id("codex", str(assignment.session_id), ordinal if own is None else own)
        self.sessions.setdefault(assignment.session_id, []).append((message_id(name), record))

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


@pytest.fixture(scope="session")
def home(redactor: Redactor) -> Callable[[str], Home]:
    """A recording by name."""
    known: dict[str, Home] = {}

    def open_home(name: str) -> Home:
        if name not in known:
            known[name] = Home(FIXTURES / name, redactor)
        return known[name]

    return open_home


def _record(kind: str, payload: Any, time: str = "2026-11-30T10:00:01.000Z") -> dict[str, Any]:
    return {"timestamp": time, "type": kind, "payload": payload}


def _item(payload: dict[str, Any]) -> dict[str, Any]:
    return _record("response_item", payload)


def _event(kind: str, /, **fields: Any) -> dict[str, Any]:
    return _record("event_msg", {"type": kind, **fields})


def _spoken(role: str, text: str, **more: Any) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text}]
    return _item({"type": "message", "role": role, "content": content, **more})


def _completed(kind: str, /, **fields: Any) -> dict[str, Any]:
    return _event("item_completed", thread_id=SESSION, item={"type": kind, **fields})


def _meta(session: str = SESSION, **more: Any) -> dict[str, Any]:
    time = "2026-11-30T10:00:00.000Z"
    return _record(
        "session_meta",
        {"id": session, "timestamp": time, "cwd": "/w", "cli_version": "0.125.0", **more},
        time,
    )


def _call(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    given = json.dumps(arguments)
    return _item({"type": "function_call", "name": name, "arguments": given, "call_id": call_id})


def _output(call_id: str, output: Any) -> dict[str, Any]:
    return _item({"type": "function_call_output", "call_id": call_id, "output": output})


@pytest.fixture
def say() -> SimpleNamespace:
    """Records as Codex writes them."""
    return SimpleNamespace(
        SESSION=SESSION,
        record=_record,
        item=_item,
        event=_event,
        completed=_completed,
        meta=_meta,
        call=_call,
        output=_output,
        user=lambda text, **more: _spoken("user", text, **more),
        assistant=lambda text, **more: _spoken("assistant", text, **more),
        developer=lambda text: _spoken("developer", text),
        typed=lambda text, **more: _event("user_message", message=text, **more),
        said=lambda text, **more: _event("agent_message", message=text, **more),
        turn=lambda q, a: [
            _spoken("user", q),
            _event("user_message", message=q),
            _event("agent_message", message=a),
            _spoken("assistant", a),
        ],
    )
