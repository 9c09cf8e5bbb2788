"""What a session is doing, by its messages."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ultracontext.formats import ENDED, TURN, Activity
from ultracontext.model import Message, Tool

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def message(kind: Any, text: str = "", *, ago: int = 0, **more: Any) -> Message:
    stamp = (NOW - timedelta(seconds=ago)).isoformat()
    return Message(
        id="msg_x", role="user", kind=kind, event_type=kind, text=text, timestamp=stamp, **more
    )


def seen(*messages: Message) -> Activity:
    activity = Activity()
    activity.see(messages)
    return activity


def call(name: str, call_id: str, ago: int = 0) -> Message:
    return message("tool_call", f"{name}(x)", ago=ago, tool=Tool(name=name, call_id=call_id))


def test_asked_and_not_answered_runs() -> None:
    assert seen(message("user", "hello")).state(NOW) == "running"


def test_an_open_call_runs_and_is_named() -> None:
    activity = seen(message("user", "go"), call("Bash", "1", 30), call("Read", "2", 20))
    assert activity.state(NOW) == "running"
    assert activity.open_call is not None
    assert activity.open_call.name == "Read"
    activity.see([message("tool_result", tool=Tool(call_id="2"))])
    assert activity.open_call is not None
    assert activity.open_call.name == "Bash"


def test_text_before_a_call_is_not_the_end_of_a_turn_where_ends_are_marked() -> None:
    first = message("assistant", "done", metadata={TURN: ENDED})
    activity = seen(message("user", "a"), first)
    assert activity.state(NOW) == "turn"
    activity.see([message("user", "b"), message("assistant", "I will look.")])
    assert activity.state(NOW) == "running"


def test_without_marks_an_answer_ends_the_turn() -> None:
    assert seen(message("user", "a"), message("assistant", "b")).state(NOW) == "turn"


@pytest.mark.parametrize(("ago", "state"), [(60, "turn"), (1801, "idle"), (86401, "ended")])
def test_time_makes_idle_and_ended(ago: int, state: str) -> None:
    activity = seen(message("user", ago=ago), message("assistant", "x", ago=ago))
    assert activity.state(NOW) == state
    assert activity.state(NOW, gone=True) == "ended"


def test_last_words_are_one_bounded_line() -> None:
    activity = seen(message("assistant", "a\n" * 5000 + "the end"))
    assert activity.words.endswith("the end")
    assert len(activity.words) <= 400
    assert "\n" not in activity.words
