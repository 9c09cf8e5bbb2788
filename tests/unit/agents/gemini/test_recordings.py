"""The real recordings: what was asked of the program, and what the model was sent and answered.

`typed`, `answers` and `calls` are from the scenarios that drove the program, not from its files.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from recordings import files, play, recordings

from ultracontext.model import Message

UNDONE = {
    "api-error-429": ["Explain the build"],
    "tui-rewind-esc": ["Question three, long", "Question four"],
}
RATE_LIMITER = (
    "We are going to design a rate limiter. Codeword: heliotrope-41. "
    "First: token bucket or leaky bucket?"
)
TYPED: dict[str, list[str]] = {
    "api-error-429": ["Explain the build"],
    "at-file": ["Explain @README.md and @src/math.js"],
    "big-output": ["Show me a big log"],
    "image-attach": ["What is on @logo.png ?"],
    "interrupted-int": ["Write a long story about the router", "Go on, please"],
    "interrupted-tool": ["Run a long task"],
    "loop-warning": [
        "Load the history. Marker alpha-1.", "Second question, marker beta-2",
        "Third question, marker gamma-3",
    ],
    "multi-turn": [
        RATE_LIMITER,
        "Good. What is the refill rate for 600 requests a minute?",
        "And the bucket size for bursts of 50?",
    ],
    "plain-chat": ["What does src/math.js export?"],
    "thoughts": ["Why might add() be slow?", "Think again"],
    "tool-failing": ["Run the linter and fix what it says"],
    "tool-shell": ["Run the tests and tell me which node version is used"],
    "tool-write-replace": ["Add a subtract function and a doc"],
    "tui-compress": [
        "Talk about token buckets please", "And the refill rate", "Where were we"
    ],
    "tui-rewind-esc": [
        "Question one", "Question two", "Question three, long", "Question four", "Question five"
    ],
    "upgrade-v29-to-v61": [
        "Old session, codeword quince-8. Write a file.", "What was the codeword?"
    ],
    "v24-api-error": ["Explain the build"],
    "v24-plain-chat": ["What does src/math.js export? (v24)", "And does it check types?"],
    "v24-tools": ["Run ls, then edit the file", "What did you do?"],
    "v29-plain-chat": ["What does src/math.js export? (v29)", "And does it check types?"],
    "v29-tools": ["Run ls, then edit the file", "What did you do?"],
}  # fmt: skip
ANSWERS = {
    "multi-turn": [
        "Token bucket: it allows bursts, which fits acme-api.", "Ten tokens a second.",
        "Fifty tokens; see heliotrope-41.",
    ],
    "tui-compress": [
        "First answer about buckets, codeword copper-12.", "Second answer: refill ten a second.",
        "Answer after the compression.",
    ],
    "tui-rewind-esc": [
        "Answer one.", "Answer two.", "Answer after the interrupt.", "Answer after the rewind."
    ],
    "upgrade-v29-to-v61": ["Written.", "quince-8"],
    "v24-tools": ["Looking.", "Done.", "I wrote NOTES.md."],
}  # fmt: skip
CALLS = {
    "tool-shell": ["run_shell_command"] * 2,
    "tool-failing": ["run_shell_command", "read_file", "replace", "no_such_tool"],
    "v24-tools": ["run_shell_command", "read_file", "write_file", "run_shell_command", "read_file"],
    "upgrade-v29-to-v61": ["write_file"],
    "big-output": ["run_shell_command"],
    "interrupted-tool": [],
}  # fmt: skip
PROJECT = "/home/dev/gemini-lab/acme-api"


def only(recording: str) -> tuple[list[Message], Any]:
    sessions = play("gemini", files("gemini", recording)).sessions
    assert len(sessions) == 1
    return next(iter(sessions.values())).read()


@pytest.mark.parametrize("recording", TYPED)
def test_typed_prompts_stand_once_and_in_order(recording: str) -> None:
    messages, facts = only(recording)
    assert [m.text for m in messages if m.kind == "user"] == TYPED[recording]
    assert [m.text for m in messages if m.kind == "user" and "undone" in m.metadata] == UNDONE.get(
        recording, []
    )
    assert facts.title in (TYPED[recording][0], "Mock summary of the session")


@pytest.mark.parametrize("recording", ANSWERS)
def test_answers_stand_once_and_in_order(recording: str) -> None:
    messages, _ = only(recording)
    assert [m.text for m in messages if m.kind == "assistant"] == ANSWERS[recording]


@pytest.mark.parametrize("recording", CALLS)
def test_calls_stand_once_with_their_results(recording: str) -> None:
    messages, _ = only(recording)
    calls = [m for m in messages if m.kind == "tool_call"]
    assert [m.tool.name for m in calls if m.tool] == CALLS[recording]
    assert all(m.tool and m.tool.output is not None for m in calls)
    assert len([m for m in messages if m.kind == "tool_result"]) == len(calls)


@pytest.mark.parametrize("recording", recordings("gemini"))
def test_nothing_that_the_program_put_in_is_typed(recording: str) -> None:
    marks = (
        "<session_context>",
        "<hook_context>",
        "<state_snapshot>",
        "Potential loop",
        "--- Cont",
    )
    for message in only(recording)[0]:
        if message.kind in ("user", "assistant"):
            assert not any(mark in message.text for mark in marks)


@pytest.mark.parametrize("recording", recordings("gemini"))
def test_the_project_is_its_folder_or_unknown(recording: str) -> None:
    project = only(recording)[1].project_path
    known = not recording.startswith("v24") or recording == "v24-tools"
    assert project == (PROJECT if known else None)


@pytest.mark.parametrize("recording", recordings("gemini"))
def test_nothing_in_a_recording_is_new_to_us(recording: str) -> None:
    assert only(recording)[1].unknown == {}


@pytest.mark.parametrize("recording", recordings("gemini"))
def test_files_in_any_order_read_the_same(recording: str) -> None:
    forth, back = (
        [
            (m.kind, m.text, m.tool)
            for session in play("gemini", laid).sessions.values()
            for m in session.read()[0]
            if m.kind not in ("meta", "system")
        ]
        for laid in (files("gemini", recording), files("gemini", recording)[::-1])
    )
    assert forth == back


def test_the_whole_of_a_big_output_is_there(lab: Any) -> None:
    known = dict(files("gemini", "big-output"))
    path = next(name for name in known if name.endswith(".jsonl"))
    natives = [json.loads(line) for line in known[path].split(b"\n") if line]
    read = lab.files(known).log(path, natives)
    result = read.read(next(iter(read.fed))).kinds("tool_result")[0]
    assert "log line 17654" in result.text
    assert result.metadata["spilled"] is True
