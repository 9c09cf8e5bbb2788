"""`forget` and what lies beside the store: the search index, the switch ledger, handoffs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from program import Person, wait_for

pytestmark = pytest.mark.timeout(240)

WORD = "xylograph"
FOLDER = ".claude/projects/-w-app"


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    made = Person(path=tmp_path)
    yield made
    made.end()


def holding(person: Person, word: str = WORD) -> list[Path]:
    """Files of ours that hold the word; an index holds words in small letters."""
    files = [file for file in person.home.rglob("*") if file.is_file()]
    return [file for file in files if word.encode() in file.read_bytes().lower()]


def found_by_search(person: Person, word: str) -> list[Any]:
    rows: list[Any] = person.run("search", word, "--json").data
    return rows


def test_with_a_daemon_at_work(person: Person) -> None:
    file = person.chat(text=WORD.upper())
    person.chat("b", text="zoetrope")
    person.daemon()
    wait_for(lambda: len(person.sessions()) == 2)
    wait_for(lambda: all(found_by_search(person, word) for word in (WORD, "zoetrope")))
    session = file.stem
    handoff = Path(
        person.run(
            "switch",
            "codex",
            "--session",
            session,
            "--handoff",
            "--cwd",
            str(person.path),
            "--json",
        ).data["path"]
    )
    assert WORD in handoff.read_text().lower()
    done = person.run("forget", session, "--yes", "--json")
    assert (done.code, done.data["clean"]) == (0, True), done.err
    assert holding(person) == []
    assert not handoff.exists()
    assert person.run("switch", "list", "--json").data[0]["state"] == "undone"
    person.chat(text=WORD.upper())  # a new turn
    person.write(f"{FOLDER}/copy-of-it.jsonl", file.read_text())
    wait_for(lambda: person.status()["capture"]["skipped"].get("wiped", 0) > 0)
    assert holding(person) == []
    assert found_by_search(person, WORD) == []
    wait_for(lambda: len(found_by_search(person, "zoetrope")) > 0)  # was in the same shard
    assert person.run("capture", "again", session).code == 0
    wait_for(lambda: len(found_by_search(person, WORD)) > 0)


def test_without_a_daemon(person: Person) -> None:
    file = person.chat(text=WORD)
    person.chat("b", text="zoetrope")
    assert person.run("daemon", "run", "--once").code == 0
    assert found_by_search(person, WORD)
    done = person.run("forget", file.stem, "--yes", "--json")
    assert (done.code, done.data["clean"]) == (0, True), done.err
    assert holding(person) == []
    assert found_by_search(person, "zoetrope")


def test_a_damaged_index_does_not_stop_it(person: Person) -> None:
    file = person.chat(text=WORD)
    assert person.run("daemon", "run", "--once").code == 0
    index = person.home / "index.db"
    index.write_bytes(WORD.encode() * 2000)
    done = person.run("forget", file.stem, "--yes", "--json")
    assert (done.code, done.data["clean"]) == (0, True), done.err
    assert holding(person) == []


def test_sub_agents_go_with_their_session(person: Person) -> None:
    file = person.chat(text=WORD)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for line in lines:
        line |= {"isSidechain": True, "agentId": "a1b2c3d4"}
        line["uuid"] = "9" + line["uuid"][1:]
        if line.get("parentUuid"):
            line["parentUuid"] = "9" + line["parentUuid"][1:]
    person.write(
        f"{FOLDER}/{file.stem}/subagents/agent-a1b2c3d4.jsonl",
        "".join(json.dumps(line) + "\n" for line in lines),
    )
    assert person.run("daemon", "run", "--once").code == 0
    assert len(person.sessions("--all")) == 2
    done = person.run("forget", file.stem, "--yes", "--json")
    assert (done.code, len(done.data["wiped"])) == (0, 2), done.err
    assert person.sessions("--all") == []
    assert holding(person) == []
