"""Trees, both stores at once, and what the program writes twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from recordings import minted

from ultracontext.agents.openclaw.reader import OpenClawReader
from ultracontext.model import Message, MessageId, SessionFacts

SESSION = "6513270e-269e-4d37-b2a7-4de452e6b438"
Chain = Any
"""The fixture of that name."""
Read = Callable[..., tuple[list[Message], SessionFacts]]


def row(event: dict[str, Any], place: int = 0) -> dict[str, Any]:
    """A record of the file as the database has it."""
    return {"table": "transcript", "key": f"{place}/{SESSION}", "value": event}


def said(messages: list[Message]) -> list[tuple[str, str]]:
    """Kind and text of what a person sees."""
    return [(m.kind, m.text) for m in messages if m.kind != "meta"]


def test_the_leafs_branch_is_the_conversation(read: Read, chain: Chain) -> None:
    first = chain.user("one")
    records = [chain.header(), first, chain.answer("1"), chain.user("left")]
    records += [chain.user("right", parentId=records[2]["id"]), chain.answer("2")]
    messages, facts = read(*records)
    assert [text for _, text in said(messages)] == ["one", "1", "left", "right", "2"]
    off = [m.text for m in messages if m.metadata.get("branch") == "abandoned"]
    assert off == ["left"]
    assert facts.messages == 5


def test_a_leaf_record_moves_the_leaf(read: Read, chain: Chain) -> None:
    one, two, three = chain.user("one"), chain.answer("two"), chain.user("three")
    leaf = chain.record("leaf", targetId=two["id"])
    messages, _ = read(one, two, three, leaf)
    assert [m.text for m in messages if "branch" in m.metadata] == ["three"]


def test_a_missing_parent_cuts_nothing_off(read: Read, chain: Chain) -> None:
    messages, _ = read(chain.user("one"), chain.answer("two"), chain.user("3", parentId="gone"))
    assert not any("branch" in m.metadata for m in messages)


def test_records_without_parents_are_linear(read: Read, chain: Chain) -> None:
    records = [chain.user("one"), chain.answer("two"), chain.user("three")]
    for record in records:
        del record["parentId"]
    messages, _ = read(*records)
    assert not any("branch" in m.metadata for m in messages)


def test_parents_in_a_circle_end(read: Read, chain: Chain) -> None:
    one = chain.user("one", parentId="a0000002")
    assert len(said(read(one, chain.answer("two"))[0])) == 2


# ---- a migration: one session in a file and in the database ----------------------------
def conversation(chain: Chain) -> list[dict[str, Any]]:
    return [chain.header(), chain.user("one"), chain.answer("1"), chain.user("two")]


def test_both_stores_are_one_session(read: Read, chain: Chain) -> None:
    records = conversation(chain)
    later = chain.answer("2")
    messages, facts = read(*records, *map(row, records), row(later))
    assert [text for _, text in said(messages)] == ["one", "1", "two", "2"]
    assert [m.metadata["origin"] for m in messages if m.kind != "meta"] == ["file"] * 3 + ["sqlite"]
    assert facts.tokens == 36


def test_the_database_first_and_the_archived_file_later(read: Read, chain: Chain) -> None:
    records = conversation(chain)
    left_out = records.pop(2)
    messages, _ = read(*map(row, records), *records, left_out)
    assert [text for _, text in said(messages)] == ["one", "1", "two"]


def test_the_database_wins_where_they_differ(read: Read, chain: Chain) -> None:
    asked, answered = chain.user("one"), chain.answer("short")
    better = json.loads(json.dumps(answered).replace("short", "whole"))
    for order in ([asked, answered, row(better)], [asked, row(better), answered]):
        messages, facts = read(*order)
        assert [text for _, text in said(messages)] == ["one", "whole"]
        assert facts.messages == 2


def test_ids_given_later_repeat_no_message(read: Read, chain: Chain) -> None:
    records = [chain.user("one"), chain.answer("1"), chain.user("one")]
    old = [{k: v for k, v in r.items() if k not in ("id", "parentId")} for r in records]
    messages, _ = read(*old, *records, *map(row, records), row(chain.answer("2")))
    assert [text for _, text in said(messages)] == ["one", "1", "one", "2"]
    assert not any("branch" in m.metadata for m in messages)


# ---- what stands twice, fails, or is put in ------------------------------------------------------
def test_the_masked_answers_second_record_is_no_message(read: Read, chain: Chain) -> None:
    answer = chain.answer("the key AKIAQZ…W3TB")
    second = chain.answer("the key AKIAQZ…W3TB", message={"api": "cli", "usage": {"input": 33}})
    messages, facts = read(chain.user("one"), answer, second)
    assert len(said(messages)) == 2
    assert facts.tokens == 18


def test_another_answer_of_the_command_line_is_one(read: Read, chain: Chain) -> None:
    messages, _ = read(chain.answer("one"), chain.answer("two", message={"api": "cli"}))
    assert [text for _, text in said(messages)] == ["one", "two"]


def test_a_failed_turn(read: Read, chain: Chain) -> None:
    failed = chain.answer("", message={"stopReason": "error", "errorMessage": "401", "content": []})
    assert said(read(failed)[0]) == [("system", "401")]


def test_a_partial_answer_stays(read: Read, chain: Chain) -> None:
    partial = chain.answer("half", message={"stopReason": "error", "errorMessage": "cut"})
    assert said(read(partial)[0]) == [("assistant", "half"), ("system", "cut")]


def test_what_is_put_in_is_not_typed(read: Read, chain: Chain) -> None:
    bash = {"role": "bashExecution", "command": "ls", "output": "a"}
    messages, _ = read(
        chain.record("custom_message", customType="x", content="put in", display=True),
        chain.record("branch_summary", fromId="x", summary="left"),
        chain.record("message", message=bash),
        chain.record("message", message={"role": "compactionSummary", "summary": "short"}),
        chain.record("reset"),
    )
    assert {kind for kind, _ in said(messages)} == {"system"}
    assert [text for _, text in said(messages)][:4] == ["put in", "left", "ls\na", "short"]


def test_pictures_are_told(read: Read, chain: Chain) -> None:
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image", "mimeType": "image/png", "data": "x"},
    ]
    (message,) = read(chain.user(parts))[0]
    assert (message.text, message.metadata["media"]) == ("see", ["image/png"])


# ---- facts ---------------------------------------------------------------------------------------
def test_names(read: Read, chain: Chain) -> None:
    index = json.dumps({"agent:main:main": {"sessionId": SESSION, "label": "My name"}})
    _, facts = read(chain.header(), chain.user("one"), companions={"index": index})
    assert (facts.title, facts.title_source) == ("My name", "name")
    assert facts.lineage_key == "agent:main:main"
    _, facts = read(chain.user("one"), chain.record("session_info", name="Other"))
    assert (facts.title, facts.title_source) == ("Other", "name")


def test_the_key_is_found_in_a_cut_index_and_in_the_trace(read: Read, chain: Chain) -> None:
    index = json.dumps({"agent:main:main": {"sessionId": SESSION, "label": "x"}}, indent=1)[:90]
    assert read(chain.header(), companions={"index": index})[1].lineage_key == "agent:main:main"
    trace = '{"type":"session.started","sessionKey":"agent:main:main","run'
    assert read(chain.header(), companions={"trace": trace})[1].lineage_key == "agent:main:main"


def test_parents(read: Read, chain: Chain) -> None:
    header = chain.header(parentSession="/x/agents/main/sessions/parent-1.jsonl")
    facts = read(header)[1]
    assert (facts.parent_session, facts.relation) == ("parent-1", "fork")
    entries = {"m": {"sessionId": "boss"}, "c": {"sessionId": SESSION, "spawnedBy": "m"}}
    facts = read(chain.header(), companions={"index": json.dumps(entries)})[1]
    assert (facts.parent_session, facts.relation) == ("boss", "subagent")


def test_windows(read: Read, chain: Chain) -> None:
    def window(**fields: Any) -> dict[str, Any]:
        return {"table": "window", "key": SESSION, "value": {"session_id": SESSION, **fields}}

    facts = read(row(chain.header()), window(previous_session_id="old", reason="reset"))[1]
    assert (facts.parent_session, facts.relation) == ("old", "fork")
    facts = read(window(spawned_by_session_id="boss", label="Name"))[1]
    assert (facts.parent_session, facts.relation, facts.title) == ("boss", "subagent", "Name")


def test_odd_records_never_raise() -> None:
    reader = OpenClawReader(SESSION)
    for place, native in enumerate(
        [{}, {"type": "message"}, {"type": "message", "message": []}, {"type": ["x"], "id": {}},
         {"type": "message", "message": {"role": "assistant", "content": [None, 7, {"type": {}}]}},
         {"table": "transcript", "key": 7, "value": []}, {"table": "window", "key": "", "value": 3},
         {"type": "leaf", "targetId": ["x"]}, {"type": "session", "cwd": 7, "parentSession": {}}]
    ):  # fmt: skip
        reader.feed(minted(native), MessageId(f"msg_{place}"))
    assert reader.facts().messages >= 0
