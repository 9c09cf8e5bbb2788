"""Which of two sessions is the copy."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from recordings import files, minted, play

from ultracontext.agents.claude.lineage import relate

ORIGINS = {
    "fork-session": (
        "009406bd-637f-4e98-9a7e-388a163abaaf",
        "08818b6d-cfe0-40bf-8502-3b4c73d3325e",
    ),
    "v2.0-fork": ("97e00930-c1e6-4286-8e24-41676253c67a", "4b9d2620-5f2d-4bb5-b0bd-1dc47e131f07"),
    "v1.0-fork": ("718b9454-6be5-4584-b529-f5fdb80635a0", "814673ad-85b9-4e49-a002-d0bc59b3adaf"),
}


def natives(recording: str, session: str) -> list[dict[str, Any]]:
    played = play("claude", files("claude", recording))
    return [record.native for record in played.sessions[session].records]


def verdict(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> str | None:
    return relate([minted(native) for native in a], [minted(native) for native in b])


def both(origin: list[dict[str, Any]], fork: list[dict[str, Any]]) -> tuple[str | None, str | None]:
    return verdict(origin, fork), verdict(fork, origin)


@pytest.mark.parametrize("recording", list(ORIGINS))
def test_recorded_forks(recording: str) -> None:
    origin, fork = (natives(recording, session) for session in ORIGINS[recording])
    assert both(origin, fork) == ("b", "a")


@pytest.mark.parametrize("recording", list(ORIGINS))
def test_lineage_key_is_shared(recording: str) -> None:
    played = play("claude", files("claude", recording))
    keys = {played.sessions[session].read()[1].lineage_key for session in ORIGINS[recording]}
    assert len(keys) == 1
    assert None not in keys


@pytest.mark.parametrize("recording", list(ORIGINS))
def test_origin_that_goes_on_after_the_fork(recording: str) -> None:
    origin, fork = (natives(recording, session) for session in ORIGINS[recording])
    last = copy.deepcopy(
        origin[-1] if "uuid" in origin[-1] else next(n for n in origin if "uuid" in n)
    )
    later = {**last, "uuid": "later", "timestamp": "2026-12-24T00:00:00.000Z"}
    assert both([*origin, later], fork) == ("b", "a")


@pytest.mark.parametrize("recording", list(ORIGINS))
def test_fork_that_never_went_its_own_way(recording: str) -> None:
    origin, fork = (natives(recording, session) for session in ORIGINS[recording])
    known = {native.get("uuid") for native in origin}
    bare = [native for native in fork if native.get("uuid") in known and "uuid" in native]
    assert bare
    assert both(origin, bare) == ("b", "a")


def test_sessions_with_nothing_in_common() -> None:
    a = natives("plain-chat", "edd47997-d67d-4ae6-96ee-d4963256377e")
    b = natives("tool-bash", "e24d08c8-472a-4588-a561-c2734d50fd61")
    assert both(a, b) == (None, None)
    assert both(a, []) == (None, None)


def test_two_forks_of_one_origin_are_not_forks_of_each_other() -> None:
    for recording, (_, fork) in ORIGINS.items():
        one = natives(recording, fork)
        own = {
            native["uuid"]
            for native in natives(recording, ORIGINS[recording][0])
            if "uuid" in native
        }
        two = []
        for native in one:
            other = copy.deepcopy(native)
            if "sessionId" in other:
                other["sessionId"] = "11111111-2222-4333-8444-555555555555"
            if "uuid" in other and other["uuid"] not in own:
                other["uuid"] = f"other-{other['uuid']}"
            two.append(other)
        assert both(one, two) == (None, None), recording


def test_fork_of_a_fork() -> None:
    """What a fork of its own writes is in blocks in the copy only."""
    fork = natives("v2.0-fork", ORIGINS["v2.0-fork"][1])
    second = copy.deepcopy([native for native in fork if "uuid" in native])
    for native in second:
        native["sessionId"] = "11111111-2222-4333-8444-555555555555"
        if native["type"] == "user" and isinstance(native["message"]["content"], str):
            native["message"]["content"] = [{"type": "text", "text": native["message"]["content"]}]
    second.append({**second[-1], "uuid": "own", "parentUuid": second[-1]["uuid"]})
    assert both(fork, second) == ("b", "a")


def chat(session: str, *records: tuple[str, str]) -> list[dict[str, Any]]:
    return [
        {
            "type": "user",
            "uuid": uuid,
            "sessionId": session,
            "timestamp": time,
            "message": {"content": "x"},
        }
        for uuid, time in records
    ]


def test_records_that_name_the_other_session() -> None:
    origin = chat("a", ("1", "t"), ("2", "t"))
    fork = [*chat("a", ("1", "t"), ("2", "t")), *chat("b", ("3", "t"))]
    assert both(origin, fork) == ("b", "a")


def test_copied_records_with_later_times() -> None:
    origin = chat("a", ("1", "2026-01-01T00:00:00Z"), ("2", "2026-01-01T00:01:00Z"))
    fork = chat("b", ("1", "2026-01-02T00:00:00Z"), ("3", "2026-01-02T00:01:00Z"))
    assert both(origin, fork) == ("b", "a")


def test_loose_records_stand_among_the_origins() -> None:
    origin = chat("a", ("1", ""), ("2", ""), ("4", ""))
    origin.insert(1, {"type": "queue-operation"})
    assert both(origin, chat("b", ("1", ""), ("2", ""), ("3", ""))) == ("b", "a")


def test_own_record_that_came_later() -> None:
    origin = chat("a", ("1", ""), ("2", "2026-01-01T00:00:00Z"))
    fork = chat("b", ("1", ""), ("3", "2026-01-02T00:00:00Z"))
    assert both(origin, fork) == ("b", "a")


def test_odd_records_do_not_matter() -> None:
    odd: list[Any] = [{}, {"uuid": []}, {"uuid": "1", "message": 7, "timestamp": {}}, {"uuid": "1"}]
    assert verdict(odd, chat("b", ("1", ""))) is None
