"""Hand-made records, short to write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from recordings import minted

from ultracontext.agents.claude.reader import ClaudeReader
from ultracontext.model import Message, MessageId, SessionFacts

SESSION = "9712b4a9-6617-48ef-b0e0-da1327bd1afa"

Read = Callable[..., tuple[list[Message], SessionFacts]]


def read_all(
    *natives: dict[str, Any], session: str = SESSION, source: str = "/root/file", **more: Any
) -> tuple[list[Message], SessionFacts]:
    """Messages and facts of records, each fed under a node of its own."""
    reader = ClaudeReader(session)
    messages: list[Message] = []
    for place, native in enumerate(natives):
        record = minted(native, agent="claude", source=source, start=place, **more)
        messages += reader.feed(record, MessageId(f"msg_{place:024}"))
    settled = reader.settle(messages)
    facts = reader.facts()
    assert facts.messages == sum(message.kind != "meta" for message in settled)
    return settled, facts


@pytest.fixture
def read() -> Read:
    return read_all


class Chain:
    """Makes chain records, each below the one before unless `parent` says otherwise."""

    def __init__(self) -> None:
        self._last: str | None = None
        self._count = 0

    def record(self, kind: str, **fields: Any) -> dict[str, Any]:
        self._count += 1
        native = {
            "parentUuid": self._last,
            "isSidechain": False,
            "type": kind,
            "uuid": f"u{self._count}",
            "timestamp": f"2026-01-02T03:04:{self._count:02}.000Z",
            "cwd": "/w/app",
            "sessionId": SESSION,
            "version": "2.1.332",
            "gitBranch": "main",
            **fields,
        }
        self._last = native["uuid"]
        return native

    def user(self, content: Any, **fields: Any) -> dict[str, Any]:
        return self.record("user", message={"role": "user", "content": content}, **fields)

    def answer(self, *blocks: Any, answer: str | None = None, **fields: Any) -> dict[str, Any]:
        message = {
            "id": answer or f"msg_{self._count}",
            "role": "assistant",
            "model": "claude-opus-5-5",
            "content": [
                {"type": "text", "text": block} if isinstance(block, str) else block
                for block in blocks
            ],
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        return self.record("assistant", message={**message, **fields.pop("message", {})}, **fields)

    def call(self, call_id: str, *, answer: str | None = None, **fields: Any) -> dict[str, Any]:
        block = {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": call_id}}
        return self.answer(block, answer=answer, **fields)

    def result(self, call_id: str, content: Any = "done", **fields: Any) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        return self.user([block], **fields)


@pytest.fixture
def chain() -> Chain:
    return Chain()
