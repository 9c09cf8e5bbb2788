"""The commands from outside: shapes, exit codes, errors."""

from __future__ import annotations

import json
import os
import signal
import stat
from typing import Any

import pytest
from program import Person
from recordings import lay_out, recordings

pytestmark = pytest.mark.timeout(120)

SUMMARY = {
    "sessions": int, "events": int, "duplicates": int, "bytes": int, "files": int, "masked": int,
    "skipped": dict, "errors": list, "seconds": float,
}  # fmt: skip
ROW = {
    "id", "session_id", "agent", "project_path", "title", "title_source", "messages", "started_at",
    "updated_at", "model", "parent_id", "parent_session", "relation",
}  # fmt: skip
MESSAGE = {"id", "index", "role", "kind", "event_type", "text", "timestamp", "metadata"}
KINDS = {"user", "assistant", "reasoning", "tool_call", "tool_result", "system", "meta"}
HOMES = {"claude": ".claude", "codex": ".codex"}


@pytest.mark.parametrize("agent", list(HOMES))
def test_every_recording_is_captured_listed_and_shown(agent: str, person: Person) -> None:
    names = recordings(agent)
    assert names
    for name in names:
        lay_out(agent, name, person.path / HOMES[agent])
    first = person.run("daemon", "run", "--once", "--json")
    assert first.code == 0, first.err
    assert first.err == ""
    assert {k: type(first.data[k]) for k in SUMMARY} == SUMMARY
    assert first.data["events"] > 0

    rows = person.sessions()
    assert all(set(row) >= ROW for row in rows)
    pairs = [(row["agent"], row["session_id"]) for row in rows]
    assert len(set(pairs)) == len(pairs)
    for row in rows[::5]:  # a process each; the readers' own tests look at all of them
        check_shown(person, row)

    again = person.run("daemon", "run", "--once", "--json")
    assert (again.code, again.data["events"]) == (0, 0)


def check_shown(person: Person, row: dict[str, Any]) -> None:
    shown = person.run("show", row["id"], "--json").data
    assert {shown["id"], shown["session_id"], shown["agent"]} == {
        row["id"], row["session_id"], row["agent"],
    }  # fmt: skip
    messages = shown["messages"]
    assert all(set(m) >= MESSAGE and m["kind"] in KINDS for m in messages)
    assert [m["index"] for m in messages] == list(range(len(messages)))
    assert row["messages"] == sum(m["kind"] != "meta" for m in messages)
    for m in messages:
        if "tool" in m:
            assert set(m["tool"]) == {"name", "call_id", "input", "output", "is_error"}


def test_raw_gives_the_records_with_their_places(person: Person) -> None:
    file = person.chat(turns=2)
    person.run("daemon", "run", "--once")
    (row,) = person.sessions()
    raw = person.run("show", row["session_id"], "--raw", "--json").data
    lines = file.read_bytes().splitlines(keepends=True)
    assert set(raw) == {"id", "session_id", "records"}
    assert [r["native"] for r in raw["records"]] == [json.loads(line) for line in lines]
    places = [sum(map(len, lines[:n])) for n in range(len(lines))]
    assert [r["position"] for r in raw["records"]] == places
    assert all(len(bytes.fromhex(r["event_id"])) == 16 for r in raw["records"])


def test_show_takes_ids_and_prefixes_and_names_candidates(person: Person) -> None:
    person.chat("a")
    person.chat("b")
    person.run("daemon", "run", "--once")
    rows = person.sessions()
    for row in rows:
        for ident in (row["id"], row["session_id"], row["id"][:14]):
            assert person.run("show", ident, "--json").data["id"] == row["id"]
    both = person.run("show", "00000000", "--json")
    assert (both.code, both.error["code"]) == (1, "ambiguous")
    none = person.run("show", "ctx_nothing", "--json")
    assert (none.code, none.error["code"]) == (1, "not-found")


def test_filters_of_sessions(person: Person) -> None:
    person.chat("a")
    person.run("daemon", "run", "--once")
    assert len(person.sessions("--agent", "claude", "--project", "/w")) == 1
    assert person.sessions("--agent", "codex") == []
    assert person.sessions("--project", "/w/ap") == []
    assert person.sessions("--since", "2026-11-30T23:00:00Z") == []
    assert len(person.sessions("--since", "2026-11-30T01:00:00Z", "--limit", "1")) == 1
    assert person.run("sessions", "--agent", "cluade").code == 2
    assert person.run("sessions", "--since", "whenever").code == 2


