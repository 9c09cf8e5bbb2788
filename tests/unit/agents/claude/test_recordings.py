"""Every recording against what was typed, answered and called in it.

`expected.json` was written once from the reader and checked against an independent reading of the
files (typed prompts, answers, calls with results), then by eye. Long texts are cut there.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from recordings import files, play, recordings

from ultracontext.agents.claude.compat import MET
from ultracontext.model import Message, SessionFacts

EXPECTED = Path(__file__).parent / "expected.json"
LONGEST = 70

SECRET = "secret-in-prompt"
"""Its texts are masked, and the masks change with the rules: only kinds are compared."""


def outline(messages: list[Message], facts: SessionFacts, *, texts: bool) -> dict[str, Any]:
    """A session in short: facts, and a line for each message but `meta`."""
    return {
        "facts": [
            facts.title if texts else None, facts.title_source, facts.model, facts.agent_version,
            facts.parent_session, facts.relation, facts.tokens,
        ],
        "messages": [line(message, texts=texts) for message in messages if message.kind != "meta"],
    }  # fmt: skip


def line(message: Message, *, texts: bool) -> str:
    what = f"{message.kind} {message.event_type}"
    if not texts:
        return what
    text = message.text.replace("\n", "⏎")[:LONGEST]
    if message.kind != "tool_call" or message.tool is None:
        return f"{what}: {text}"
    output = message.tool.output
    shown = output if isinstance(output, str) else json.dumps(output)
    return f"{what}: {text} → {shown[:LONGEST]!r} {message.tool.is_error}"


def outlines(recording: str) -> dict[str, Any]:
    played = play("claude", files("claude", recording))
    return {
        str(name): outline(*session.read(), texts=recording != SECRET)
        for name, session in played.sessions.items()
    }


@pytest.mark.parametrize("recording", recordings("claude"))
def test_recording_reads_as_expected(recording: str) -> None:
    assert outlines(recording) == json.loads(EXPECTED.read_text())[recording]


@pytest.mark.parametrize("recording", recordings("claude"))
def test_recording_holds_nothing_unknown(recording: str) -> None:
    for session in play("claude", files("claude", recording)).sessions.values():
        facts = session.read()[1]
        assert facts.unknown == {}
        assert facts.agent_version in {met.version for met in MET}


@pytest.mark.parametrize("recording", recordings("claude"))
def test_project_is_that_of_the_lab(recording: str) -> None:
    project = "Проект é/app.v2_x 日本" if recording == "slug-non-ascii" else "acme-api"
    for session in play("claude", files("claude", recording)).sessions.values():
        assert session.read()[1].project_path == f"/home/dev/claude-lab/{project}"


def test_every_recording_is_counted_as_evidence() -> None:
    assert sum(met.recordings for met in MET) == len(recordings("claude")) == 29


def test_prompt_history_of_the_terminal_is_in_the_sessions() -> None:
    """`history.jsonl` is what a person typed, written by the program on its own."""
    for recording in ("tui-bash-mode-and-slash", "tui-chat-tools", "tui-interrupt"):
        laid = files("claude", recording)
        shown = {
            message.text.replace("! ", "!", 1)
            if message.event_type == "bash_input"
            else message.text
            for session in play("claude", laid).sessions.values()
            for message in session.read()[0]
            if message.kind == "user" or message.event_type == "bash_input"
        }
        history = dict(laid)["history.jsonl"].decode().splitlines()
        typed = {json.loads(entry)["display"] for entry in history}
        assert shown == {text for text in typed if not text.startswith("/")}


def test_whole_of_a_spilled_output_is_read() -> None:
    [session] = play("claude", files("claude", "long-tool-output")).sessions.values()
    [call] = [message for message in session.read()[0] if message.kind == "tool_call"]
    assert call.tool is not None
    assert call.tool.output.split() == [str(number) for number in range(1, 20001)]
