"""Versions from outside."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from blackbox import Home
from talks import Talk

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def test_show_gives_a_version_and_lists_them(home: Home) -> None:
    talk = Talk(home, 4100)
    one, two = talk.turns(2, "one"), talk.turns(2, "two")
    talk.write(*one, *two)
    home.once()
    talk.write({**talk.prompt("instead"), "parentUuid": one[-1]["uuid"]})
    home.once()
    shown = home.json("show", talk.session, "--history")
    assert [(v["version"], v["cause"], len(v["affected"] or ())) for v in shown["versions"]] == [
        (0, None, 0),
        (1, "rewind", 2),
    ]
    before = home.json("show", talk.session, "--version", "0")
    assert before["version"] == 0
    assert "instead" not in json.dumps(before)
    assert not any("branch" in m["metadata"] for m in before["messages"])
    raw = home.json("show", talk.session, "--version", "0", "--raw")
    assert len(raw["records"]) == 4
    text = home.run("show", talk.session, "--history").stdout
    assert "version 1, " in text
    assert "rewind, 2 messages put aside" in text
    missing = home.run("show", talk.session, "--version", "2")
    assert missing.returncode == 1
    assert "There are 0 to 1" in missing.stderr


def test_show_at_a_moment_and_up_to_a_message(home: Home) -> None:
    talk = Talk(home, 4101)
    one, two = talk.turns(2, "one"), talk.turns(2, "two")
    talk.write(*one, *two)
    home.once()
    instead = {**talk.prompt("instead"), "parentUuid": one[-1]["uuid"]}
    talk.write(instead)
    home.once()
    whole = home.json("show", talk.session)["messages"]
    first = home.json("show", talk.session, "--at", "0")["messages"]
    assert [m["id"] for m in first] == [whole[0]["id"]]
    then = home.json("show", talk.session, "--before", two[-1]["timestamp"])
    assert then["version"] == 0
    assert len(then["messages"]) == 4
    earlier = home.json("show", talk.session, "--before", one[-1]["timestamp"])
    assert [m["id"] for m in earlier["messages"]] == [m["id"] for m in whole[:2]]
    now = home.json("show", talk.session, "--before", instead["timestamp"])
    assert now["version"] == 1
    assert "instead" in json.dumps(now)
    for given, code, told in (
        (("--at", "99"), 2, "There are 0 to"),
        (("--at", "-1"), 2, "There are 0 to"),
        (("--before", "2001-01-01"), 1, "began later"),
    ):
        done = home.run("show", talk.session, *given)
        assert done.returncode == code
        assert told in done.stderr
