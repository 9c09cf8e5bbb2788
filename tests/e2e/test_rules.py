"""Include, exclude, ignore files, pause and `show -f`, from outside."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blackbox import ClaudeSession, Home, kill

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def daemon(home: Home) -> Iterator[subprocess.Popen[bytes]]:
    process = home.start("daemon", "run")
    try:
        until(lambda: '"uptime_seconds"' in home.run("status", "--json").stdout)
        yield process
    finally:
        kill(process)


def until(true: Callable[[], bool], seconds: float = 40) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.05)


def sessions(home: Home) -> set[str]:
    return {row["session_id"] for row in home.json("sessions")}


def test_exclude_by_project_agent_and_session(home: Home) -> None:
    one, two = ClaudeSession(home), ClaudeSession(home)
    for chat in (one, two):
        chat.append(["hello", "hi"])
    excluded = home.run("daemon", "run", "--once", "--json", ULTRACONTEXT_CAPTURE_EXCLUDE="/w/*")
    assert json.loads(excluded.stdout)["skipped"] == {"ignored": 4}
    assert sessions(home) == set()
    home.run("daemon", "run", "--once", ULTRACONTEXT_CAPTURE_AGENTS="codex")
    assert sessions(home) == set()
    other = {"ULTRACONTEXT_CAPTURE_EXCLUDE_SESSIONS": one.session}
    second = Home(home.folder / "second")
    for chat in (one, two):
        copy = second.claude / "projects/-w-app" / chat.path.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(chat.path.read_bytes())
    second.run("daemon", "run", "--once", **other)
    assert sessions(second) == {two.session}


def test_sub_agents_of_an_excluded_session_are_left_out_too(home: Home) -> None:
    chat, other = ClaudeSession(home), ClaudeSession(home)
    for one in (chat, other):
        one.append(["hello"])
    folder = chat.path.with_suffix("") / "subagents"
    folder.mkdir(parents=True)
    for place in (folder / "agent-a1.jsonl", chat.path.parent / "agent-b2.jsonl"):
        record = {
            "type": "user", "uuid": place.stem, "sessionId": chat.session, "cwd": "/w/app",
            "agentId": place.stem[6:], "isSidechain": True, "message": {"content": "count"},
            "timestamp": "2026-11-30T10:00:00.000Z",
        }  # fmt: skip
        place.write_text(json.dumps(record) + "\n")
    home.run("daemon", "run", "--once", ULTRACONTEXT_CAPTURE_EXCLUDE_SESSIONS=chat.session)
    assert [row["session_id"] for row in home.json("sessions", "--all")] == [other.session]


def test_an_agent_that_is_not_known_is_refused(home: Home) -> None:
    refused = home.run("daemon", "run", "--once", ULTRACONTEXT_CAPTURE_AGENTS="cladue")
    assert refused.returncode == 2
    assert "Known agents" in refused.stderr


def test_a_new_rule_says_how_many_captured_sessions_it_names(home: Home) -> None:
    for _ in range(2):
        ClaudeSession(home).append(["hello"])
    home.once()
    done = home.run("config", "set", "capture.exclude", "/w/app")
    assert done.returncode == 0
    assert "2 captured sessions match" in done.stderr
    assert "They stay in the store" in done.stderr
    assert len(sessions(home)) == 2


def test_a_daemon_with_a_new_rule_says_what_it_names(home: Home) -> None:
    ClaudeSession(home).append(["hello"])
    home.once()
    process = home.start("daemon", "run", ULTRACONTEXT_CAPTURE_EXCLUDE="/w")
    try:
        until(lambda: "captured-ignored" in home.run("status", "--json").stdout)
        problems = {p["code"]: p for p in home.json("status")["problems"]}
        assert "1 captured session matches" in problems["captured-ignored"]["message"]
        assert "They stay in the store" in problems["captured-ignored"]["hint"]
    finally:
        kill(process)


def test_a_paused_project_is_captured_after_continue(
    home: Home, daemon: subprocess.Popen[bytes]
) -> None:
    chat = ClaudeSession(home)
    chat.append(["one"])
    until(lambda: home.node_count() == 1)
    done = home.json("capture", "pause", "--project", "/w/app")
    assert done == {"paused": False, "paused_projects": ["/w/app"]}
    chat.append(["two", "three"])
    time.sleep(1.5)
    assert home.node_count() == 1
    assert home.json("status")["capture"]["paused_projects"] == ["/w/app"]
    kill(daemon)
    again = home.start("daemon", "run")
    try:
        until(lambda: '"uptime_seconds"' in home.run("status", "--json").stdout)
        chat.append(["four"])
        time.sleep(1.0)
        assert home.node_count() == 1
        home.json("capture", "continue", "--project", "/w/app")
        until(lambda: home.node_count() == 4, seconds=5)
        assert home.native_ids(chat.session) == chat.ids
    finally:
        kill(again)


def test_capture_pauses_as_a_whole(home: Home, daemon: subprocess.Popen[bytes]) -> None:
    del daemon
    home.json("capture", "pause")
    assert home.json("status")["capture"]["paused"] is True
    chat = ClaudeSession(home)
    chat.append(["one", "two"])
    time.sleep(1.5)
    assert home.node_count() == 0
    home.json("capture", "continue")
    until(lambda: home.node_count() == 2, seconds=5)


def test_pause_without_a_daemon_names_the_next_step(home: Home) -> None:
    refused = home.run("capture", "pause")
    assert refused.returncode == 1
    assert "daemon start" in refused.stderr


def test_show_follows_a_session_as_it_grows(home: Home, daemon: subprocess.Popen[bytes]) -> None:
    del daemon
    chat = ClaudeSession(home)
    chat.append(["first question"])
    until(lambda: home.node_count() == 1)
    out = home.folder / "followed"
    with out.open("wb") as sink:
        process = subprocess.Popen(
            home.command("show", chat.session, "-f", "--json"), env=home.env, cwd=home.folder,
            stdin=subprocess.DEVNULL, stdout=sink, stderr=subprocess.PIPE,
        )  # fmt: skip
    try:
        until(lambda: b"first question" in out.read_bytes())
        chat.append(["an answer", "second question"])
        until(lambda: b"second question" in out.read_bytes())
        process.send_signal(2)
        _, err = process.communicate(timeout=10)
    finally:
        process.kill()
    assert err == b""
    assert process.returncode == 130
    said = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert [m["text"] for m in said] == ["first question", "an answer", "second question"]
    assert [m["index"] for m in said] == [0, 1, 2]
