"""Conversations from transcripts and databases, and hand-made databases."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import recordings
from recordings import minted

from ultracontext.agents.cursor import SPEC
from ultracontext.agents.cursor.reader import CursorReader
from ultracontext.model import Message, MessageId, SessionFacts

Read = Callable[..., tuple[list[Message], SessionFacts]]


@pytest.fixture(autouse=True)
def _own_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "spec_of", lambda _: SPEC)


def read_all(
    *natives: dict[str, Any] | bytes,
    session: str = "c1",
    source: str = "/root/projects/x/agent-transcripts/c1.jsonl",
    companions: dict[str, str] | None = None,
) -> tuple[list[Message], SessionFacts]:
    """Messages and facts of records, each fed under a node of its own."""
    reader = CursorReader(session)
    messages: list[Message] = []
    files = {name: text.encode() for name, text in (companions or {}).items()}
    for place, native in enumerate(natives):
        record = minted(native, agent="cursor", source=source, start=place, companions=files)
        messages += reader.feed(record, MessageId(f"msg_{place:024}"))
        facts = reader.facts()
        assert facts.messages == sum(m.kind != "meta" for m in reader.settle(messages))
    return reader.settle(messages), reader.facts()


@pytest.fixture
def read() -> Read:
    return read_all


class State:
    """A `state.vscdb` in memory."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:")
        for table in ("ItemTable", "cursorDiskKV"):
            self.database.execute(
                f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
            )

    def item(self, key: str, value: Any) -> None:
        text = value if isinstance(value, str) else json.dumps(value)
        self.database.execute("INSERT INTO ItemTable VALUES (?, ?)", (key, text))

    def kv(self, key: str, value: Any, *, blob: bool = False) -> None:
        text = value if isinstance(value, str) else json.dumps(value)
        bound = text.encode() if blob else text
        self.database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, bound))

    def bubble(self, name: str, kind: int, text: str, **fields: Any) -> dict[str, Any]:
        value = {"_v": 3, "type": kind, "bubbleId": name, "text": text, **fields}
        self.kv(f"bubbleId:c1:{name}", value)
        return value

    def composer(self, *names: str, **fields: Any) -> None:
        heads = [{"bubbleId": name, "type": 1} for name in names]
        self.kv(
            "composerData:c1",
            {"composerId": "c1", "fullConversationHeadersOnly": heads, **fields},
        )

    def content(self) -> bytes:
        self.database.commit()
        return self.database.serialize()


@pytest.fixture
def state() -> Iterator[State]:
    made = State()
    yield made
    made.database.close()
