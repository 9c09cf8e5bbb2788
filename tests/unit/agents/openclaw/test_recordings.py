"""Every recording against what was typed, answered and called in it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recordings import files, play, recordings

from ultracontext.model import Message, SessionFacts

SECRET = "secret-in-prompt"


def expected(natives: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """An independent reading: prompts, answers and calls in order."""
    found: list[tuple[str, str]] = []
    last = None
    for native in natives:
        message = native.get("message") or {}
        content = message.get("content")
        parts: list[Any] = content if isinstance(content, list) else [content]
        parts = [{"type": "text", "text": p} if isinstance(p, str) else p or {} for p in parts]
        text = "\n".join(p["text"] for p in parts if p.get("type") == "text" and p.get("text"))
        if message.get("role") == "user":
            found.append(("user", text))
        elif message.get("role") == "assistant":
            if (message.get("api") == "cli" and text == last) or "errorMessage" in message:
                continue
            last = text
            found += [("assistant", text)] if text else []
            found += [("tool_call", p["id"]) for p in parts if p.get("type") == "toolCall"]
    return found


def natives_of(path: str, data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.split(b"\n") if line.strip()]


def shown(messages: list[Message]) -> list[tuple[str, str]]:
    return [
        (m.kind, m.tool.call_id if m.tool and m.kind == "tool_call" else m.text)
        for m in messages
        if m.kind in ("user", "assistant", "tool_call")
    ]


@pytest.mark.parametrize("recording", [r for r in recordings("openclaw") if r.startswith("v7")])
def test_files(recording: str) -> None:
    laid = files("openclaw", recording)
    (session,) = play("openclaw", laid).sessions.values()
    messages, facts = session.read()
    (log,) = [d for p, d in laid if p.endswith(".jsonl") and "trajectory" not in p]
    wanted = expected(natives_of(recording, log))
    if SECRET in recording:
        assert [kind for kind, _ in shown(messages)] == [kind for kind, _ in wanted]
    else:
        assert shown(messages) == wanted
    check(messages, facts)
    assert facts.lineage_key == f"agent:main:explicit:{session.session_id}"
    assert not any("branch" in message.metadata for message in messages)


@pytest.mark.parametrize("recording", [r for r in recordings("openclaw") if r.startswith("v9")])
def test_databases(recording: str) -> None:
    played = play("openclaw", files("openclaw", recording))
    for session in played.sessions.values():
        events = [r.native["value"] for r in session.records if r.native["table"] == "transcript"]
        messages, facts = session.read()
        assert shown(messages) == expected(events)
        check(messages, facts)
    assert len(played.sessions) == (11 if "gateway" in recording else 1)


def check(messages: list[Message], facts: SessionFacts) -> None:
    assert facts.project_path is not None
    assert facts.project_path.startswith("/home/dev/")
    assert (facts.model, facts.title_source, facts.parent_session) == ("mock-1", "prompt", None)
    assert facts.unknown == {}
    assert all(m.tool and m.tool.output is not None for m in messages if m.kind == "tool_call")
