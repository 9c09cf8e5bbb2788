from __future__ import annotations

from typing import Any

from rollouts import Masking, Native, Read, Reading, Say, tool_of

from ultracontext.agents.codex import SPEC
from ultracontext.agents.codex.settle import settled
from ultracontext.model import MessageId, Tool

HEAD = "Chunk ID: a\nWall time: 0.1\nProcess exited with code 0\nOutput:\n"


def ran(say: Say, call_id: str, output: str, code: int = 0, **more: Any) -> Native:
    return say.completed(
        "CommandExecution",
        id=call_id,
        command=["/bin/bash", "-lc", "ls"],
        aggregated_output=output,
        exit_code=code,
        **more,
    )


def tools(got: Read, kind: str = "tool_call") -> list[Tool]:
    return [tool_of(m) for m in got.messages if m.kind == kind]


def test_outputs_are_paired_by_id_in_any_order(read: Reading, say: Say) -> None:
    got = read(
        say.call("a", "c1"),
        say.call("b", "c2"),
        say.user("between"),
        say.output("c2", "two"),
        say.output("c1", "one"),
    )
    assert [(t.name, t.output) for t in tools(got)] == [("a", "one"), ("b", "two")]
    assert [(t.name, t.output) for t in tools(got, "tool_result")] == [("b", "two"), ("a", "one")]


def test_output_before_its_call(read: Reading, say: Say) -> None:
    got = read(say.output("c1", "one"), say.call("a", "c1"))
    assert tools(got)[0].output == "one"


def test_an_id_used_twice_pairs_in_order(read: Reading, say: Say) -> None:
    got = read(
        say.call("a", "c1"), say.output("c1", "one"), say.call("a", "c1"), say.output("c1", "two")
    )
    assert [t.output for t in tools(got)] == ["one", "two"]


def test_calls_and_outputs_without_partner_stay(read: Reading, say: Say) -> None:
    got = read(say.call("a", "c1"), say.output("c9", "lost"), say.output("", "goal"))
    assert got.kinds() == ["tool_call", "tool_result", "tool_result"]
    assert tools(got)[0].output is None


def test_the_event_of_a_call_is_not_a_second_call(read: Reading, say: Say) -> None:
    got = read(
        say.call("exec_command", "c1", cmd="ls"),
        ran(say, "c1", "f\n"),
        say.output("c1", HEAD + "f"),
    )
    assert got.kinds() == ["tool_call", "tool_result"]
    assert tools(got)[0].is_error is False


def test_the_event_gives_what_was_cut(read: Reading, say: Say) -> None:
    whole = "start" + "m" * 20_000 + "end"
    got = read(
        say.call("exec_command", "c1", cmd="ls"),
        ran(say, "c1", whole),
        say.output("c1", HEAD + "start…4000 tokens truncated…end"),
    )
    assert tools(got)[0].output == HEAD + whole
    assert tools(got, "tool_result")[0].output == HEAD + whole
    assert got.of("tool_result") == [HEAD + whole]


def test_the_event_answers_a_call_that_was_interrupted(read: Reading, say: Say) -> None:
    got = read(say.call("exec_command", "c1", cmd="ls"), ran(say, "c1", "half", code=130))
    assert (tools(got)[0].output, tools(got)[0].is_error) == ("half", True)


def test_an_event_before_its_item_is_the_same_call(read: Reading, say: Say) -> None:
    got = read(
        ran(say, "c1", "f"),
        say.call("exec_command", "c1", cmd="ls -l"),
        say.output("c1", HEAD + "f"),
    )
    assert got.kinds() == ["tool_call", "tool_result"]
    assert (tools(got)[0].input, tools(got)[0].output) == ({"cmd": "ls -l"}, HEAD + "f")
    assert "nested" not in got.messages[0].metadata


def test_an_event_of_a_script_is_a_nested_call(read: Reading, say: Say) -> None:
    got = read(ran(say, "exec-1", "f", code=1))
    assert got.kinds() == ["tool_call", "tool_result"]
    assert got.messages[0].metadata == {"nested": True}
    assert (tools(got)[0].name, tools(got)[0].is_error) == ("exec_command", True)


def test_commands_of_the_person_are_marked(read: Reading, say: Say) -> None:
    got = read(ran(say, "u1", "f", source="user_shell"))
    assert got.messages[0].metadata == {"source": "user_shell"}


def test_changed_files_are_told_with_the_call(read: Reading, say: Say) -> None:
    patch = say.item(
        {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c1", "input": "x"}
    )
    event = say.completed(
        "FileChange", id="c1", changes={"/w/b": {}, "/w/a": {}}, status="completed"
    )
    got = read(patch, event)
    assert got.messages[0].metadata["files"] == ["/w/a", "/w/b"]


def test_all_kinds_of_calls(read: Reading, say: Say) -> None:
    got = read(
        say.item(
            {"type": "local_shell_call", "call_id": "l1", "action": {"command": ["ls", "-l"]}}
        ),
        say.output("l1", "x"),
        say.item({"type": "custom_tool_call", "name": "exec", "call_id": "u1", "input": "text(1)"}),
        say.item({"type": "custom_tool_call_output", "call_id": "u1", "output": "1"}),
        say.item({"type": "tool_search_call", "call_id": "s1", "arguments": {"query": "git"}}),
        say.item({"type": "tool_search_output", "call_id": "s1", "tools": [{"name": "git_log"}]}),
        say.item(
            {"type": "image_generation_call", "id": "ig1", "revised_prompt": "cat", "result": "AAA"}
        ),
        say.event("image_generation_end", call_id="ig1", revised_prompt="cat", result="AAA"),
        say.event("web_search_end", call_id="ws1", query="weather", action={"type": "search"}),
        say.item({"type": "web_search_call", "action": {"type": "search", "query": "weather"}}),
    )
    assert [(t.name, t.call_id) for t in tools(got)] == [
        ("local_shell", "l1"),
        ("exec", "u1"),
        ("tool_search", "s1"),
        ("image_generation", "ig1"),
        ("web_search", "ws1"),
    ]
    assert got.of("tool_call")[0] == "local_shell: ls -l"
    assert [t.output for t in tools(got)][:4] == ["x", "1", "git_log", "[image]"]


def test_a_search_is_one_call_with_and_without_id(read: Reading, say: Say) -> None:
    action = {"type": "search", "query": "weather"}
    event = say.event("web_search_end", call_id="ws1", query="weather", action=action)
    for ident in ({"id": "ws1"}, {}):
        item = say.item({"type": "web_search_call", "action": action, **ident})
        assert read(event, item).of("tool_call") == ["web_search: weather"]
        assert read(item, event).of("tool_call") == ["web_search: weather"]


def test_settling_needs_no_state_and_may_be_done_again(read: Reading, say: Say) -> None:
    got = read(say.meta(), *say.turn("q", "a"), say.call("a", "c1"), say.output("c1", "x"))
    assert settled(got.messages) == got.messages


def test_a_list_that_lacks_the_first_occurrence_still_settles(masked: Masking, say: Say) -> None:
    reader = SPEC.reader(say.SESSION)
    fed = [
        m
        for n, line in enumerate(say.turn("q", "a"))
        for m in reader.feed(masked(line), MessageId(f"m{n}"))
    ]
    assert [m.metadata for m in reader.settle(fed[1:2])] == [{}]
