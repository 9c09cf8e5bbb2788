"""A captured session is a context like any other: read, edited, forked, verified."""

from __future__ import annotations

import json
from typing import Any

import pytest
from context_writer import Writer, message, to

from ultracontext.model import ContextId, SessionFacts, captured_context_id, message_id
from ultracontext.redaction import Redactor
from ultracontext.store import FactsUpdate, SpaceStore
from ultracontext.store.base import MESSAGE_KIND
from ultracontext.store.session import read_session

NAME = captured_context_id("claude", "s1")


@pytest.fixture
def captured(space: SpaceStore, make: Any) -> Writer:
    """Four records of one session; the second came in two revisions."""
    make.append(
        space,
        make.event(0, data=b'{"type":"user","message":{"role":"user","content":"first"}}'),
        make.event(1, data=b'{"type":"user","n":"half"}'),
        make.event(1, revision=1, data=b'{"type":"user","n":"whole"}'),
        make.event(2, time_ms=1_700_000_000_000),
        make.event(3),
    )
    return Writer(space)


def contents(writer: Writer, name: ContextId = NAME, **where: Any) -> list[Any]:
    return [json.loads(m.content) for m in writer.messages(name, **where)]


def test_reads_as_messages_of_the_wire(captured: Writer, redactor: Redactor) -> None:
    found = captured.messages(NAME, redactor=redactor)
    content = json.loads(found[0].content)
    assert content["role"] == "user"
    assert content["content"]["raw"]["message"]["content"] == "first"
    assert content["content"]["message"] == "first"
    assert content["content"]["event_type"] == "user"
    assert content["content"]["timestamp"].endswith("Z")
    assert found[0].metadata["source"] == "claude"
    assert found[0].metadata["session_id"] == "s1"
    assert bytes.fromhex(found[0].metadata["event_id"]) == found[0].event_id
    assert found[0].message_id == message_id(found[0].event_id)
    assert [c["content"]["raw"].get("n") for c in contents(captured)] == [None, "whole", 2, 3]


def test_is_listed_with_what_is_known_of_it(captured: Writer) -> None:
    (info,) = captured.space.list_contexts(filters={"source": "claude"}).contexts
    assert (info.context_id, info.agent, info.session_id) == (NAME, "claude", "s1")
    assert info.messages == 4
    assert captured.space.list_contexts(filters={"session_id": "s2"}).contexts == []
    captured.set_metadata(NAME, {"source": "mine", "team": "x"})
    assert captured.space.context(NAME).metadata["source"] == "mine"
    assert captured.space.list_contexts(filters={"source": "claude"}).contexts == []
    (info,) = captured.space.list_contexts(filters={"source": "mine", "team": "x"}).contexts
    assert info.context_id == NAME


def test_edits_and_removals_stay_when_capture_goes_on(captured: Writer, make: Any) -> None:
    ids = captured.ids(NAME)
    captured.say(NAME, ids[1], "edited by hand")
    captured.remove(NAME, ids[2])
    captured.append(NAME, "appended by hand")
    make.append(
        captured.space,
        make.event(1, revision=2, data=b'{"type":"user","n":"more"}'),
        make.event(2, revision=1, data=b'{"type":"user","n":"back?"}'),
        make.event(4),
    )
    found = contents(captured)
    assert [c["content"] if isinstance(c["content"], str) else c["content"]["raw"].get("n")
            for c in found] == [None, "edited by hand", 3, "appended by hand", 4]  # fmt: skip
    before = contents(captured, version=0)
    assert [c["content"]["raw"].get("n") for c in before] == [None, "whole", 2, 3]
    verified = captured.space.verify(NAME)
    assert verified.sound, verified
    nodes = list(captured.space.nodes(NAME))
    assert [node.position for node in nodes] == [0, 1, 3, 4, 5]


