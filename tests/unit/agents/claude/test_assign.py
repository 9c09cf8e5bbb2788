"""Whose record a line is."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

import pytest
from recordings import files, minted, play

from ultracontext.agents.claude.assign import MOST_MEMBERS, MOST_ROOTS, ClaudeAssigner
from ultracontext.agents.claude.layout import classify
from ultracontext.formats import Assignment

ID = "9712b4a9-6617-48ef-b0e0-da1327bd1afa"
OTHER = "11111111-2222-4333-8444-555555555555"


def assigner(path: str, state: dict[str, Any] | None = None) -> ClaudeAssigner:
    facts = classify(PurePosixPath(path))
    assert facts is not None
    return ClaudeAssigner(facts, state)


def assign(path: str, *natives: Any, **more: Any) -> list[Assignment]:
    fresh = assigner(path)
    return [fresh.assign(minted(native, agent="claude", **more)) for native in natives]


def main(*natives: Any, stem: str = ID) -> list[tuple[str | None, str | None]]:
    return [(a.session_id, a.record_id) for a in assign(f"projects/-w/{stem}.jsonl", *natives)]


def test_chain_record_is_named_by_its_uuid_and_loose_one_by_place() -> None:
    assert main({"type": "user", "uuid": "u1"}, {"type": "mode"}) == [(ID, "u1"), (ID, None)]


def test_file_name_wins_over_session_id_in_the_records() -> None:
    assert main({"type": "user", "uuid": "u1", "sessionId": OTHER}) == [(ID, "u1")]


def test_stem_that_is_no_uuid_gives_way_to_the_records() -> None:
    found = main({"type": "user", "uuid": "u1", "sessionId": OTHER}, {"type": "mode"}, stem="copy")
    assert found == [(OTHER, "u1"), (OTHER, None)]


def test_stem_that_is_no_uuid_stays_when_the_records_know_no_better() -> None:
    assert main({"type": "user", "uuid": "u1", "sessionId": "x"}, stem="copy") == [("copy", "u1")]
    assert main({"type": "user", "uuid": "u1"}, stem="copy") == [("copy", "u1")]


def test_loose_record_before_the_session_is_known_waits_without_one() -> None:
    found = main({"type": "summary"}, {"type": "mode", "sessionId": OTHER}, stem="copy")
    assert found == [(None, None), (OTHER, None)]


@pytest.mark.parametrize(("uuid", "name"), [(7, "7"), ("", None), (None, None), (["x"], None)])
def test_odd_uuids(uuid: Any, name: str | None) -> None:
    assert main({"type": "user", "uuid": uuid}) == [(ID, name)]


def test_what_is_no_object_stays_in_the_session() -> None:
    assert main(b"{{{", [1]) == [(ID, None), (ID, None)]


def test_subagent_file_is_named_by_its_records_p16() -> None:
    path = f"projects/-w/{ID}/subagents/agent-abc.jsonl"
    own, other = {"type": "user", "uuid": "u1", "agentId": "def"}, {"type": "user", "uuid": "u2"}
    assert [a.session_id for a in assign(path, own, other)] == ["def", "def"]
    assert [a.session_id for a in assign(path, other, own)] == ["abc", "abc"]


def test_vendor_requests_are_left_out() -> None:
    found = assign(
        f"projects/-w/{ID}.jsonl",
        {"type": "api-request"},
        {"type": "api-request-shape"},
        {"type": "api-request-blob", "message": {"role": "system", "content": "x"}},
        {"type": "api-request-blob", "message": {"role": "user", "content": "x"}},
        {"type": "attachment", "uuid": "u", "attachment": {"type": "prompt_snapshot"}},
        {"type": "attachment", "uuid": "v", "attachment": {"type": "file"}},
    )
    assert [a.skip for a in found] == [
        "vendor-request", "vendor-request", "vendor-request", None, "vendor-prompt", None,
    ]  # fmt: skip


def test_inline_side_chain_is_a_session_of_its_own() -> None:
    played = play("claude", files("claude", "v1.0-subagent"))
    main_id = "89c4f3eb-9594-4ac0-b01a-80aa386619b6"
    side_id = f"sidechain-ba7cb375-4bd0-4e69-afbb-5a69bd34cc78@{main_id}"
    assert {name: len(s.fed) for name, s in played.sessions.items()} == {main_id: 5, side_id: 4}
    facts = played.sessions[side_id].read()[1]
    assert (facts.parent_session, facts.relation) == (main_id, "subagent")
    assert facts.lineage_key is None
    assert played.sessions[main_id].read()[1].relation is None


def side(uuid: str, parent: str | None) -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "parentUuid": parent, "isSidechain": True}


def test_side_chains_that_run_at_once_are_told_apart() -> None:
    found = main(
        side("a1", None), side("b1", "main"), side("a2", "a1"), side("b2", "b1"), side("b3", "b1"),
        {"type": "user", "uuid": "m", "parentUuid": "b3"}, side("a3", "a2"),
    )  # fmt: skip
    chains = [str(session).partition("@")[0] for session, _ in found]
    a, b = "sidechain-a1", "sidechain-b1"
    assert chains == [a, b, a, b, b, ID, a]


def test_state_of_side_chains_is_bounded_json() -> None:
    fresh = assigner(f"projects/-w/{ID}.jsonl")
    parent: str | None = None
    last: str | None = None
    for root in range(MOST_ROOTS + 5):
        parent = None
        for step in range(MOST_MEMBERS + 5):
            name = f"{root}-{step}"
            found = fresh.assign(minted(side(name, parent), agent="claude"))
            assert found.session_id == f"sidechain-{root}-0@{ID}"
            parent, last = name, found.session_id
    state = json.loads(json.dumps(fresh.state()))
    assert len(state["side"]) == MOST_ROOTS
    assert max(len(chain) for chain in state["side"]) == MOST_MEMBERS
    again = assigner(f"projects/-w/{ID}.jsonl", state)
    assert again.assign(minted(side("x", parent), agent="claude")).session_id == last


def test_a_record_assigned_twice_changes_nothing() -> None:
    once, twice = assigner(f"projects/-w/{ID}.jsonl"), assigner(f"projects/-w/{ID}.jsonl")
    for native in (side("a1", None), side("a2", "a1"), side("b1", None)):
        record = minted(native, agent="claude")
        first = once.assign(record)
        assert twice.assign(record) == twice.assign(record) == first
    assert once.state() == twice.state()


def test_inline_side_chain_with_an_agent_id_joins_that_agent() -> None:
    assert main({**side("a1", None), "agentId": "abc"}) == [("abc", "a1")]


PREVIEW = (
    "<persisted-output>\nOutput too large (106.3KB). Full output saved to: "
    "/h/.claude/projects/-w/x/tool-results/b1.txt\n\n"
    "Preview (first 2KB):\n1\n2\n</persisted-output>"
)


def spilled(content: Any, call_id: Any = "t1") -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
    return {"type": "user", "uuid": "u1", "message": {"content": [block]}}


@pytest.mark.parametrize("content", [PREVIEW, [{"type": "text", "text": PREVIEW}]])
def test_spilled_output_is_needed_until_it_is_there(content: Any) -> None:
    path = f"projects/-w/{ID}.jsonl"
    [found] = assign(path, spilled(content))
    [need] = found.needs
    assert (need.name, need.path) == (
        "tool-result:t1", "/h/.claude/projects/-w/x/tool-results/b1.txt",
    )  # fmt: skip
    [again] = assign(path, spilled(content), companions={need.name: b"1\n2\n3"})
    assert again.needs == ()
    assert again.record_id == "u1"


@pytest.mark.parametrize(
    ("content", "call_id"),
    [
        ("quoted: " + "x" * 99 + PREVIEW, "t1"),
        ("<persisted-output>\nno path", "t1"),
        (PREVIEW, None),
        (None, "t1"),
        ([PREVIEW, PREVIEW], "t1"),
    ],
)
def test_other_outputs_need_nothing(content: Any, call_id: Any) -> None:
    [found] = assign(f"projects/-w/{ID}.jsonl", spilled(content, call_id))
    assert found.needs == ()
