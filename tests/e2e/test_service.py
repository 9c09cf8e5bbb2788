"""As a person uses it: doctor, service, setup, login, store, uninstall, settings that reload."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import socket
import sqlite3
import subprocess
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from program import PROGRAM, Person

pytestmark = pytest.mark.timeout(120)
Until = Callable[..., None]
KEY = "uc_" + "planted" * 4


@pytest.fixture
def odd(tmp_path: Path) -> Iterator[Person]:
    """A person whose home has a name that nobody quoted for."""
    made = Person(path=tmp_path / "é b & 50% 'x' \"y\"")
    made.path.mkdir()
    yield made
    made.run("daemon", "stop")
    made.end()


def findings(person: Person, *arguments: str) -> dict[str, str]:
    done = person.run("doctor", "--json", *arguments)
    found = json.loads(done.out)["findings"]
    assert all(
        set(one) == {"code", "level", "message", "repair", "fixable"}
        and one["level"] in ("error", "warning", "info")
        for one in found
    )
    assert done.code == (1 if any(one["level"] == "error" for one in found) else 0)
    return {one["code"]: one["level"] for one in found}


def test_doctor_on_a_bare_machine_repairs_and_tells(odd: Person) -> None:
    before = findings(odd)
    assert before["daemon-down"] == "warning"
    assert "error" not in before.values()
    assert not odd.home.exists()  # looking changes nothing
    after = findings(odd, "--fix")
    assert "daemon-down" not in after
    assert odd.status()["daemon"]["running"]


def test_doctor_closes_what_is_open_to_others(person: Person) -> None:
    person.chat("a", turns=1)
    assert person.run("daemon", "run", "--once").code == 0
    (person.home / "store.db").chmod(0o644)
    assert findings(person)["permissions"] == "warning"
    person.run("doctor", "--fix")
    assert (person.home / "store.db").stat().st_mode & 0o777 == 0o600
    person.run("daemon", "stop")


def test_doctor_names_broken_settings_and_a_program_of_our_name(person: Person) -> None:
    folder = person.path / "bin"
    folder.mkdir()
    (folder / "ultracontext").write_text("#!/bin/sh\n")
    (folder / "ultracontext").chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    done = person.run("doctor", "--json", env={"PATH": path})
    assert "path-clash" in {one["code"] for one in done.data["findings"]}
    person.home.mkdir(mode=0o700)
    (person.home / "config.toml").write_text("[capture]\nbakfill = 1\n")
    assert findings(person) == {"settings-broken": "error"}


def test_bundle_holds_no_text_and_no_secret(person: Person) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    person.chat("a", turns=2, text=f"planted-words {secret}")
    assert person.run("daemon", "run", "--once").code == 0
    person.run("config", "set", "capture.exclude", "/planted-words/**")
    line = {"event": "x", "path": "/planted-words", "note": secret, "code": "c"}
    with (person.home / "logs/daemon.log").open("a") as log:
        log.write(json.dumps(line) + "\n")
    file = person.path / "b.zip"
    done = person.run("doctor", "--bundle", str(file), env={"ULTRACONTEXT_API_KEY": KEY})
    assert file.stat().st_mode & 0o777 == 0o600, done.err
    with zipfile.ZipFile(file) as archive:
        text = "".join(archive.read(name).decode() for name in archive.namelist())
        assert set(archive.namelist()) == {
            "findings.json", "versions.json", "settings.json", "status.json", "log.jsonl",
        }  # fmt: skip
    for planted in (secret, "planted-words", KEY, str(person.path)):
        assert planted not in text
    assert '"event": "x"' in text
    assert person.run("doctor", "--bundle", str(file)).code == 3


def test_service_without_a_bus_in_a_home_of_an_odd_name(odd: Person) -> None:
    done = odd.run("service", "install", "--json")
    assert done.code == 0, done.err
    assert done.data["kind"] == "autostart"
    assert odd.run("service", "install", "--json").data["changed"] == []
    assert odd.run("service", "status", "--json").data["running"] is True
    odd.run("daemon", "stop")
    script = odd.home / "state/autostart.sh"
    subprocess.run(["/bin/sh", str(script)], env={"HOME": str(odd.path)}, timeout=60, check=True)
    assert odd.status()["daemon"]["running"]
    assert odd.run("service", "restart").code == 0
    assert odd.run("service", "uninstall").code == 0
    assert odd.run("service", "uninstall").code == 0
    assert not odd.status()["daemon"]["running"]


def test_setup_by_flags_writes_what_it_says(person: Person) -> None:
    done = person.run(
        "setup", "--yes", "--agents", "claude", "--backfill", "24h", "--keep", "year",
        "--no-service", "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    shown = person.run("config", "show", "--json").data
    assert shown["capture.agents"] == ["claude"]
    assert shown["capture.backfill"] == "24h"
    assert shown["retention.days"] == 365
    assert not (person.path / ".config/autostart").exists()


@pytest.mark.parametrize(
    "flags",
    [
        ("--agents", "nobody"),
        ("--backfill", "soon"),
        ("--keep", "long"),
        ("--remote", "nowhere"),
        ("--agents", "claude", "--since", "x", "--remote", "gopher://x"),
    ],
)
def test_setup_with_a_wrong_flag_writes_nothing(person: Person, flags: tuple[str, ...]) -> None:
    assert person.run("setup", "--yes", "--no-service", *flags).code == 2
    assert not person.home.exists()


def test_setup_elsewhere_than_on_a_terminal_names_the_flag(person: Person) -> None:
    done = person.run("setup")
    assert done.code == 2
    assert "--yes" in done.err
    assert not person.home.exists()


def answer(person: Person, answers: list[bytes]) -> tuple[int, bytes]:
    """`setup` on a terminal; each answer is given to the next question."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "setup", "--no-service"], env=person.env, cwd=person.path,
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(slave)
    seen, asked = b"", 0
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if not select.select([master], [], [], 0.2)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            got = os.read(master, 4096)
        except OSError:
            break
        if not got:
            break
        seen += got
        if seen.rstrip().endswith((b"?:", b"]:")) and asked < len(answers):
            os.write(master, answers[asked])
            asked += 1
            seen += b"\n"
    os.close(master)
    return process.wait(20), seen


