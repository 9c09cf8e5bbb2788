"""Whose record it is, and under which name."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

from recordings import minted

from ultracontext.agents.gemini import SPEC
from ultracontext.agents.gemini.assign import MOST_COUNTED, GeminiAssigner
from ultracontext.formats import Assignment


def assigner(path: str, state: Any = None) -> GeminiAssigner:
    facts = SPEC.classify(PurePosixPath(path))
    assert facts is not None
    return GeminiAssigner(facts, state)


def assign(made: GeminiAssigner, *natives: Any) -> list[Assignment]:
    return [
        made.assign(minted(native, agent="gemini", start=place * 10))
        for place, native in enumerate(natives)
    ]


def test_the_session_is_named_by_the_file_not_by_its_name(lab: Any) -> None:
    found = assign(assigner(lab.LOG), lab.meta("import-42"), lab.user("u1", "q"))
    assert [a.session_id for a in found] == ["import-42", "import-42"]


def test_the_first_session_id_counts(lab: Any) -> None:
    found = assign(assigner(lab.LOG), lab.meta("one"), lab.meta("two"), lab.user("u1", "q"))
    assert [a.session_id for a in found] == ["one"] * 3


def test_an_update_may_name_the_session(lab: Any) -> None:
    found = assign(assigner(lab.LOG), {"$set": {"sessionId": "one"}}, lab.user("u1", "q"))
    assert [a.session_id for a in found] == ["one", "one"]


def test_messages_before_the_metadata_keep_the_file_in_one_session(lab: Any) -> None:
    found = assign(assigner(lab.LOG), lab.user("u1", "q"), lab.meta("one"), lab.user("u2", "r"))
    assert len({a.session_id for a in found}) == 1


def test_repeats_of_an_id_are_its_revisions(lab: Any) -> None:
    found = assign(
        assigner(lab.LOG), lab.meta(), lab.gemini("g", "a"), lab.gemini("g", "b"),
        lab.user("u", "q"), lab.gemini("g", "a"),
    )  # fmt: skip
    assert [(a.record_id, a.revision) for a in found[1:]] == [
        ("gemini:g", 0), ("gemini:g", 1), ("user:u", 0), ("gemini:g", 2)
    ]  # fmt: skip


def test_other_records_are_named_by_process_and_place(lab: Any) -> None:
    natives = [lab.meta(), {"$set": {}}, {"$rewindTo": "x"}, {"type": "future"}, lab.meta()]
    names = [a.record_id for a in assign(assigner(lab.LOG), *natives)]
    assert names == [f"2026-01-02T03:04:00.000Z@{place * 10}" for place in range(5)]


def test_files_of_one_session_never_share_a_name(lab: Any) -> None:
    two = lab.meta(startTime="2026-01-03T00:00:00.000Z")
    one = assign(assigner(lab.LOG), lab.meta(), {"$set": {}})
    other = assign(assigner(lab.LOG), two, {"$set": {}})
    assert not {a.record_id for a in one} & {a.record_id for a in other}
    twin = assign(assigner(lab.DOCUMENT), lab.meta(messages=["u1"]), lab.user("u1", "q"))
    assert [a.record_id for a in twin] == ["doc:head@acme-api", "doc:user:u1"]
    spare = assign(assigner(f"{lab.LOG}.unreadable-17"), lab.meta(), lab.user("u1", "q"))
    assert [str(a.record_id)[:10] for a in spare] == ["unreadable"] * 2


def test_places_in_a_document_begin_again_with_its_head(lab: Any) -> None:
    bare = {"type": "user", "content": "q"}
    head = {"sessionId": "s", "messages": [None, None]}
    found = assign(assigner(lab.DOCUMENT), head, bare, bare, head, bare)
    assert [a.record_id for a in found][1:] == ["doc:#0", "doc:#1", "doc:head@acme-api", "doc:#0"]


def test_a_subagents_file_is_never_its_parents_session(lab: Any) -> None:
    path = f"{lab.CHATS}/parent/agent.jsonl"
    assert assign(assigner(path), lab.meta("parent"))[0].session_id == "agent"
    assert assign(assigner(path), lab.meta("other"))[0].session_id == "other"


def test_state_survives_a_stop_and_stays_small(lab: Any) -> None:
    made = assigner(lab.LOG)
    assign(made, lab.meta(), *(lab.user(f"u{n}", "q") for n in range(3 * MOST_COUNTED)))
    state = json.dumps(made.state())
    assert len(state) < 8000
    again = assigner(lab.LOG, json.loads(state))
    assert again.state() == made.state()
    found = assign(again, lab.user(f"u{3 * MOST_COUNTED - 1}", "q"))[0]
    assert (found.session_id, found.revision) == (lab.SESSION, 1)


def test_odd_states_do_not_raise(lab: Any) -> None:
    for state in ({"session": 7, "counts": [], "place": "x", "spare": 1}, {"counts": {"a": "b"}}):
        assert assign(assigner(lab.LOG, state), lab.meta())[0].session_id == lab.SESSION


def test_the_project_is_asked_for_with_metadata_only(lab: Any) -> None:
    found = assign(
        assigner(lab.LOG), lab.meta(), lab.user("u1", "q"), {"$set": {"lastUpdated": ""}}
    )
    assert [need.path for need in found[0].needs] == [
        "../.project_root", "../../../history/acme-api/.project_root", "../../../projects.json"
    ]  # fmt: skip
    assert [a.needs for a in found[1:]] == [(), ()]