def test_commands_before_anything_was_captured(person: Person) -> None:
    assert person.run("sessions", "--json").data == []
    assert "daemon run --once" in person.run("sessions").err
    assert person.run("show", "x", "--json").error["code"] == "not-found"
    status = person.run("status", "--json")
    assert status.code == 1
    assert status.data["daemon"] == {"running": False, "pid": None, "version": None}
    assert not person.home.exists()


def test_status_has_its_shape_with_and_without_a_daemon(person: Person) -> None:
    person.chat()
    person.run("daemon", "run", "--once")
    stopped = person.run("status", "--json")
    person.daemon()
    running = person.run("status", "--json")
    assert (stopped.code, running.code) == (1, 0)
    for found in (stopped.data, running.data):
        assert set(found) >= {"daemon", "capture", "redaction", "remote", "dedup", "problems"}
        assert set(found["daemon"]) >= {"running", "pid", "version"}
        assert set(found["capture"]) >= {
            "paused", "watcher", "backlog_bytes", "backlog_seconds",
        }  # fmt: skip
        assert found["redaction"]["enabled"] is True
        assert set(found["remote"]) == {"url", "lag_events", "lag_seconds", "error"}
        assert found["dedup"]["rows"] == 2
    assert isinstance(running.data["capture"]["backlog_bytes"], int)
    assert isinstance(running.data["redaction"]["rules"], int)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["sesions"], "ultracontext sessions"),
        (["daemon", "strat"], "ultracontext daemon start"),
        (["sessions", "--agnet", "x"], "--agent"),
        (["sessions", "--limit", "x"], "--help"),
        (["show"], "--help"),
        (["show", "x", "--version", "three"], "--help"),
        (["show", "x", "--format", "pdf"], "markdown"),
        (["config", "get", "capture.backfil"], "capture.backfill"),
        (["config", "set", "capture.backfill", "never"], "24h"),
        (["setup"], "setup --yes"),
        (["daemon", "run", "--json"], "status --json"),
    ],
)
def test_wrong_usage_is_one_line_with_the_next_step(
    arguments: list[str], named: str, person: Person
) -> None:
    plain = person.run(*arguments)
    assert (plain.code, plain.out) == (2, "")
    assert plain.err.count("\n") == 1
    assert named in plain.err
    as_json = person.run(*arguments, "--json")
    assert as_json.code == 2
    assert set(as_json.error) == {"code", "message", "hint"}


def test_daemon_with_another_kind_of_store_is_refused(person: Person) -> None:
    for arguments in (["daemon", "run"], ["daemon", "run", "--once"]):
        done = person.run(*arguments, env={"ULTRACONTEXT_STORE": "postgresql://h/db"})
        assert done.code == 2
        assert "remote.url" in done.err


def test_broken_settings_stop_everything_that_reads_them(person: Person) -> None:
    person.home.mkdir()
    (person.home / "config.toml").write_text('[capture]\nbackfil = "all"\n')
    for arguments in (
        ["daemon", "run", "--once"],
        ["daemon", "start"],
        ["sessions"],
        ["config", "show"],
    ):
        done = person.run(*arguments)
        assert done.code == 2, arguments
        assert "capture.backfill" in done.err


def test_unexpected_failure_is_one_line_without_payload(person: Person) -> None:
    person.home.mkdir()
    (person.home / "store.db").mkdir()
    done = person.run("sessions", "--json")
    assert done.code == 1
    assert set(done.error) == {"code", "message", "hint"}


def test_config_set_get_show_path(person: Person) -> None:
    assert person.run("config", "set", "capture.dedup_ttl", "2d").code == 0
    assert person.run("config", "get", "capture.dedup_ttl").out == "2d\n"
    assert person.run("config", "get", "agents.claude.roots", "--json").data["value"] == []
    assert person.run("config", "show", "--json").data["capture.dedup_ttl"] == "2d"
    assert person.run("config", "path").out.strip() == str(person.home / "config.toml")
    env = {"ULTRACONTEXT_CAPTURE_DEDUP_TTL": "3d", "ULTRACONTEXT_REMOTE": "postgresql://u:pw@h/d"}
    shown = person.run("config", "show", env=env).out
    assert "ULTRACONTEXT_CAPTURE_DEDUP_TTL" in shown
    assert ":pw@" not in shown


def test_agents_roots_of_the_settings_are_followed(person: Person) -> None:
    person.chat()
    (person.path / ".claude").rename(person.path / "elsewhere")
    assert person.run("daemon", "run", "--once", "--json").data["events"] == 0
    env = {"ULTRACONTEXT_AGENTS_CLAUDE_ROOTS": "~/elsewhere"}
    assert person.run("daemon", "run", "--once", "--json", env=env).data["events"] == 2


