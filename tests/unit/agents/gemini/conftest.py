"""Hand-made files of one session, short to write, read as capture reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any

import pytest
from recordings import minted

from ultracontext.agents.gemini import SPEC
from ultracontext.formats import Engine
from ultracontext.model import Message, MessageId, SessionFacts, event_id, message_id
from ultracontext.redaction import MaskedRecord

SESSION = "9712b4a9-6617-48ef-b0e0-da1327bd1afa"
CHATS = "tmp/acme-api/chats"
LOG = f"{CHATS}/session-2026-01-02T03-04-9712b4a9.jsonl"
DOCUMENT = LOG.removesuffix("l")

Native = dict[str, Any]


def meta(session: str = SESSION, **more: Any) -> Native:
    return {
        "sessionId": session, "projectHash": "x", "startTime": "2026-01-02T03:04:00.000Z",
        "lastUpdated": "2026-01-02T03:04:00.000Z", "kind": "main", **more,
    }  # fmt: skip


def user(name: str, text: Any, **more: Any) -> Native:
    return {"id": name, "type": "user", "content": text, **_timed(more)}


def gemini(name: str, text: Any, **more: Any) -> Native:
    return {"id": name, "type": "gemini", "content": text, **_timed(more)}


def call(name: str = "c1", output: Any = "done", **more: Any) -> Native:
    result = [{"functionResponse": {"id": name, "name": "shell", "response": {"output": output}}}]
    return {"id": name, "name": "shell", "args": {"command": "ls"}, "result": result, **more}


def response(name: str = "c1", output: str = "done") -> Native:
    return {"functionResponse": {"id": name, "name": "shell", "response": {"output": output}}}


def context(text: str = "today") -> Native:
    return user("ctx", [{"text": f"<session_context>\n{text}\n</session_context>"}])


def snapshot(*items: Native) -> Native:
    return {"$set": {"messages": list(items), "lastUpdated": "2026-01-02T03:05:00.000Z"}}


def _timed(more: Native) -> Native:
    return {"timestamp": "2026-01-02T03:04:05.000Z", **more}


@dataclass
class Read:
    """One session as it reads."""

    messages: list[Message]
    facts: SessionFacts

    @property
    def said(self) -> list[tuple[str, str]]:
        return [(m.kind, m.text) for m in self.messages if m.kind != "meta"]

    @property
    def spoken(self) -> list[str]:
        """What was typed and answered, with the marks of what is undone."""
        return [
            m.text + "".join(f" [{mark}]" for mark in marks(m))
            for m in self.messages
            if m.kind in ("user", "assistant")
        ]

    def kinds(self, kind: str) -> list[Message]:
        return [m for m in self.messages if m.kind == kind]


def marks(message: Message) -> list[str]:
    return [k for k in ("undone", "deleted", "compacted") if message.metadata.get(k)]


@dataclass
class Files:
    """The files of an agent's root; each `take` hands over what is new in them, as capture does."""

    known: dict[str, bytes] = field(default_factory=dict)
    fed: dict[str, list[tuple[MaskedRecord, MessageId]]] = field(default_factory=dict)
    names: dict[str, list[tuple[str | int, int]]] = field(default_factory=dict)

    def log(self, path: str, natives: Iterable[Native]) -> Files:
        """A whole log at once."""
        assigner = SPEC.assigner(self._facts(path), None)
        start = 0
        for native in natives:
            data = json.dumps(native).encode()
            self._take(path, assigner, start, data)
            start += len(data) + 1
        return self

    def document(self, path: str, whole: Native, items: str = "messages") -> Files:
        """A document as it stands now; earlier states of it were taken before."""
        assigner = SPEC.assigner(self._facts(path), None)
        ids = [item.get("id") for item in whole[items]]
        for place, native in enumerate([{**whole, items: ids}, *whole[items]]):
            self._take(path, assigner, place, json.dumps(native).encode())
        return self

    def read(self, session: str = SESSION) -> Read:
        """As stored: the newest revision of each record, at the place of the first."""
        newest: dict[str | int, tuple[MaskedRecord, MessageId]] = {}
        for (name, _), pair in zip(self.names[session], self.fed[session], strict=True):
            newest[name] = pair
        return feed(session, newest.values())

    def read_live(self, session: str = SESSION) -> Read:
        """As it came, each revision."""
        return feed(session, self.fed[session])

    def _facts(self, path: str) -> Any:
        found = SPEC.classify(PurePosixPath(path))
        assert found is not None
        return found

    def _take(self, path: str, assigner: Any, start: int, data: bytes) -> None:
        place: dict[str, Any] = {"agent": "gemini", "source": f"/root/{path}", "start": start}
        record = minted(data, **place)
        assigned = assigner.assign(record)
        met = {need.name: self._met(path, need.path) for need in assigned.needs}
        met = {name: content for name, content in met.items() if content is not None}
        if met:
            record = minted(data, **place, companions=met)
        session = assigned.session_id or path
        name = assigned.record_id if assigned.record_id is not None else start
        in_document = self._facts(path).engine is Engine.DOCUMENT
        seen = [known for known, _ in self.names.get(session, ())].count(name)
        revision = seen if in_document else assigned.revision or 0
        event = event_id("gemini", session, name, revision)
        self.names.setdefault(session, []).append((name, revision))
        self.fed.setdefault(session, []).append((record, message_id(event)))

    def _met(self, path: str, wanted: str) -> bytes | None:
        parts: list[str] = []
        for part in (PurePosixPath(path).parent / wanted).parts:
            if part == "..":
                parts.pop()
            else:
                parts.append(part)
        return self.known.get("/".join(parts))


def feed(session: str, fed: Iterable[tuple[MaskedRecord, MessageId]]) -> Read:
    reader = SPEC.reader(session)
    messages: list[Message] = []
    for record, name in fed:
        messages += reader.feed(record, name)
    settled, facts = reader.settle(messages), reader.facts()
    assert facts.messages == sum(message.kind != "meta" for message in settled)
    assert len({message.id for message in settled}) == len(settled)
    return Read(settled, facts)


def read_log(*natives: Native, known: Mapping[str, bytes] | None = None, path: str = LOG) -> Read:
    """A session of one log with its metadata line first; read live it gives the same."""
    files = Files(dict(known or {})).log(path, [meta(), *natives])
    found = files.read()
    live = files.read_live()
    assert [(m.kind, m.text, m.tool) for m in live.messages if m.kind != "meta"] == [
        (m.kind, m.text, m.tool) for m in found.messages if m.kind != "meta"
    ]
    assert live.facts == found.facts
    return found


@pytest.fixture
def lab() -> Any:
    """All of the above, for tests."""
    return SimpleNamespace(
        SESSION=SESSION, CHATS=CHATS, LOG=LOG, DOCUMENT=DOCUMENT, meta=meta, user=user,
        gemini=gemini, call=call, response=response, context=context, snapshot=snapshot,
        files=Files, feed=feed, read_log=read_log,
    )  # fmt: skip
