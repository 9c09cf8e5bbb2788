from __future__ import annotations

import json

import pytest
from rollouts import Masking, Say

from ultracontext.agents.codex.assign import assigner
from ultracontext.formats import Engine, SourceFacts

HINT = "01a22cd6-0000-7000-8000-0000000000ff"


def rollout(hint: str | None = HINT) -> SourceFacts:
    return SourceFacts(engine=Engine.APPEND_LOG, role="session", session_hint=hint)


NAMES = SourceFacts(engine=Engine.APPEND_LOG, role="names")


def test_id_comes_from_the_first_meta_not_from_the_name(masked: Masking, say: Say) -> None:
    own = assigner(rollout(), None)
    assert own.assign(masked(say.meta())).session_id == say.SESSION
    copied = own.assign(masked(say.meta("01a22cd6-0000-7000-8000-0000000000aa")))
    assert copied.session_id == say.SESSION
    assert copied.record_id is None


def test_damaged_first_line_falls_back_to_the_name_and_stays_there(
    masked: Masking, say: Say
) -> None:
    own = assigner(rollout(), None)
    assert own.assign(masked(b'{"timestamp":"2026-')).session_id == HINT
    assert own.assign(masked(say.user("hello"))).session_id == HINT
    assert own.assign(masked(say.meta())).session_id == HINT


def test_damaged_line_before_a_meta_does_not_decide(masked: Masking, say: Say) -> None:
    own = assigner(rollout(), None)
    own.assign(masked(b"\x00\x00\x00"))
    assert own.assign(masked(say.meta())).session_id == say.SESSION


def test_without_name_and_meta_records_belong_to_nobody_until_a_meta(
    masked: Masking, say: Say
) -> None:
    own = assigner(rollout(None), None)
    assert own.assign(masked(say.user("hello"))).session_id is None
    assert "session" not in own.state()
    assert own.assign(masked(say.meta())).session_id == say.SESSION


def test_state_survives_a_restart(masked: Masking, say: Say) -> None:
    own = assigner(rollout(), None)
    own.assign(masked(say.meta()))
    state = json.loads(json.dumps(own.state()))
    again = assigner(rollout(), state)
    other = say.meta("01a22cd6-0000-7000-8000-0000000000aa")
    assert again.assign(masked(other)).session_id == say.SESSION


def test_bare_first_line_of_old_files_is_a_meta(masked: Masking) -> None:
    line = {"id": "abc", "timestamp": "2025-08-01T10:00:00.000Z", "instructions": None}
    assert assigner(rollout(), None).assign(masked(line)).session_id == "abc"


@pytest.mark.parametrize("payload", [None, [], "x", {}, {"id": 5}, {"id": ""}, {"id": ["a"]}])
def test_odd_metas_are_no_metas(masked: Masking, payload: object) -> None:
    line = {"type": "session_meta", "payload": payload}
    assert assigner(rollout(), None).assign(masked(line)).session_id == HINT


def test_names_go_to_their_sessions_under_their_own_time(masked: Masking) -> None:
    own = assigner(NAMES, None)
    line = {"id": "a", "thread_name": "n", "updated_at": "2026-11-30T14:24:30.361101861Z"}
    first = own.assign(masked(line))
    assert (first.session_id, first.record_id) == ("a", "name@2026-11-30T14:24:30.361101861Z")
    assert own.state() == {}


def test_names_without_time_are_counted_by_session(masked: Masking) -> None:
    own = assigner(NAMES, None)
    found = [own.assign(masked({"id": i, "thread_name": "n"})).record_id for i in "aab"]
    assert found == ["name#1", "name#2", "name#1"]
    again = assigner(NAMES, json.loads(json.dumps(own.state())))
    assert again.assign(masked({"id": "a", "updated_at": "soon"})).record_id == "name#3"


@pytest.mark.parametrize("line", [b"[]", b"{", b"{}", b'{"id":7}', b'{"id":""}'])
def test_odd_names_belong_to_nobody(masked: Masking, line: bytes) -> None:
    assert assigner(NAMES, None).assign(masked(line)).session_id is None
