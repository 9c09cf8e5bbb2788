"""Calls and results find each other."""

from __future__ import annotations

from typing import Literal

from ultracontext.formats.draft import Draft
from ultracontext.formats.pairing import by_call_id_or_name, joined, pairs
from ultracontext.model import Message, Tool


def message(
    kind: Literal["tool_call", "tool_result"], call: str, name: str = "", output: str | None = None
) -> Message:
    tool = Tool(name=name, call_id=call, output=output)
    return Message(id=f"{kind}-{call}", role="tool", kind=kind, event_type="", text="", tool=tool)


def test_an_id_used_again_pairs_in_order() -> None:
    found = [
        message("tool_call", "1", "a"), message("tool_call", "1", "b"),
        message("tool_result", "1", output="x"), message("tool_result", "1", output="y"),
        message("tool_result", "1", output="z"),
    ]  # fmt: skip
    paired = pairs(found)
    assert {place: found.index(other) for place, other in paired.items()} == {
        0: 2, 2: 0, 1: 3, 3: 1,
    }  # fmt: skip


def test_results_before_their_call_pair_too() -> None:
    found = [message("tool_result", "1"), message("tool_call", "1")]
    assert pairs(found) == {0: found[1], 1: found[0]}


def test_without_an_id_they_pair_by_name_where_asked() -> None:
    found = [message("tool_call", "", "ls"), message("tool_result", "", "ls")]
    assert pairs(found) == {}
    assert pairs(found, by_call_id_or_name) == {0: found[1], 1: found[0]}


def test_joined_gives_each_what_the_other_has() -> None:
    call = Tool(name="ls", call_id="1")
    result = Tool(name="", call_id="1", output="files", is_error=False)
    assert joined("tool_call", call, result).output == "files"
    assert joined("tool_result", result, call).name == "ls"


def test_messages_of_a_record_are_numbered_and_keep_what_they_were_given() -> None:
    draft = Draft("msg_1", "2026-11-30T10:00:00.000Z", {"a": 1})
    draft.system("note", " ")
    draft.base["model"] = "m"
    draft.meta("odd", extra={"b": 2})
    draft.add("user", "user", "typed", "hello", time="2026-11-30T11:00:00.000Z")
    assert [m.id for m in draft.messages] == ["msg_1", "msg_1.1", "msg_1.2"]
    assert [m.kind for m in draft.messages] == ["meta", "meta", "user"]
    assert [m.metadata for m in draft.messages] == [
        {"a": 1}, {"a": 1, "model": "m", "b": 2}, {"a": 1, "model": "m"},
    ]  # fmt: skip
    assert [m.timestamp for m in draft.messages][1:] == [
        "2026-11-30T10:00:00.000Z", "2026-11-30T11:00:00.000Z",
    ]  # fmt: skip
