"""What somebody meets who tries things out: no agent, wrong words, places that cannot be used."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from program import PROGRAM, Person

pytestmark = pytest.mark.timeout(120)

INTERRUPTED = """
import os, signal, sys

wanted, handler = sys.argv[1:]
signal.signal(signal.SIGINT, getattr(signal, handler))

class Hook:
    def find_spec(self, name, *more):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Hook())
from ultracontext.cli.entry import main
sys.argv[1:] = ["status"]
main()
"""


def test_a_first_start_without_any_agent_says_where_it_looked(person: Person) -> None:
    done = person.run("daemon", "run", "--once")
    assert done.code == 0
    for name in ("Claude Code", "~/.claude (not there)", "~/.codex", "`ultracontext demo`"):
        assert name in done.out
    started = person.run("daemon", "start")
    assert "~/.gemini (not there)" in started.err
    assert "`ultracontext demo`" in started.err
    person.chat("a")
    found = person.run("daemon", "restart")
    assert "not there" not in found.err


def test_with_sessions_it_does_not(person: Person) -> None:
    person.chat("a")
    for _ in range(2):
        assert "Looked in" not in person.run("daemon", "run", "--once").out


def test_a_root_that_is_missing_is_told_everywhere(person: Person) -> None:
    place = str(person.path / "nowhere")
    written = person.run("config", "set", "agents.claude.roots", f"~/.claude,{place}")
    assert (written.code, f"{place} is no folder yet" in written.err) == (0, True)
    person.chat("a")
    once = person.run("daemon", "run", "--once", "--json").data
    assert once["events"] == 2
    assert once["errors"] == [
        {"agent": "claude", "path": place, "position": 0, "code": "root-missing"}
    ]
    assert f"root-missing: {place}\n" in person.run("daemon", "run", "--once").out
    person.daemon()
    (problem,) = person.status()["problems"]
    assert (problem["code"], place in problem["message"]) == ("root-missing", True)
    Path(place).mkdir()
    assert person.status()["problems"] == []


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("agents.claud.roots", "agents.claude.roots"),
        ("agents.claude.root", "agents.claude.roots"),
        ("capture.backfil", "capture.backfill"),
    ],
)
def test_a_key_that_is_unknown_is_refused_before_writing(
    key: str, nearest: str, person: Person
) -> None:
    done = person.run("config", "set", key, "/w")
    assert (done.code, nearest in done.err) == (2, True)
    assert not (person.home / "config.toml").exists()
    person.write("uc/config.toml", f"{key} = ['/w']\n")
    for command in (["config", "show"], ["daemon", "start"], ["daemon", "run", "--once"]):
        done = person.run(*command)
        assert (done.code, nearest in done.err) == (2, True)


def test_config_show_has_the_roots_of_every_agent(person: Person) -> None:
    person.run("config", "set", "agents.codex.roots", "~/elsewhere")
    shown = person.run("config", "show", "--json").data
    assert shown["agents.codex.roots"] == ["~/elsewhere"]
    assert shown["agents.claude.roots"] == []
    text = person.run("config", "show").out
    assert "agents.claude.roots = [] # looks in ~/.claude" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sessions", "--since", "5"], "'5' has no unit. Write it like 5h or 5d"),
        (["sessions", "--limit", "x"], "--limit takes a whole number"),
        (["daemon", "run", "--once", "--backfill", "x"], "Write all, new, or a duration"),
        (["config", "set", "capture.backfill", "x"], "Write all, new, or a duration"),
    ],
)
def test_odd_values_are_refused_in_one_line(
    arguments: list[str], message: str, person: Person
) -> None:
    done = person.run(*arguments)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert message in done.err


def test_an_empty_list_says_why_it_is_empty(person: Person) -> None:
    assert "Nothing captured yet" in person.run("sessions", "--gone").err
    person.chat("a")
    person.run("daemon", "run", "--once")
    assert "None is gone: the agents still have" in person.run("sessions", "--gone").err
    assert "None is hidden" in person.run("sessions", "--hidden").err
    assert "None expires within 1s" in person.run("sessions", "--expiring", "1s").err
    assert "among these" in person.run("sessions", "--gone", "--agent", "claude").err


def test_an_empty_home_variable_is_that_of_the_account(person: Person) -> None:
    done = person.run("status", env={"HOME": ""})
    assert (done.code, done.err) == (1, "")


def test_sessions_held_back_are_counted(person: Person) -> None:
    person.chat("a")
    person.daemon()
    person.run("capture", "pause", "--project", "/w/app")
    person.run("daemon", "stop")
    person.chat("b")
    person.chat("c")
    once = person.run("daemon", "run", "--once", "--json").data
    assert once["waiting"] == 2
    assert "2 sessions are held back" in person.run("daemon", "run", "--once").out


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["status"], ["--help"], ["config", "show", "--json"], ["demo", "--help"]]
)
def test_output_that_cannot_be_written_is_told(arguments: list[str], person: Person) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*PROGRAM, *arguments], env=person.env, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    assert b"No space left on device" in done.stderr
    with Path("/dev/full").open("wb") as full:
        silent = subprocess.run([*PROGRAM, "nosuch"], env=person.env, stderr=full, check=False)
    assert silent.returncode == 2


def test_closed_streams_are_no_fault(person: Person) -> None:
    line = shlex.join([*PROGRAM, "config", "show"])
    done = subprocess.run(["sh", "-c", f"{line} >&- 2>&-"], env=person.env, check=False)
    assert done.returncode == 0


@pytest.mark.parametrize("module", ["typer", "ultracontext.cli.main", "ultracontext.errors"])
def test_an_interrupt_while_it_loads_leaves_no_trace(module: str, person: Person) -> None:
    assert interrupted(person, module, "default_int_handler") == (-signal.SIGINT, b"")


def test_an_interrupt_that_is_ignored_stays_ignored(person: Person) -> None:
    assert interrupted(person, "typer", "SIG_IGN") == (1, b"")


def interrupted(person: Person, module: str, handler: str) -> tuple[int, bytes]:
    """How `status` ends when Ctrl-C comes as a module is about to be loaded."""
    command = [sys.executable, "-c", INTERRUPTED, module, handler]
    done = subprocess.run(command, env=person.env, capture_output=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
@pytest.mark.parametrize("arguments", [["status"], ["daemon", "logs"], ["sessions"]])
def test_a_home_that_is_closed_is_named(arguments: list[str], person: Person) -> None:
    person.run("daemon", "run", "--once")
    person.home.chmod(0)
    try:
        done = person.run(*arguments, "--json")
    finally:
        person.home.chmod(0o700)
    assert done.code in (1, 2)
    found = json.loads(done.err)["error"]
    assert "Permission denied" in found["message"]
    assert str(person.home) in found["message"]
    assert "unexpected" not in done.err
