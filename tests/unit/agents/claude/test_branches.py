"""Branches that a later line left, and those that only ran in parallel."""

from __future__ import annotations

from typing import Any

from recordings import files, play


def marked(messages: list[Any]) -> list[str]:
    return [m.metadata["uuid"] for m in messages if m.metadata.get("branch") == "abandoned"]


def test_straight_chain_has_no_marks_and_no_parents(read: Any, chain: Any) -> None:
    messages, _ = read(chain.user("a"), chain.answer("b"), chain.user("c"))
    assert all(
        set(m.metadata) <= {"uuid", "message_id", "model", "cwd", "git_branch"} for m in messages
    )


def test_prompt_that_was_wound_back_is_marked_with_all_below(read: Any, chain: Any) -> None:
    messages, _ = read(
        chain.user("a"), chain.answer("b"), chain.user("left"), chain.call("t1"),
        chain.result("t1"), chain.answer("left too"),
        chain.user("instead", parentUuid="u2"), chain.answer("done"),
    )  # fmt: skip
    assert marked(messages) == ["u3", "u4", "u5", "u6"]
    assert "parent" not in messages[6].metadata


def test_answer_that_was_tried_again_is_marked(read: Any, chain: Any) -> None:
    messages, _ = read(
        chain.user("a"),
        chain.answer("half", isAbortedMidStream=True),
        chain.answer("whole", parentUuid="u1"),
    )
    assert marked(messages) == ["u2"]


def test_first_prompt_that_was_wound_back(read: Any, chain: Any) -> None:
    messages, _ = read(
        chain.user("a"),
        chain.answer("b"),
        chain.user("instead", parentUuid=None),
        chain.answer("c"),
    )
    assert marked(messages) == ["u1", "u2"]


def test_other_records_without_a_parent_do_not_begin_anew(read: Any, chain: Any) -> None:
    command = "<command-name>/model</command-name>"
    messages, _ = read(
        chain.user("a"), chain.call("t1"), chain.result("t1", parentUuid=None),
        chain.user(command, parentUuid=None),
        chain.user("Summary", parentUuid=None, isCompactSummary=True), chain.user("b"),
    )  # fmt: skip
    assert marked(messages) == []


def test_records_without_any_parent_are_not_judged(read: Any, chain: Any) -> None:
    natives = [chain.user("a"), chain.answer("b"), chain.user("c")]
    for native in natives:
        del native["parentUuid"]
    assert marked(read(*natives)[0]) == []


def test_parallel_results_are_not_marked(read: Any, chain: Any) -> None:
    """As 2.1.332 writes it: each result below its own call, the next line below the last result."""
    natives = [
        chain.user("a"), chain.call("t1", answer="m"), chain.call("t2", answer="m"),
        chain.call("t3", answer="m"), chain.result("t3"), chain.result("t1", parentUuid="u2"),
        chain.record("attachment", attachment={"type": "hook_success", "content": "hook"}),
        chain.result("t2", parentUuid="u3"), chain.answer("b"), chain.user("c"),
    ]  # fmt: skip
    messages, _ = read(*natives)
    assert marked(messages) == []
    assert all(m.tool.output == "done" for m in messages if m.tool)


def test_results_that_arrive_before_the_next_call_line(read: Any, chain: Any) -> None:
    messages, _ = read(
        chain.user("a"), chain.call("t1", answer="m"), chain.result("t1"),
        chain.call("t2", answer="m", parentUuid="u2"), chain.result("t2"), chain.answer("b"),
    )  # fmt: skip
    assert marked(messages) == []


def test_branch_below_a_result_that_was_left(read: Any, chain: Any) -> None:
    messages, _ = read(
        chain.user("a"), chain.call("t1"), chain.result("t1"), chain.answer("left"),
        chain.answer("instead", parentUuid="u3"),
    )  # fmt: skip
    assert marked(messages) == ["u4"]


def test_parent_that_was_left_out_is_bridged(read: Any, chain: Any) -> None:
    """`prompt_snapshot` is not kept, but others hang below it."""
    natives = [
        chain.user("a"), chain.answer("b"),
        chain.user("left", parentUuid="gone"), chain.answer("left"),
        chain.user("instead", parentUuid="gone"), chain.answer("c"),
    ]  # fmt: skip
    assert marked(read(*natives)[0]) == ["u3", "u4"]
    assert marked(read(*natives[:4])[0]) == []


def test_records_that_trail_the_last_turn_do_not_move_the_leaf(read: Any, chain: Any) -> None:
    messages, _ = read(
        chain.user("a"), chain.call("t1"), chain.result("t1"), chain.answer("b"), chain.user("c"),
        chain.record("system", subtype="turn_duration", parentUuid="u2"),
    )  # fmt: skip
    assert marked(messages) == []


def test_cycles_and_forward_parents_end(read: Any, chain: Any) -> None:
    messages, _ = read(
        chain.user("a", parentUuid="u3"),
        chain.user("b", parentUuid="u2"),
        chain.user("c", parentUuid="u1"),
    )
    assert len(messages) == 3


def test_file_in_reverse_order_marks_nothing(read: Any, chain: Any) -> None:
    natives = [chain.user("a"), chain.answer("b"), chain.user("c"), chain.answer("d")]
    assert marked(read(*reversed(natives))[0]) == []


def test_recordings_hold_no_branch_that_was_left() -> None:
    for name in ("parallel-tools", "fork-session", "v2.0-tools-multi-turn", "v2.0-compaction"):
        for session in play("claude", files("claude", name)).sessions.values():
            assert marked([m for m in session.read()[0] if "uuid" in m.metadata]) == []