def test_setup_asks_and_shows_before_it_writes(person: Person) -> None:
    code, seen = answer(person, [b"\n", b"\n", b"7d\n", b"90\n", b"\n", b"n\n", b"y\n"])
    assert code == 0, seen
    assert b"capture.backfill = '7d'" in seen
    assert b"Nothing leaves this machine" in seen
    text = (person.home / "config.toml").read_text()
    assert "7d" in text
    assert "90" in text


def test_setup_left_by_ctrl_c_or_no_leaves_nothing(person: Person) -> None:
    code, seen = answer(person, [b"\n", b"\n", b"7d\n", b"\x03"])
    assert code == 130, seen
    assert not (person.home / "config.toml").exists()
    code, _ = answer(person, [b"\n", b"\n", b"7d\n", b"90\n", b"\n", b"n\n", b"n\n"])
    assert code == 1
    assert not (person.home / "config.toml").exists()


def test_a_daemon_ends_with_the_terminal_that_it_runs_on(person: Person, until: Until) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [*PROGRAM, "daemon", "run"], env=person.env, cwd=person.path,
        stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(slave)
    person.started.append(process)
    until(lambda: "uptime_seconds" in person.status()["daemon"], process)
    os.close(master)
    assert process.wait(20) == 0


def test_login_keeps_the_key_to_itself(person: Person) -> None:
    assert person.run("login").code == 2
    person.run("config", "set", "remote.url", "https://team.example")
    done = subprocess.run(
        [*PROGRAM, "login"], env=person.env, input=KEY.encode() + b"\n",
        capture_output=True, timeout=60, check=True,
    )  # fmt: skip
    assert KEY.encode() not in done.stdout + done.stderr
    kept = [path for path in person.home.rglob("*") if path.is_file() and KEY in _text(path)]
    assert [path.name for path in kept] == ["keys.json"]
    assert kept[0].stat().st_mode & 0o777 == 0o600
    assert person.run("logout").code == 0
    assert not kept[0].exists()
    assert "No key" in person.run("logout").err
    assert person.run("login", "a-key").code == 2  # never an argument


def _text(path: Path) -> str:
    return path.read_bytes().decode("latin-1")


def test_store_backup_restore_and_check(person: Person) -> None:
    person.chat("a", turns=3)
    process = person.daemon()
    person.run("daemon", "status")
    copy = person.path / "copy of it.db"
    deadline = time.monotonic() + 20
    while not person.sessions() and time.monotonic() < deadline:
        time.sleep(0.1)
    done = person.run("store", "backup", str(copy), "--json")
    assert done.code == 0, done.err
    assert copy.stat().st_mode & 0o777 == 0o600
    assert person.run("store", "backup", str(copy)).code == 3
    refused = person.run("store", "restore", str(copy), "--yes")
    assert refused.code == 3
    assert "daemon stop" in refused.err
    process.send_signal(signal.SIGTERM)
    process.wait(10)
    before = person.sessions()
    person.chat("b", turns=2)
    assert person.run("daemon", "run", "--once").code == 0
    assert len(person.sessions()) == 2
    assert person.run("store", "restore", str(copy), "--yes").code == 0
    assert person.sessions() == before
    assert person.run("store", "check", "--json").data["sound"] is True
    assert person.run("daemon", "run", "--once").code == 0
    assert len(person.sessions()) == 2  # what the copy lacks is captured again


