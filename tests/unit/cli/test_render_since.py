"""What `show -f` prints when a session has grown."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ultracontext.cli import render
from ultracontext.model import Message, Tool


def message(name: str, kind: Any, text: str = "", tool: Tool | None = None) -> Message:
    return Message(id=name, role="user", kind=kind, event_type="t", text=text, tool=tool)


def printed(messages: list[Message], told: set[str]) -> str:
    row: Any = SimpleNamespace(agent="toy")
    return "\n".join(render.text_since(row, SimpleNamespace(messages=messages), 80, told))


CALL = Tool(name="run", call_id="c", input="ls")
DONE = Tool(name="run", call_id="c", input="ls", output="files")
RESULT = Tool(name="run", call_id="c", output="files")


def test_only_what_was_not_told_is_printed() -> None:
    messages = [message("1", "user", "old"), message("2", "assistant", "new")]
    assert "old" not in printed(messages, {"1"})
    assert "new" in printed(messages, {"1"})


def test_a_result_whose_call_was_told_without_it_is_printed() -> None:
    messages = [message("1", "tool_call", tool=DONE), message("2", "tool_result", tool=RESULT)]
    assert printed(messages, set()).count("files") == 1
    assert printed(messages, {"1"}).count("files") == 1
    assert printed(messages, {"1", "2"}) == ""


def test_a_call_without_its_result_is_printed_at_once() -> None:
    assert "ls" in printed([message("1", "tool_call", tool=CALL)], set())
