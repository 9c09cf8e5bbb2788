"""The daemon from outside: one a home, start and stop, take-over, control socket."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program import Person

from ultracontext.runtime.client import ControlClient

pytestmark = pytest.mark.timeout(120)

Until = Callable[..., None]


def client(person: Person) -> ControlClient:
    return ControlClient(person.home / "run/daemon.sock", timeout_seconds=5)


def test_start_status_stop_and_again(person: Person) -> None:
    started = person.run("daemon", "start", "--json")
    assert started.code == 0
    pid = started.data["pid"]
    assert person.status()["daemon"]["pid"] == pid
    again = person.run("daemon", "start", "--json")
    assert (again.code, again.data) == (0, {"running": True, "started": False, "pid": pid})
    restarted = person.run("daemon", "restart", "--json")
    assert restarted.data["pid"] != pid
    stopped = person.run("daemon", "stop", "--json")
    assert stopped.data == {"running": False, "stopped": True, "pid": restarted.data["pid"]}
    assert stopped.seconds < 5
    assert person.run("daemon", "stop").code == 0
    assert not (person.home / "run/daemon.sock").exists()


def test_what_is_written_while_it_runs_is_captured(person: Person, until: Until) -> None:
    person.chat("a")
    person.daemon()
    until(lambda: len(person.sessions()) == 1)
    person.chat("a", turns=3)
    person.chat("b")
    until(lambda: sorted(r["messages"] for r in person.sessions()) == [2, 8])


def test_second_daemon_exits_3_and_names_the_first(person: Person) -> None:
    first = person.daemon()
    for arguments in (["daemon", "run"], ["daemon", "run", "--once"]):
        second = person.run(*arguments)
        assert second.code == 3
        assert f"pid {first.pid}" in second.err
    as_json = person.run("daemon", "run", "--once", "--json")
    assert as_json.error["code"] == "locked"
    assert first.poll() is None


def test_ten_at_once_leave_one(person: Person, until: Until) -> None:
    all_of_them = [person.start("daemon", "run") for _ in range(10)]
    until(lambda: sum(p.poll() is None for p in all_of_them) == 1, seconds=60)
    assert sorted(p.returncode for p in all_of_them if p.poll() is not None) == [3] * 9
    (first,) = [p for p in all_of_them if p.poll() is None]
    until(lambda: person.status()["daemon"]["pid"] == first.pid, first)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signal_stops_within_two_seconds(number: int, person: Person) -> None:
    person.chat("a", turns=5)
    process = person.daemon()
    begun = time.monotonic()
    process.send_signal(number)
    assert process.wait(10) == 0
    assert time.monotonic() - begun < 2
    assert process.communicate() == (b"", b"")
    assert not (person.home / "run/daemon.sock").exists()


def test_hangup_does_not_end_it(person: Person) -> None:
    process = person.daemon()
    process.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert person.status()["daemon"]["pid"] == process.pid


def test_stop_under_load_keeps_what_is_done(person: Person, until: Until) -> None:
    person.chat("a", turns=20_000, text="x" * 200)
    process = person.start("daemon", "run")
    until(lambda: bool(person.sessions()), process, seconds=30)
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(15) == 0
    assert time.monotonic() - begun < 5
    done = person.run("daemon", "run", "--once", "--json")
    assert done.code == 0
    (row,) = person.sessions()
    assert row["messages"] == 40_000


def test_interrupted_run_once_leaves_quietly(person: Person, until: Until) -> None:
    person.chat("a", turns=6_000, text="x" * 200)
    process = person.start("daemon", "run", "--once")
    until(lambda: (person.home / "store.db").exists(), process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert process.returncode in (0, 130)
    assert b"Traceback" not in out + err
    assert person.run("daemon", "run", "--once").code == 0
    (row,) = person.sessions()
    assert row["messages"] == 12_000


def test_killed_daemon_leaves_lock_and_socket_that_are_taken_over(person: Person) -> None:
    process = person.daemon()
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (person.home / "run/daemon.sock").exists()
    assert person.run("status", "--json").data["daemon"]["running"] is False
    second = person.daemon()
    assert second.pid != process.pid


def test_lock_of_a_reused_pid_is_taken_over(person: Person) -> None:
    (person.home / "run").mkdir(parents=True)
    text = json.dumps({"pid": os.getpid(), "start": 1, "socket": "/nowhere"})
    (person.home / "run/daemon.lock").write_text(text)
    assert person.run("daemon", "stop").code == 0  # and this process lives on
    assert person.run("daemon", "run", "--once").code == 0


def test_removed_lock_file_does_not_make_room_for_a_second(person: Person, until: Until) -> None:
    first = person.daemon()
    lock = person.home / "run/daemon.lock"
    lock.unlink()
    second = person.run("daemon", "run")
    assert second.code == 3
    assert f"pid {first.pid}" in second.err
    until(lambda: person.status()["daemon"]["pid"] == first.pid, first)


def test_long_home_path_works(person: Person) -> None:
    deep = person.path / ("d" * 60) / ("e" * 60)
    env = {"ULTRACONTEXT_HOME": str(deep), "TMPDIR": "/tmp"}
    try:
        assert person.run("daemon", "start", env=env).code == 0
        assert person.run("status", "--json", env=env).data["daemon"]["running"] is True
    finally:
        assert person.run("daemon", "stop", env=env).code == 0


def test_two_homes_have_a_daemon_each(person: Person) -> None:
    other = {"ULTRACONTEXT_HOME": str(person.path / "other")}
    person.daemon()
    try:
        assert person.run("daemon", "start", env=other).code == 0
    finally:
        assert person.run("daemon", "stop", env=other).code == 0
    assert person.status()["daemon"]["running"] is True


def test_pause_continue_and_sweep(person: Person, until: Until) -> None:
    person.daemon()
    client(person).post("/pause")
    until(lambda: person.status()["capture"]["paused"])
    person.chat("a")
    time.sleep(0.5)
    assert person.sessions() == []
    client(person).post("/continue")
    until(lambda: len(person.sessions()) == 1)
    person.chat("b")
    client(person).post("/sweep")
    until(lambda: len(person.sessions()) == 2)


def test_events_tell_commits_and_replay(person: Person, until: Until) -> None:
    person.chat("a")
    person.daemon()
    until(lambda: len(person.sessions()) == 1)
    start = client(person).get("/sessions")
    assert [row["title"] for row in start["sessions"]] == ["hello 0"]
    found: list[dict[str, Any]] = []

    def listen() -> None:
        for name, data in client(person).events(start["cursor"]):
            if name == "committed":
                found.append(data)
                return

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    person.chat("a", turns=1)
    thread.join(10)
    assert found[0]["context_id"] == start["sessions"][0]["id"]
    assert found[0]["events"] in (1, 2)
    for name, data in client(person).events(start["cursor"]):
        if name == "committed":
            assert data["cursor"] == found[0]["cursor"]
            break


def test_socket_and_its_folder_are_private(person: Person) -> None:
    person.daemon()
    socket = person.home / "run/daemon.sock"
    assert socket.stat().st_mode & 0o077 == 0
    assert socket.parent.stat().st_mode & 0o077 == 0


def test_logs_are_told(person: Person, until: Until) -> None:
    none = person.run("daemon", "logs", "--json")
    assert (none.code, none.error["code"]) == (1, "not-found")
    person.run("daemon", "start")
    person.run("daemon", "stop")
    assert "daemon started" in person.run("daemon", "logs").out
    events = [
        json.loads(x)["event"] for x in person.run("daemon", "logs", "--json").out.splitlines()
    ]
    assert {"daemon-started", "daemon-stopped"} <= set(events)
    follower = person.start("daemon", "logs", "-f", "-n", "0")
    assert follower.stdout is not None
    time.sleep(0.5)
    person.run("daemon", "start")
    assert b"daemon started" in follower.stdout.readline()


def test_failed_start_says_why(person: Person) -> None:
    (person.home / "run").mkdir(parents=True)
    (person.home / "run/daemon.sock").write_text("in the way")
    done = person.run("daemon", "start")
    assert done.code == 1
    assert "control socket" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_read_only_home_is_named(person: Person) -> None:
    person.home.mkdir(mode=0o500)
    done = person.run("daemon", "run", "--once", "--json")
    assert done.code == 1
    assert done.error["code"] == "home"


def test_start_finds_no_other_program_than_ours(person: Person, tmp_path: Path) -> None:
    """A folder with a module of our name or of a library's does not get into the daemon."""
    for name in ("ultracontext", "json", "typer"):
        (person.path / f"{name}.py").write_text("raise SystemExit(99)")
    assert person.run("daemon", "start").code == 0
    assert person.run("daemon", "stop").code == 0


def test_facts_are_right_after_a_reader_was_mended(person: Person) -> None:
    """Rows whose facts were made by another state of the reader are computed anew on read."""
    person.chat("a", turns=2)
    person.run("daemon", "run", "--once")
    spoil = (
        "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]);"
        "c.execute(\"UPDATE contexts SET facts = '{}', reader_digest = x'00'\"); c.commit()"
    )
    store = str(person.home / "store.db")
    subprocess.run([sys.executable, "-c", spoil, store], check=True)
    (row,) = person.sessions()
    assert (row["title"], row["messages"]) == ("hello 0", 4)
