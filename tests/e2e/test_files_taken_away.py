"""What the daemon stands on is removed, replaced or damaged under it."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program import Person

pytestmark = pytest.mark.timeout(120)

Until = Callable[..., None]


def problems(person: Person) -> dict[str, dict[str, str]]:
    return {found["code"]: found for found in person.status()["problems"]}


def logged(person: Person, event: str) -> list[dict[str, Any]]:
    text = (person.home / "logs/daemon.log").read_text("utf-8")
    return [line for line in map(json.loads, text.splitlines()) if line["event"] == event]


def messages(person: Person) -> list[int]:
    return sorted(row["messages"] for row in person.sessions())


@pytest.mark.parametrize("names", [["store.db"], ["store.db", "store.db-wal", "store.db-shm"]])
def test_a_removed_store_is_made_again_and_filled(
    names: list[str], person: Person, until: Until
) -> None:
    person.chat("a", turns=3)
    process = person.daemon()
    until(lambda: messages(person) == [6])
    for name in names:
        (person.home / name).unlink()
    person.chat("b")
    until(lambda: (person.home / "store.db").exists(), process)
    until(lambda: messages(person) == [2, 6], process)
    assert "captured anew" in problems(person)["store-gone"]["hint"]
    assert logged(person, "store-changed")
    person.chat("a", turns=2)
    until(lambda: messages(person) == [2, 10], process)
    assert person.run("daemon", "stop").code == 0
    assert process.wait(10) == 0


def test_a_store_put_in_place_of_another_is_followed(person: Person, until: Until) -> None:
    person.chat("a", turns=3)
    person.run("daemon", "run", "--once")
    kept = shutil.copy(person.home / "store.db", person.path / "kept.db")
    person.chat("a", turns=2)
    process = person.daemon()
    until(lambda: messages(person) == [10])
    Path(kept).replace(person.home / "store.db")
    until(lambda: "store-replaced" in problems(person), process)
    until(lambda: messages(person) == [10], process)
    person.chat("b")
    until(lambda: messages(person) == [2, 10], process)
    person.run("daemon", "stop")
    with sqlite3.connect(person.home / "store.db") as store:
        assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert store.execute("SELECT count(*) FROM nodes").fetchone() == (12,)
    store.close()


def test_a_daemon_that_stops_right_after_leaves_no_log_of_another_store(
    person: Person, until: Until
) -> None:
    person.chat("a", turns=3)
    person.run("daemon", "run", "--once")
    kept = shutil.copy(person.home / "store.db", person.path / "kept.db")
    process = person.daemon()
    person.chat("b", turns=30)
    until(lambda: messages(person) == [6, 60])
    Path(kept).replace(person.home / "store.db")
    process.terminate()
    assert process.wait(10) == 0
    assert not (person.home / "store.db-wal").exists()
    person.run("daemon", "run", "--once")
    assert messages(person) == [6, 60]


def test_a_removed_socket_is_made_again(person: Person, until: Until) -> None:
    process = person.daemon()
    socket = person.home / "run/daemon.sock"
    os.utime(person.home / "run/daemon.lock", (1, 1))  # as of a daemon that runs for long
    socket.unlink()
    gone = person.run("status", "--json").data
    if not socket.exists():
        assert (gone["daemon"]["running"], gone["daemon"]["pid"]) == (True, process.pid)
        assert [found["code"] for found in gone["problems"]] == ["socket-gone"]
    started = person.run("daemon", "start", "--json")
    assert started.data == {"running": True, "started": False, "pid": process.pid}
    assert socket.is_socket()
    assert socket.stat().st_mode & 0o077 == 0
    assert "uptime_seconds" in person.status()["daemon"]
    assert logged(person, "socket-made-again")
    assert person.run("daemon", "stop").code == 0
    assert not socket.exists()


def damage(store: Path) -> None:
    """Spoils one page in which a table has rows: the last one."""
    data = store.read_bytes()
    pages = [n for n in range(4096, len(data), 4096) if data[n] == 0x0D]
    with store.open("r+b") as file:
        file.seek(pages[-1])
        file.write(b"\x0d\xff\xff\xff\xff" + b"\xff" * 200)


def test_damage_is_found_after_a_daemon_that_was_killed(person: Person, until: Until) -> None:
    for number in range(20):
        person.chat(f"s{number}", turns=20)
    person.run("daemon", "run", "--once")
    process = person.daemon()
    until(lambda: bool(logged(person, "store-checked")), process)
    assert not problems(person)
    process.kill()
    process.wait(10)
    damage(person.home / "store.db")
    again = person.daemon()
    until(lambda: "store-corrupt" in problems(person), again)
    found = problems(person)["store-corrupt"]
    assert str(person.home / "store.db") in found["message"]
    assert "daemon stop" in found["hint"]
    assert again.poll() is None


def test_a_store_that_is_none_ends_the_start_with_a_repair(person: Person) -> None:
    person.chat("a")
    person.run("daemon", "run", "--once")
    (person.home / "store.db").write_bytes(b"no store" * 1000)
    for suffix in ("-wal", "-shm"):
        (person.home / f"store.db{suffix}").unlink(missing_ok=True)
    for arguments in (["daemon", "run", "--once"], ["daemon", "run"], ["sessions"]):
        done = person.run(*arguments)
        assert done.code == 1
        assert "daemon stop" in done.err
    done = person.run("daemon", "start")
    assert (done.code, "daemon stop" in done.err) == (1, True)


def test_a_home_that_is_removed_as_a_whole_comes_back(person: Person, until: Until) -> None:
    person.chat("a", turns=3)
    process = person.daemon()
    until(lambda: messages(person) == [6])
    shutil.rmtree(person.home)
    person.chat("b")
    until(lambda: (person.home / "store.db").exists() and messages(person) == [2, 6], process)
    status = person.status()
    assert status["daemon"]["pid"] == process.pid
    assert [found["code"] for found in status["problems"]] == ["store-gone"]
    assert logged(person, "daemon-started")
    modes = {path.stat().st_mode & 0o077 for path in person.home.rglob("*")}
    assert modes == {0}
