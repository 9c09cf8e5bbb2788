"""Every recording against what was typed, answered and called in it."""

from __future__ import annotations

from typing import Any

import pytest
from recordings import files, play, recordings

WANTED: dict[str, dict[str, list[tuple[str, str]]]] = {
    "cli-store-db": {
        "1643fd0d": [
            ("user", "Run echo hub-probe"), ("tool_call", "Shell"),
            ("assistant", "It printed hub-probe."), ("user", "And again?"),
            ("assistant", "Same output."),
        ],
    },
    "jsonl-plain-chat": {
        "8c3383e1": [
            ("user", "What does src/math.js export?"), ("assistant", "It exports `add(a, b)`."),
            ("user", "Does it check types?"), ("assistant", "No, it does not."),
        ],
    },
    "jsonl-tool-use": {
        "5b049064": [
            ("user", "Add a subtract function, run the tests, then search for callers"),
            ("assistant", "I will read the module first."), ("tool_call", "Read"),
            ("tool_call", "StrReplace"), ("tool_call", "Write"), ("tool_call", "Shell"),
            ("tool_call", "Grep"), ("tool_call", "Task"),
            ("assistant", "`subtract` is in place; the tests pass and nothing else calls `add`."),
        ],
        "253c4b7d": [("tool_call", "Grep"), ("assistant", "No callers.")],
    },
    "txt-legacy": {
        "f7158dbf": [
            ("user", "Fix the failing test"), ("tool_call", "ReadFile"),
            ("assistant", "The test expected 4; I will correct it."), ("tool_call", "ApplyPatch"),
            ("assistant", "Done: the expectation is 3 now."), ("user", "Thanks"),
            ("assistant", "You are welcome."),
        ],
    },
    "vscdb-3x": {
        "99969e5c": [
            ("user", "Token bucket or leaky bucket?"),
            ("assistant", "Token bucket: it allows bursts."),
        ],
        "9d4522d9": [
            ("user", "Add subtract to src/math.js"), ("tool_call", "read_file_v2"),
            ("tool_call", "edit_file_v2"), ("tool_call", "run_terminal_command_v2"),
            ("tool_call", "run_terminal_command_v2"),
            ("assistant", "Added `subtract`; lint has three problems."),
        ],
    },
}  # fmt: skip
"""By recording and the begin of the session's id."""


def shown(messages: list[Any]) -> list[tuple[str, str]]:
    return [
        (m.kind, m.tool.name if m.kind == "tool_call" else m.text)
        for m in messages
        if m.kind in ("user", "assistant", "tool_call")
    ]


@pytest.mark.parametrize("recording", recordings("cursor"))
def test_recording(recording: str) -> None:
    played = play("cursor", files("cursor", recording))
    read = {str(name)[:8]: session.read() for name, session in played.sessions.items()}
    assert {name: shown(messages) for name, (messages, _) in read.items()} == WANTED[recording]
    for messages, facts in read.values():
        assert facts.messages == sum(m.kind != "meta" for m in messages)
        assert facts.unknown == {}
        calls = [m.tool for m in messages if m.kind == "tool_call" and m.tool is not None]
        assert all(call.output is not None for call in calls if call.call_id)


def test_facts() -> None:
    played = play("cursor", files("cursor", "cli-store-db"))
    facts = next(iter(played.sessions.values())).read()[1]
    assert (facts.title, facts.title_source) == ("Probe the shell", "agent")
    assert (facts.project_path, facts.model) == ("/home/dev/acme-api", "cursor-grok-4.5-high")
    played = play("cursor", files("cursor", "vscdb-3x"))
    projects = {session.read()[1].project_path for session in played.sessions.values()}
    assert projects == {"/home/dev/acme-api"}
