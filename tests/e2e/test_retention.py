"""Old sessions go, with their text, and do not come back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from program import Person

pytestmark = pytest.mark.timeout(120)
Until = Callable[..., None]


@pytest.fixture
def two(person: Person) -> Person:
    """One session of long ago, one of today; both captured."""
    aged(person.chat("old", turns=3, text="words of long ago"), "2020-01-01")
    aged(person.chat("new", turns=2, text="words of today"), f"{datetime.now(UTC):%Y-%m-%d}")
    assert person.run("daemon", "run", "--once").code == 0
    assert len(person.sessions()) == 2
    return person


def aged(file: Path, day: str) -> None:
    file.write_text(file.read_text().replace("2026-11-30T", f"{day}T").replace("T10:", "T00:"))


def test_by_age_and_for_good(two: Person) -> None:
    shown = two.run("store", "prune", "--older-than", "90d", "--dry-run", "--json")
    assert shown.data == {"chosen": 1, "pruned": 0, "waiting": 0}
    assert len(two.sessions()) == 2
    assert two.run("store", "prune", "--older-than", "90d").code in (3, 130)  # nobody to ask
    assert len(two.sessions()) == 2
    done = two.run("store", "prune", "--older-than", "90d", "--yes", "--json")
    assert done.data == {"chosen": 1, "pruned": 1, "waiting": 0}
    assert len(two.sessions()) == 1
    assert b"long ago" not in (two.home / "store.db").read_bytes()
    assert two.run("daemon", "run", "--once").code == 0
    assert len(two.sessions()) == 1
    assert two.run("store", "check").code == 0


def test_by_project_and_by_size(two: Person) -> None:
    assert (
        two.run("store", "prune", "--project", "/elsewhere", "--yes", "--json").data["chosen"] == 0
    )
    assert two.run("store", "prune", "--to-mb", "1000", "--yes", "--json").data["pruned"] == 0
    assert two.run("store", "prune", "--to-mb", "0", "--yes", "--json").data["pruned"] == 2
    assert two.sessions() == []
    assert two.run("store", "prune").code == 2


def test_what_is_to_reach_the_remote_stays(two: Person) -> None:
    two.run("config", "set", "remote.url", "https://team.example")
    two.run("config", "set", "remote.include", "/w/app")
    done = two.run("store", "prune", "--older-than", "90d", "--yes", "--json")
    assert done.data == {"chosen": 0, "pruned": 0, "waiting": 1}
    assert len(two.sessions()) == 2


def test_the_daemon_does_it_by_itself(two: Person, until: Until) -> None:
    two.run("config", "set", "retention.days", "90")
    process = two.daemon()
    until(lambda: len(two.sessions()) == 1, process, seconds=60)
    assert "words of today" in two.run("show", two.sessions()[0]["id"]).out