def test_a_damaged_or_foreign_backup_is_refused(person: Person) -> None:
    person.chat("a", turns=3)
    assert person.run("daemon", "run", "--once").code == 0
    before = person.sessions()
    other = person.path / "other.db"
    with sqlite3.connect(other) as database:
        database.execute("CREATE TABLE t (x)")
    torn = person.path / "torn.db"
    torn.write_bytes((person.home / "store.db").read_bytes()[:9000])
    for file in (other, torn, person.path / "none.db"):
        assert person.run("store", "restore", str(file), "--yes").code == 1
    assert person.sessions() == before


def test_uninstall_lists_what_goes_and_what_stays(odd: Person) -> None:
    odd.chat("a", turns=1)
    assert odd.run("setup", "--link").code == 0
    assert odd.run("service", "install").code == 0
    assert odd.run("uninstall").code == 3
    done = odd.run("uninstall", "--yes", "--json")
    assert done.code == 0, done.err
    assert str(odd.path / ".local/bin/uc") in done.data["removed"]
    assert str(odd.home) in done.data["stays"]
    assert (odd.home / "store.db").exists()
    (odd.home / "my own file").write_text("x")
    purged = odd.run("uninstall", "--purge", "--yes", "--json")
    assert purged.code == 0, purged.err
    assert [path.name for path in odd.home.iterdir()] == ["my own file"]
    (odd.home / "my own file").unlink()
    assert str(odd.home) in odd.run("uninstall", "--purge", "--yes", "--json").data["removed"]
    assert not odd.home.exists()
    assert not list((odd.path / ".local/bin").iterdir())


def test_setup_registers_mcp_and_uninstall_takes_it_out(person: Person) -> None:
    settings = person.path / ".gemini" / "settings.json"
    settings.parent.mkdir()
    before = '{"theme": "dark"}\n'
    settings.write_text(before)
    done = person.run("setup", "--yes", "--no-service", "--mcp", "--json")
    assert done.code == 0, done.err
    assert any("gemini: added" in note for note in done.data["notes"])
    assert json.loads(settings.read_text())["mcpServers"]["ultracontext"]["args"][-1] == "mcp"
    assert person.run("skills", "install").code == 0
    removed = person.run("uninstall", "--yes", "--json").data["removed"]
    assert any(str(settings) in name for name in removed)
    assert settings.read_text() == before
    assert not list(person.path.rglob("SKILL.md"))


def test_changed_settings_are_taken_and_broken_ones_are_not(person: Person, until: Until) -> None:
    process = person.daemon()
    person.run("config", "set", "capture.exclude", "/w/secret")
    log = person.home / "logs/daemon.log"
    until(lambda: "settings-taken" in log.read_text(), process, seconds=30)
    until(lambda: "uptime_seconds" in person.status()["daemon"], process, seconds=30)
    assert person.status()["daemon"]["pid"] == process.pid
    (person.home / "config.toml").write_text("[capture]\nbakfill = 1\n")
    process.send_signal(signal.SIGHUP)
    until(lambda: "settings-refused" in log.read_text(), process, seconds=30)
    person.chat("late", turns=1)
    (person.home / "config.toml").write_text("")
    process.send_signal(signal.SIGHUP)
    until(lambda: log.read_text().count("settings-taken") == 2, process, seconds=30)
    until(lambda: len(person.sessions()) == 1, process, seconds=30)
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert process.wait(10) == 0
    assert time.monotonic() - begun < 3


def test_a_service_manager_hears_that_it_lives(person: Person) -> None:
    path = str(person.path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(path)
        manager.settimeout(60)
        process = person.start(
            "daemon", "run", env={"NOTIFY_SOCKET": path, "WATCHDOG_USEC": "1000000"}
        )
        words = [manager.recv(1000).split(b"\n")[0] for _ in range(4)]
        assert words[0] == b"READY=1"
        assert words[1:] == [b"WATCHDOG=1"] * 3
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 0
        last = b""
        while last != b"STOPPING=1":
            last = manager.recv(1000)