def test_append_with_the_event_id_of_a_captured_record_is_a_duplicate(captured: Writer) -> None:
    (first, *_) = captured.messages(NAME)
    assert first.event_id is not None
    made = captured.append(NAME, message("again", event_id=first.event_id.hex()))
    assert (made.messages[0].duplicate, made.messages[0].message.index) == (True, 0)
    assert len(captured.messages(NAME)) == 4


def test_forks_hold_copies_and_stay_sound(captured: Writer, make: Any) -> None:
    captured.edit(NAME, to(3, "edited"))
    fork = captured.fork(NAME, {"mine": 1}, at=2)
    grand = captured.fork(fork)
    captured.append(grand, "own")
    make.append(captured.space, make.event(1, revision=2, data=b'{"type":"user","n":"later"}'))
    for name in (fork, grand):
        assert [c["content"]["raw"].get("n") for c in contents(captured, name)[:3]] == [
            None, "whole", 2,
        ]  # fmt: skip
        assert captured.space.verify(name).sound
    assert captured.space.context(fork).metadata == {"mine": 1}
    assert [row.session_id for row in captured.space.contexts(limit=0)] == ["s1"]
    captured.wipe(NAME)
    assert [c["content"]["raw"].get("n") for c in contents(captured, grand)[:3]] == [
        None, "whole", 2,
    ]  # fmt: skip
    assert captured.space.verify(grand).sound


def test_before_goes_by_the_time_of_the_events(captured: Writer, make: Any) -> None:
    times = [m.created_at for m in captured.messages(NAME)]
    found = contents(captured, before=times[2])
    assert [c["content"]["raw"].get("n") for c in found] == [None, "whole", 2, 3]


def test_windows_and_pages(captured: Writer, make: Any) -> None:
    make.append(captured.space, *[make.event(n) for n in range(4, 700)])
    assert [c["content"]["raw"]["n"] for c in contents(captured, first=650, at=653)] == [
        650, 651, 652, 653,
    ]  # fmt: skip
    assert [c["content"]["raw"]["n"] for c in contents(captured, last=2)] == [698, 699]
    assert len(contents(captured)) == 700


def test_sessions_show_what_was_put_in_by_hand(captured: Writer, redactor: Redactor) -> None:
    captured.say(NAME, 0, "edited by hand")
    captured.remove(NAME, 1)
    captured.append(NAME, message({"role": "assistant", "content": "appended by hand"}))
    row = captured.space.find("s1")
    session = read_session(captured.space, row, redactor)
    shown = [(m.role, m.text) for m in session.messages if m.event_type == MESSAGE_KIND]
    assert shown == [("user", "edited by hand"), ("assistant", "appended by hand")]
    assert "whole" not in str(session.messages)
    assert "first" not in str([m.text for m in session.messages])


def test_what_an_agent_forked_counts_as_a_fork(
    captured: Writer, make: Any, space: SpaceStore
) -> None:
    facts = SessionFacts(relation="fork", parent_session="s1")
    make.append(space, make.event(0, session="s2", source_id=2))
    update = FactsUpdate(agent="claude", session_id="s2", facts=facts)
    name = captured_context_id("claude", "s2")
    space.save_facts([update], nodes={name: 1})
    assert [info.context_id for info in space.forks(NAME)] == [name]
    done = captured.wipe(NAME, forks=True)
    assert done.contexts == [NAME, name]
    assert space.contexts(limit=0) == []


def test_newer_rules_leave_what_programs_gave_as_it_is(
    captured: Writer, redactor: Redactor
) -> None:
    captured.append(NAME, message({"content": "kept"}, rule_set=1), message({"content": "plain"}))
    fork = captured.fork(NAME)
    for _ in captured.space.remask(redactor):
        pass
    for name in (NAME, fork):
        assert [c.get("content") for c in contents(captured, name)][-2:] == ["kept", "plain"]
        assert captured.space.verify(name).sound
    assert captured.space.behind(redactor.rule_set) == 0
