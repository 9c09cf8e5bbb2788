from __future__ import annotations

import pytest

from ultracontext.agents.codex.tools import (
    call_text,
    command_text,
    compact,
    failed,
    output_text,
    parse,
    run_of,
    whole_output,
)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("Exit code: 3\nWall time: 0 seconds\nOutput:\nx", True),
        ("Exit code: 0\nWall time: 0 seconds\nOutput:\nExit code: 3", False),
        ("Chunk ID: a\nWall time: 0.0\nProcess exited with code 1\nOutput:\n", True),
        ("Chunk ID: a\nProcess running with session ID 4\n", None),
        ('{"output":"a","metadata":{"exit_code":0,"duration_seconds":0.0}}', False),
        ('{"output":"a","metadata":{"exit_code":2}}', True),
        ('{"output":"cut', None),
        ("unsupported call: update_plan", True),
        ("apply_patch verification failed: Failed to find", True),
        ("aborted", True),
        ("Plan updated", None),
        ([{"type": "input_text", "text": "Script failed\nWall time"}], True),
        ([{"type": "input_text", "text": "Script completed\n"}], False),
        ({"content": "x", "success": False}, True),
        (None, None),
        (7, None),
    ],
)
def test_failures_are_read_from_the_output(output: object, expected: bool | None) -> None:
    assert failed(output) is expected


def test_the_json_around_old_outputs_is_left_out() -> None:
    assert output_text('{"output":"a\\nb","metadata":{"exit_code":0}}') == "a\nb"
    assert output_text('{"output":7}') == '{"output":7}'
    assert (
        output_text([{"type": "input_text", "text": "a"}, {"type": "input_image"}]) == "a\n[image]"
    )
    assert output_text(None) == ""


def test_calls_read_like_what_was_run() -> None:
    assert call_text("shell", {"command": ["bash", "-lc", "ls"], "workdir": "/w"}) == "shell: ls"
    assert call_text("exec_command", {"cmd": "ls"}) == "exec_command: ls"
    assert call_text("apply_patch", "*** Begin Patch") == "apply_patch: *** Begin Patch"
    assert (
        call_text("apply_patch", {"changes": {"a.py": {}, "b.py": {}}}) == "apply_patch: a.py, b.py"
    )
    assert call_text("wait", {}) == "wait"
    assert call_text("x", {"n": 1}) == 'x: {"n":1}'
    assert command_text(["git", "log", 3, "-1"]) == "git log -1"


def test_arguments_that_are_no_json_stay_as_they_are() -> None:
    assert parse('{"a": 1}') == {"a": 1}
    assert parse('{"a": ') == '{"a": '
    assert parse({"a": 1}) == {"a": 1}


def test_compact_never_raises() -> None:
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    assert compact(deep) == "[list]"
    assert compact({"a": 1 << 80}) == '{"a": 1208925819614629174706176}'
    assert compact("\ud83d") == '"\ud83d"'


def test_a_cut_output_is_made_whole_under_its_head() -> None:
    head = "Chunk ID: a\nProcess exited with code 0\nOutput:\n"
    cut = head + "aaa…512 tokens truncated…zzz"
    longer = "aaa" + "m" * 2000 + "zzz"
    assert whole_output(cut, longer) == head + longer
    assert whole_output(head + "abc", longer) == head + "abc"
    assert whole_output(cut, None) == cut
    assert whole_output([1], longer) == [1]


def test_events_of_all_kinds_of_calls_are_understood() -> None:
    mcp = run_of(
        "mcp_tool_call_end",
        {
            "call_id": "c",
            "invocation": {"server": "s", "tool": "t", "arguments": {"a": 1}},
            "result": {"Err": "no"},
        },
    )
    assert mcp is not None
    assert (mcp.name, mcp.call_id, mcp.given, mcp.output, mcp.error) == (
        "mcp__s__t",
        "c",
        {"a": 1},
        "no",
        True,
    )
    good = run_of(
        "McpToolCall",
        {
            "id": "c",
            "server": "s",
            "tool": "t",
            "result": {"content": [{"type": "text", "text": "x"}]},
        },
    )
    assert good is not None
    assert (output_text(good.output), good.error) == ("x", False)
    patch = run_of("FileChange", {"id": "c", "changes": {"b": {}, "a": {}}, "status": "failed"})
    assert patch is not None
    assert (patch.extra["files"], patch.error) == (["a", "b"], True)
    spawn = run_of("CollabAgentToolCall", {"id": "c", "tool": "spawnAgent", "prompt": "go"})
    assert spawn is not None
    assert spawn.name == "spawn_agent"
    assert run_of("Nonsense", {}) is None
