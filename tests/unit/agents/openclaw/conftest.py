"""Sessions from files and databases, and hand-made records, short to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import recordings
from recordings import minted

from ultracontext.agents.openclaw import SPEC
from ultracontext.agents.openclaw.reader import OpenClawReader
from ultracontext.model import Message, MessageId, SessionFacts

SESSION = "6513270e-269e-4d37-b2a7-4de452e6b438"

Read = Callable[..., tuple[list[Message], SessionFacts]]


@pytest.fixture(autouse=True)
def _own_spec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recordings, "spec_of", lambda _: SPEC)


def read_all(
    *natives: dict[str, Any] | bytes, companions: dict[str, str] | None = None
) -> tuple[list[Message], SessionFacts]:
    """Messages and facts of records, each fed under a node of its own."""
    reader = OpenClawReader(SESSION)
    messages: list[Message] = []
    files = {name: text.encode() for name, text in (companions or {}).items()}
    for place, native in enumerate(natives):
        record = minted(native, agent="openclaw", start=place, companions=files)
        messages += reader.feed(record, MessageId(f"msg_{place:024}"))
        facts = reader.facts()
        assert facts.messages == sum(m.kind != "meta" for m in reader.settle(messages))
    return reader.settle(messages), reader.facts()


@pytest.fixture
def read() -> Read:
    return read_all


class Chain:
    """Makes records, each below the one before unless `parent` says otherwise."""

    def __init__(self) -> None:
        self._last: str | None = None
        self._count = 0

    def record(self, kind: str, **fields: Any) -> dict[str, Any]:
        self._count += 1
        named = f"a{self._count:07}"
        native = {
            "type": kind,
            "id": named,
            "parentId": self._last,
            "timestamp": f"2026-11-30T14:00:{self._count:02}.000Z",
            **fields,
        }
        self._last = named
        return native

    def header(self, **fields: Any) -> dict[str, Any]:
        time = "2026-11-30T13:59:00.000Z"
        return {
            "type": "session", "version": 3, "id": SESSION, "timestamp": time, "cwd": "/w/app",
            **fields,
        }  # fmt: skip

    def user(self, content: Any, **fields: Any) -> dict[str, Any]:
        return self.record("message", message={"role": "user", "content": content}, **fields)

    def answer(self, text: str, **fields: Any) -> dict[str, Any]:
        message = {
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "api": "openai-completions",
            "model": "mock-1",
            "usage": {"input": 11, "output": 7},
            "stopReason": "stop",
            **fields.pop("message", {}),
        }
        return self.record("message", message=message, **fields)


@pytest.fixture
def chain() -> Chain:
    return Chain()
