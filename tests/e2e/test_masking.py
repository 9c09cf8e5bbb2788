"""Masking as a person meets it: the filter, the check, the report, newer rules, broken rules."""

from __future__ import annotations

import json
import os
import select
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from program import PROGRAM, Person

pytestmark = pytest.mark.timeout(120)

TOKEN = "glpat-" + "N0tReAl3ahovCJQX4bip"
OTHER = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"
KEY = (
    "-----BEGIN RSA PRIVATE KEY-----\n"
    + "MIIEowIBAAKCAQEAN0tReAl3N0tReAl3N0tReAl3N0tReAl3N0tReAl3N0tReAl3\n" * 12
    + "-----END RSA PRIVATE KEY-----\n"
)

OLDER = """
import sys
sys.path[:0] = {support!r}
import ultracontext.redaction.loading as loading
from ultracontext.redaction.rules import load_rules
rules = tuple(r for r in load_rules() if r.name not in ("gitlab-token", "github-token"))
loading.load_rules = lambda *_: rules
import ultracontext.redaction.opening as masking
masking._remember = lambda *_: None  # an older program has other files
from ultracontext.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def older(person: Person, *arguments: str) -> None:
    """Runs the program as it was before it knew two kinds of tokens."""
    done = subprocess.run(
        [sys.executable, "-c", OLDER.format(support=[]), *arguments], env=person.env,
        cwd=person.path, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def stored(person: Person) -> bytes:
    """Every byte of the store, blocks unpacked."""
    from ultracontext.store.sqlite.bodies import Bodies

    data = b"".join(p.read_bytes() for p in person.home.glob("store.db*"))
    bodies = Bodies("local")
    with sqlite3.connect(person.home / "store.db") as connection:
        for codec, packed in connection.execute("SELECT codec, data FROM blocks"):
            data += bodies.unpack(codec, packed, connection)
    return data


def filtered(person: Person, data: bytes, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*PROGRAM, "redact", *arguments], env=person.env, cwd=person.path, input=data,
        capture_output=True, timeout=60, check=False,
    )  # fmt: skip


def test_the_filter_masks_and_leaves_all_else(person: Person) -> None:
    before, after = b"caf\xc3\xa9 \xff\x00 line\r\n" * 40_000, b"no line end"
    text = before + f"token {TOKEN}\n{KEY}".encode() + before + after
    done = filtered(person, text)
    assert done.returncode == 0, done.stderr
    assert TOKEN.encode() not in done.stdout
    assert b"N0tReAl3N0tReAl3" not in done.stdout
    assert done.stdout.startswith(before + b"token [redacted:gitlab-token:")
    assert done.stdout.endswith(before + after)


@pytest.mark.parametrize("shift", [0, 7, 300, 900])
def test_the_filter_masks_a_key_wherever_a_piece_ends(person: Person, shift: int) -> None:
    line = b"x" * 63 + b"\n"
    text = line * (256 * 16 - 6) + b"y" * shift + b"\n" + KEY.encode() + line * 2000
    done = filtered(person, text * 3)
    assert done.stdout.count(b"[redacted:private-key") == 3
    assert b"N0tReAl3" not in done.stdout
    assert b"PRIVATE KEY" not in done.stdout


def test_the_filter_gives_what_came_when_nothing_comes(person: Person) -> None:
    process = subprocess.Popen(
        [*PROGRAM, "redact"], env=person.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"a {TOKEN}\n-----BEGIN RSA".encode())
    process.stdin.flush()
    assert select.select([process.stdout], [], [], 30)[0]
    assert os.read(process.stdout.fileno(), 1000).startswith(b"a [redacted:gitlab-token:")
    process.stdin.write(b" PRIVATE KEY-----\nMIIEowIBAAKCAQEAN0tReAl3N0tReAl3N0tReAl3\n")
    process.stdin.flush()
    assert not select.select([process.stdout], [], [], 1)[0]
    process.stdin.close()
    assert process.stdout.read().startswith(b"[redacted:private-key")
    process.stdout.close()
    assert process.wait() == 0


def test_the_filter_needs_little_memory(person: Person) -> None:
    program = (
        "import sys; from ultracontext.cli.main import run; code = run(['redact']);"
        "status = open('/proc/self/status').read();"  # ru_maxrss also counts the parent's, on fork
        "print(status.split('VmHWM:')[1].split()[0], file=sys.stderr)"
    )
    text = b"lorem ipsum dolor sit amet, consectetur adipiscing elit\n" * 400_000
    done = subprocess.run(
        [sys.executable, "-c", program], env=person.env, input=text, capture_output=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout == text
    assert int(done.stderr.split()[-1]) < 150_000


def test_a_check_names_finds_and_never_the_secret(person: Person) -> None:
    person.write("d/a.env", f"x=1\nGITLAB={TOKEN}\n")
    person.write("d/sub/key.pem", "text\n" + KEY)
    person.write("d/clean.txt", "nothing here\n")
    (person.path / "d/binary").write_bytes(b"\0" + TOKEN.encode())
    person.write("d/.git/config", TOKEN)
    (person.path / "d/link").symlink_to(person.path / "d/a.env")
    done = person.run("redact", "--check", "d", "--json")
    assert done.code == 1
    found = {(Path(f["file"]).name, f["line"], f["kind"]) for f in done.data["found"]}
    assert found == {("a.env", 2, "gitlab-token"), ("key.pem", 2, "private-key")}
    assert done.data["files"] == 3
    assert done.data["skipped"] == {"binary": 1, "git": 1, "link": 1}
    told = person.run("redact", "--check", "d")
    assert told.code == 1
    for text in (done.out, told.out, told.err):
        assert TOKEN not in text
        assert "N0tReAl3" not in text
    assert person.run("redact", "--check", "d/clean.txt").code == 0
    assert person.run("redact", "--check", "none").code == 1
    assert person.run("redact", "--check").code == 2
    assert person.run("redact", "--json", "d/a.env").code == 2


def test_secrets_names_sessions_and_files(person: Person) -> None:
    one = person.chat("a", text=f"use {TOKEN}")
    person.chat("b", text=f"use {TOKEN} and {OTHER}")
    person.chat("c", text="nothing")
    assert person.run("daemon", "run", "--once").code == 0
    done = person.run("secrets", "--json")
    assert TOKEN not in done.out
    assert OTHER not in done.out
    found = {s["kind"]: s for s in done.data["secrets"]}
    assert sorted(found) == ["github-token", "gitlab-token"]
    token = found["gitlab-token"]
    assert len(token["sessions"]) == 2
    assert token["still_there"] is True
    assert {Path(f["path"]).name for f in token["files"]} >= {one.name}
    assert [d[:8] for d in token["digests"]] == [token["fingerprint"]]
    assert token["first_at"].startswith("2026-11-30T10:00:00")
    one.unlink()
    again = {s["kind"]: s for s in person.run("secrets", "--json").data["secrets"]}
    assert {Path(f["path"]).name: f["there"] for f in again["gitlab-token"]["files"]}[
        one.name
    ] is False
    told = person.run("secrets")
    assert told.code == 0
    assert "gitlab-token" in told.out
    assert person.run("secrets", "--json", "--no-files").data["secrets"][0]["still_there"] is None


def test_r11_newer_rules_mask_what_older_ones_let_pass(person: Person) -> None:
    person.chat("a", text=f"use {TOKEN}", turns=8)
    person.chat("b", text="plain", turns=8)
    older(person, "daemon", "run", "--once")
    assert TOKEN.encode() in stored(person)
    for command in (("sessions",), ("sessions", "--json"), ("show", "0000")):
        assert TOKEN not in person.run(*command).out
    assert person.status()["redaction"]["behind"] == 32
    once = person.run("daemon", "run", "--once", "--json")
    assert once.data["events"] == 0
    assert TOKEN.encode() not in stored(person)
    assert person.status()["redaction"]["behind"] == 0
    assert person.run("secrets", "--json", "--no-files").data["secrets"][0]["kind"] == (
        "gitlab-token"
    )


def test_r11_a_daemon_masks_older_rows_beside_capture(
    person: Person, until: Callable[..., None]
) -> None:
    file = person.chat("a", text=f"use {TOKEN}", turns=50)
    older(person, "daemon", "run", "--once")
    person.daemon()
    person.chat("a", text="grows")
    until(lambda: person.status()["redaction"]["behind"] == 0)
    until(lambda: TOKEN.encode() not in stored(person))
    assert TOKEN in file.read_text()


@pytest.mark.timeout(120)
@pytest.mark.parametrize("step", ["before_commit", "after_commit"])
def test_killed_while_masking_again_it_goes_on(person: Person, step: str) -> None:
    for name in "abcd":
        person.chat(name, text=f"use {TOKEN} " + "words " * 900, turns=60)
    older(person, "daemon", "run", "--once")
    kills = 0
    for count in (3, 4, 5, 6, 7):
        done = person.run("daemon", "run", "--once", env={"ULTRACONTEXT_FAILPOINTS":
                                                          f"{step}=kill:{count}"})  # fmt: skip
        kills += done.code == -9
    assert kills
    assert person.run("daemon", "run", "--once").code == 0
    assert TOKEN.encode() not in stored(person)
    with sqlite3.connect(person.home / "store.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        recorded = connection.execute(
            "SELECT count(*), count(DISTINCT event_id) FROM remasks"
        ).fetchone()
        nodes = connection.execute("SELECT count(*) FROM nodes").fetchone()
    assert recorded == (480, 480)
    assert nodes == (480,)


BROKEN = """
import sys, pathlib
import ultracontext.redaction.loading as loading
from ultracontext.errors import RedactionError
mark, real = pathlib.Path({mark!r}), loading.load_rules
def load_rules(*arguments):
    if mark.exists():
        raise RedactionError("the redaction rules in ai.tsv do not load", hint="Install it again")
    return real(*arguments)
