"""What a reader promises of every recording of every agent."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import count
from typing import Any

import pytest
from recordings import Change, Play, Session, files, minted, play, recordings, spec_of

from ultracontext.model import Message, MessageId, SessionFacts

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
STATE_BYTES = 64 * 1024
"""An assigner's state goes into every checkpoint."""


def said(messages: list[Message]) -> list[tuple[str, str, str]]:
    """What a person sees of a session."""
    return [(m.kind, m.event_type, m.text) for m in messages if m.kind != "meta"]


def all_said(played: Play) -> dict[str | None, list[tuple[str, str, str]]]:
    """By session; sources that hold no messages (lists of names) are left out."""
    found = {name: said(session.read()[0]) for name, session in played.sessions.items()}
    return {name: texts for name, texts in found.items() if texts}


def test_every_agent_brings_recordings(agent: str) -> None:
    assert recordings(agent)


def test_recording_has_a_session_with_messages(recorded: Play) -> None:
    assert any(said(session.read()[0]) for session in recorded.sessions.values())


def test_all_records_belong_to_a_session(recorded: Play) -> None:
    assert None not in recorded.sessions


def test_facts_count_what_settles(recorded: Play) -> None:
    for session in recorded.sessions.values():
        messages, facts = session.read()
        assert facts.messages == sum(message.kind != "meta" for message in messages)


def test_message_ids_are_unique_and_of_their_node(recorded: Play) -> None:
    for session in recorded.sessions.values():
        nodes = {name for _, name in session.fed}
        ids = [message.id for message in session.read()[0]]
        assert max(Counter(ids).values(), default=1) == 1
        assert {name.partition(".")[0] for name in ids} <= nodes


def test_first_message_of_a_record_has_the_id_of_its_node(recorded: Play) -> None:
    for session in recorded.sessions.values():
        reader = spec_of(recorded.agent).reader(session.session_id or "")
        for record, name in session.fed:
            ids = [message.id for message in reader.feed(record, name)]
            assert ids == [f"{name}.{place}" if place else name for place in range(len(ids))]


def test_results_are_paired_with_their_calls(recorded: Play) -> None:
    for session in recorded.sessions.values():
        messages = session.read()[0]
        calls = {m.tool.call_id: m for m in messages if m.kind == "tool_call" and m.tool}
        for message in messages:
            if message.kind != "tool_result" or message.tool is None or not message.tool.call_id:
                continue
            call = calls[message.tool.call_id].tool
            assert call is not None
            assert (call.output, call.is_error) == (message.tool.output, message.tool.is_error)
            assert message.tool.name == call.name


def test_facts_are_sane(recorded: Play) -> None:
    for session in recorded.sessions.values():
        check_facts(session.read()[1], session)


def check_facts(facts: SessionFacts, session: Session) -> None:
    assert (facts.title is None) == (facts.title_source is None)
    assert facts.title is None or (
        0 < len(facts.title) <= 200 and len(facts.title.splitlines()) == 1
    )
    assert (facts.parent_session is None) == (facts.relation is None)
    assert facts.parent_session != session.session_id
    assert facts.tokens >= 0
    times = (facts.started_at, facts.updated_at)
    if facts.started_at is not None and facts.updated_at is not None:
        assert all(TIME.fullmatch(time or "") for time in times)
        assert facts.started_at <= facts.updated_at
    else:
        assert times == (None, None)


def test_times_of_messages_are_iso_8601_in_utc(recorded: Play) -> None:
    for session in recorded.sessions.values():
        for message in session.read()[0]:
            assert message.timestamp is None or TIME.fullmatch(message.timestamp)


def test_messages_are_json(recorded: Play) -> None:
    for session in recorded.sessions.values():
        for message in session.read()[0]:
            json.dumps([message.metadata, message.tool and message.tool.output])


def test_a_stop_after_any_record_changes_no_assignment(
    agent: str, recording: str, recorded: Play
) -> None:
    resumed = play(agent, files(agent, recording), resume=True)
    assert resumed.assigned == recorded.assigned
    assert resumed.state_bytes <= STATE_BYTES


def test_facts_asked_at_any_record_change_nothing(recorded: Play) -> None:
    for session in recorded.sessions.values():
        reader = spec_of(recorded.agent).reader(session.session_id or "")
        messages: list[Message] = []
        for record, name in session.fed:
            messages += reader.feed(record, name)
            facts = reader.facts()
            assert facts.messages == sum(m.kind != "meta" for m in reader.settle(messages))
        assert (reader.settle(messages), reader.facts()) == session.read()


def altered(agent: str, recording: str, change: Change) -> Play:
    return play(agent, files(agent, recording), change=change)


def test_unknown_kinds_are_kept_and_counted(agent: str, structured: str) -> None:
    """In logs, documents and databases alike."""
    number = count()

    def add(native: dict[str, Any]) -> list[dict[str, Any]]:
        return [native, {"id": f"future-{next(number)}", "type": "future_item", "payload": {}}]

    recorded = play(agent, files(agent, structured))
    with_future = altered(agent, structured, add)
    assert all_said(with_future) == all_said(recorded)
    more = sum(len(session.fed) for session in with_future.sessions.values())
    assert more > sum(len(session.fed) for session in recorded.sessions.values())
    assert any(session.read()[1].unknown for session in with_future.sessions.values())


def test_unknown_fields_change_nothing(agent: str, recording: str, recorded: Play) -> None:
    def add(native: dict[str, Any]) -> list[dict[str, Any]]:
        return [{**native, "futureField": {"deep": [1, {"x": "future"}]}, "future": None}]

    assert all_said(altered(agent, recording, add)) == all_said(recorded)


@pytest.mark.parametrize("version", ["99.0.0", "not a version", "", None, 7, ["1"]])
def test_a_foreign_version_changes_nothing(
    agent: str, recording: str, recorded: Play, version: Any
) -> None:
    def exchange(native: dict[str, Any]) -> list[dict[str, Any]]:
        return [_versioned(native, version)]

    assert all_said(altered(agent, recording, exchange)) == all_said(recorded)


def _versioned(native: dict[str, Any], version: Any) -> dict[str, Any]:
    changed = {k: version if k in ("version", "cli_version") else v for k, v in native.items()}
    payload = changed.get("payload")
    return (
        {**changed, "payload": _versioned(payload, version)}
        if isinstance(payload, dict)
        else changed
    )


def test_a_cut_or_broken_line_is_kept_and_harms_no_other(recorded: Play) -> None:
    for session in recorded.sessions.values():
        reader = spec_of(recorded.agent).reader(session.session_id or "")
        messages: list[Message] = []
        for place, (record, name) in enumerate(session.fed):
            messages += reader.feed(record, name)
            for what, damage in ((record.body[: len(record.body) // 2], "cut"), (b"\0" * 9, "nul")):
                broken = minted(what, agent=recorded.agent, damage=damage)
                found = reader.feed(broken, MessageId(f"msg_{place:020}{damage}"))
                assert [message.kind for message in found] == ["meta"] * len(found)
                messages += found
        assert said(reader.settle(messages)) == said(session.read()[0])
