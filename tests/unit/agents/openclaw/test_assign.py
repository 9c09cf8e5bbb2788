"""Whose record it is, also after a reset or in a renamed file."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import Any

from recordings import minted, play

from ultracontext.agents.openclaw.assign import OpenClawAssigner
from ultracontext.agents.openclaw.layout import classify
from ultracontext.agents.openclaw.lineage import relate
from ultracontext.formats import Assignment

FOLDER = "agents/main/sessions"
SESSION = "6513270e-269e-4d37-b2a7-4de452e6b438"
Chain = Any
"""The fixture of that name."""


def row(event: dict[str, Any], place: int = 0) -> dict[str, Any]:
    """A record of the file as the database has it."""
    return {"table": "transcript", "key": f"{place}/{SESSION}", "value": event}


def as_lines(natives: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(n, separators=(",", ":")).encode() + b"\n" for n in natives)


def assigned(name: str, *natives: dict[str, Any]) -> list[Assignment]:
    facts = classify(PurePosixPath(name))
    assert facts is not None
    assigner = OpenClawAssigner(facts, None)
    return [assigner.assign(minted(native)) for native in natives]


def test_the_header_wins_over_the_name(chain: Chain) -> None:
    header, user = assigned(f"{FOLDER}/other.jsonl", chain.header(), chain.user("one"))
    assert (header.session_id, user.session_id) == (SESSION, SESSION)
    assert user.record_id == "a0000001"


def test_without_a_header_the_name_counts(chain: Chain) -> None:
    (user,) = assigned(f"{FOLDER}/id-1-topic-7.jsonl", chain.user("one"))
    assert user.session_id == "id-1"


def test_records_without_ids_are_named_by_their_place(chain: Chain) -> None:
    user = chain.user("one")
    del user["id"]
    assert assigned(f"{FOLDER}/x.jsonl", user)[0].record_id is None


def test_an_archived_file_holds_the_same_records(chain: Chain) -> None:
    natives = [chain.header(), chain.user("one")]
    live = assigned(f"{FOLDER}/{SESSION}.jsonl", *natives)
    reset = assigned(f"{FOLDER}/{SESSION}.jsonl.reset.2026-11-30T14-08-15.746Z", *natives)
    assert live[1] == reset[1]
    assert (live[0].record_id, reset[0].record_id) == ("session", "session@reset")
    assert reset[0].needs == ()


def test_rows_have_names_of_their_own(chain: Chain) -> None:
    database = "agents/main/agent/openclaw-agent.sqlite"
    user = chain.user("one")
    nameless = {**user, "id": None}
    window = {"table": "window", "key": SESSION, "value": {}}
    found = assigned(database, row(chain.header()), row(user), row(nameless, 7), window)
    assert {a.session_id for a in found} == {SESSION}
    assert [a.record_id for a in found] == ["db:session", "db:a0000001", "db:#7", "window"]


def test_a_session_after_a_reset_goes_on_from_the_one_before(chain: Chain) -> None:
    old = [chain.header(id="old"), chain.user("one")]
    new = [chain.header(id="new", timestamp="2026-12-01T00:00:00.000Z"), chain.user("two")]
    index = b'{"agent:main:main": {"sessionId": "%s"}}'
    before = play(
        "openclaw",
        [(f"{FOLDER}/old.jsonl", as_lines(old)), (f"{FOLDER}/sessions.json", index % b"old")],
    ).sessions["old"]
    after = play(
        "openclaw",
        [(f"{FOLDER}/new.jsonl", as_lines(new)), (f"{FOLDER}/sessions.json", index % b"new")],
    ).sessions["new"]
    assert before.read()[1].lineage_key == after.read()[1].lineage_key == "agent:main:main"
    assert relate(before.records, after.records) == "b"
    assert relate(after.records, before.records) == "a"
    assert relate(after.records, after.records) is None