loading.load_rules = load_rules
from ultracontext.cli.main import run
sys.exit(run(sys.argv[1:]))
"""


def test_r15_rules_that_do_not_load_stop_capture_and_say_so(
    person: Person, until: Callable[..., None]
) -> None:
    person.chat("a", text=f"use {TOKEN}")
    mark = person.write("broken", "")
    program = [sys.executable, "-c", BROKEN.format(mark=str(mark))]
    once = subprocess.run(
        [*program, "daemon", "run", "--once"], env=person.env, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert once.returncode == 1
    assert once.stderr.count("\n") == 1
    assert "ai.tsv do not load" in once.stderr
    daemon = subprocess.Popen(
        [*program, "daemon", "run"], env=person.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    person.started.append(daemon)
    until(lambda: "uptime_seconds" in person.status()["daemon"], daemon)
    assert [p["code"] for p in person.status()["problems"]] == ["redaction"]
    assert not (person.home / "store.db").exists()
    mark.unlink()
    until(lambda: person.status()["capture"]["watcher"] != "off", daemon)
    until(lambda: len(person.sessions()) == 1, daemon)
    assert [p for p in person.status()["problems"] if p["code"] == "redaction"] == []


def test_masking_can_be_off_for_a_local_store_only(person: Person) -> None:
    person.chat("a", text=f"use {TOKEN}")
    assert person.run("config", "set", "redaction.enabled", "false").code == 0
    assert person.run("daemon", "run", "--once").code == 0
    assert TOKEN in person.run("show", "0000").out
    status = person.status()
    assert status["redaction"] == {"enabled": False, "rules": 0, "behind": None}
    assert "redaction-off" in [p["code"] for p in status["problems"]]
    audit = person.home / "state/audit.jsonl"
    assert audit.stat().st_mode & 0o777 == 0o600
    assert json.loads(audit.read_text())["action"] == "redaction-off"
    remote = {"ULTRACONTEXT_REMOTE": "https://example.com"}
    for command in (("daemon", "run", "--once"), ("sessions",)):
        refused = person.run(*command, env=remote)
        assert refused.code == 2
        assert "remote.url" in refused.err
    assert person.run("config", "set", "redaction.enabled", "true").code == 0
    assert TOKEN not in person.run("show", "0000").out
    assert person.run("daemon", "run", "--once").code == 0
    assert TOKEN.encode() not in stored(person)
    actions = [json.loads(line)["action"] for line in audit.read_text().splitlines()]
    assert actions == ["redaction-off", "redaction-on"]


def test_status_is_quick_where_much_is_behind(person: Person) -> None:
    person.chat("a", turns=200)
    older(person, "daemon", "run", "--once")
    begun = time.monotonic()
    assert person.status()["redaction"]["behind"] in (400, None)
    assert time.monotonic() - begun < 10


def test_the_key_goes_to_another_machine(person: Person) -> None:
    person.chat("a", text=f"use {TOKEN}")
    assert person.run("daemon", "run", "--once").code == 0
    mark = person.run("secrets", "--json", "--no-files").data["secrets"][0]["fingerprint"]
    assert person.run("config", "key", "export", "key").code == 0
    file = person.path / "key"
    assert file.stat().st_mode & 0o777 == 0o600
    assert person.run("config", "key", "export", "key").code == 3
    shown = person.run("config", "key", "export")
    assert shown.out == file.read_text()
    assert "password" in shown.err

    (person.home / "state/secret").unlink()
    lost = person.run("daemon", "run", "--once")
    assert lost.code == 1
    assert "another masking key" in lost.err
    assert person.run("config", "key", "import", "key").code == 0
    once = person.run("daemon", "run", "--once", "--json")
    assert once.data["events"] == 0
    person.chat("b", text=f"use {TOKEN}")
    assert person.run("daemon", "run", "--once").code == 0
    (only,) = person.run("secrets", "--json", "--no-files").data["secrets"]
    assert (only["fingerprint"], len(only["sessions"])) == (mark, 2)


def test_a_key_of_another_store_is_refused(person: Person) -> None:
    person.chat("a", text=f"use {TOKEN}", turns=3)
    assert person.run("daemon", "run", "--once").code == 0
    person.write("other", "ultracontext-key-1:" + "ab" * 32 + "\n")
    refused = person.run("config", "key", "import", "other")
    assert refused.code == 3
    person.write("bad", "ultracontext-key-1:xyz")
    assert person.run("config", "key", "import", "bad").code == 1
    assert person.run("config", "key", "import", "none").code == 1
    assert person.run("config", "key", "import", "other", "--yes").code == 0
    once = person.run("daemon", "run", "--once", "--json")
    assert once.data["events"] == 0
    person.chat("a", text=f"again {TOKEN}")
    assert person.run("daemon", "run", "--once", "--json").data["events"] == 2
    (one,) = person.sessions()
    assert one["messages"] == 8
    assert len(person.run("secrets", "--json", "--no-files").data["secrets"]) == 2