def test_everything_under_the_home_is_private(person: Person) -> None:
    os.umask(0o022)
    person.chat()
    person.run("config", "set", "log.level", "debug")
    person.run("daemon", "start")
    person.run("daemon", "stop")
    person.run("show", "nothing")
    found = [person.home, *person.home.rglob("*")]
    assert len(found) > 8
    assert [str(p) for p in found if stat.S_IMODE(p.lstat().st_mode) & 0o077] == []


def test_odd_text_leaves_as_valid_utf8_and_harmless(person: Person) -> None:
    text = "\x1b]0;owned\x07\x1b[31mred \u202e 日本 👩\u200d💻 [/bold] \ud83d end"
    escaped = json.dumps(text)[1:-1]
    file = person.chat(text="MARK")
    file.write_text(file.read_text().replace("MARK", escaped))
    person.run("daemon", "run", "--once")
    (row,) = person.sessions()
    for arguments in (
        ["sessions"], ["show", row["id"]], ["show", row["id"], "--format", "markdown"],
        ["show", row["id"], "--raw"],
    ):  # fmt: skip
        done = person.run(*arguments)
        assert done.code == 0
        assert not any(c in done.out for c in "\x1b\x07\u202e")
    assert "red" in row["title"]
    shown = person.run("show", row["id"], "--json").data
    assert shown["messages"][0]["text"].endswith("end 0")
    raw = person.run("show", row["id"], "--raw", "--json").data
    assert raw["records"][0]["native"]["message"]["content"].startswith("\x1b]0;owned")


@pytest.mark.parametrize("columns", ["20", "60", "80", "200"])
def test_table_fits_the_width(columns: str, person: Person) -> None:
    person.chat("a", text="説明を日本語で書いてください " * 8)
    person.chat("b", text="e\u0301clair " * 20)
    person.run("daemon", "run", "--once")
    from rich.cells import cell_len

    lines = person.run("sessions", env={"COLUMNS": columns}).out.splitlines()
    assert len(lines) == 3
    assert max(map(cell_len, lines)) <= int(columns)


def test_show_for_people(person: Person) -> None:
    lay_out("claude", "tool-bash", person.path / ".claude")
    person.run("daemon", "run", "--once")
    (row,) = person.sessions()
    text = person.run("show", row["id"]).out
    assert "── You" in text
    assert "── Tool Bash" in text
    assert "command: ls" in text
    markdown = person.run("show", row["id"], "--format", "markdown").out
    assert markdown.startswith("# ")
    assert "## You" in markdown


def test_pipe_that_closes_early_is_quiet(person: Person) -> None:
    person.chat(turns=2000, text="x" * 100)
    person.run("daemon", "run", "--once")
    (row,) = person.sessions()
    process = person.start("show", row["id"], "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.wait(20) in (0, 1)
    assert process.stderr.read() == b""
    process.stdout = None


def test_help_and_version(person: Person) -> None:
    assert person.run("--version").out.startswith("ultracontext 0")
    shown = person.run("--help")
    assert shown.code == 0
    assert "Every day:" in shown.out
    for command in ("sessions", "show", "status", "demo", "daemon", "config", "setup"):
        assert command in shown.out
        assert person.run(command, "--help").code == 0
    bare = person.run()
    assert "not running" in bare.out


def test_link_puts_launchers_into_place_and_keeps_others(person: Person) -> None:
    done = person.run("setup", "--link")
    assert done.code == 0
    assert "not on the PATH" in done.err
    launcher = person.path / ".local/bin/ultracontext"
    assert os.access(launcher, os.X_OK)
    assert person.run("setup", "--link").code == 0
    launcher.write_text("#!/bin/sh\n")
    refused = person.run("setup", "--link")
    assert refused.code == 3
    assert launcher.read_text() == "#!/bin/sh\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_demo_leaves_nothing(number: int, person: Person) -> None:
    folder = person.path / "tmp"
    folder.mkdir()
    process = person.start("demo", "--json", "--pause", "0.5", env={"TMPDIR": str(folder)})
    assert process.stdout is not None
    assert b"{" in process.stdout.readline()
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, b"")
    assert list(folder.iterdir()) == []


def test_demo_shows_masked_messages_and_leaves_nothing(person: Person) -> None:
    folder = person.path / "tmp"
    folder.mkdir()
    done = person.run("demo", "--pause", "0", "--json", env={"TMPDIR": str(folder)})
    assert done.code == 0, done.err
    told = [json.loads(line) for line in done.out.splitlines()]
    assert {row["agent"] for row in told} == {"claude", "codex"}
    assert sum(row["kind"] == "user" for row in told) == 3
    assert "[redacted:" in done.out
    assert "ghp_" not in done.out
    assert list(folder.iterdir()) == []
    assert not person.home.exists()
