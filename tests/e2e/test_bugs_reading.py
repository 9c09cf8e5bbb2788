"""Public bug reports about reading session files (`bugs.md`, sections 1 and 8), and their kin.

Each is checked from outside: files that an agent could have written, then the command line. What
can be captured in one run is written first and captured once (`gallery`).
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from blackbox import Home, kill
from talks import (
    Talk,
    at,
    claude_id,
    claw_records,
    codex_turn,
    gemini,
    line,
    natives,
    openclaw,
    rollout,
    said,
)

pytestmark = pytest.mark.timeout(120)

WRITERS: list[Callable[[Home], None]] = []


def in_gallery(write: Callable[[Home], None]) -> Callable[[Home], None]:
    """Writes its files before the one run."""
    WRITERS.append(write)
    return write


SHOWS = """
import io, json, sys
from ultracontext.cli.main import run
commands, out = json.load(sys.stdin), sys.stdout
for command in commands:
    sys.stdout = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    code = run([*command, "--json"])
    sys.stdout.flush()
    out.write(sys.stdout.buffer.getvalue().decode() if code == 0 else "null\\n")
"""


class Gallery(Home):
    """A home that was captured once."""

    summary: dict[str, Any]
    stats: dict[Path, tuple[os.stat_result, os.stat_result]]
    """Of the agents' files, before and after."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.answers: dict[tuple[str, ...], Any] = {}

    def json(self, *args: str) -> Any:
        """What the command line says, asked for all sessions at once."""
        if args not in self.answers:
            self.answers[args] = super().json(*args)
        return self.answers[args]

    def ask(self) -> None:
        """Shows every session, all in one process, to save its start."""
        listed = super().json("sessions", "--all")
        shows = [("show", s["session_id"], *more) for s in listed for more in ((), ("--raw",))]
        done = subprocess.run(
            [sys.executable, "-c", SHOWS], env=self.env, cwd=self.folder, check=True,
            input=json.dumps(shows).encode(), stdout=subprocess.PIPE,
        )  # fmt: skip
        answers = [json.loads(row) for row in done.stdout.splitlines()]
        self.answers = dict(zip(shows, answers, strict=True)) | {("sessions", "--all"): listed}

    def errors(self, session: str) -> list[tuple[str, int]]:
        """(code, position) of what could not be read of a session's file."""
        found = [e for e in self.summary["errors"] if session in e["path"]]
        return [(error["code"], error["position"]) for error in found]


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    home = Gallery(tmp_path_factory.mktemp("gallery"))
    for write in WRITERS:
        write(home)
    files = [p for p in home.folder.rglob("*") if p.is_file() and home.uc not in p.parents]
    before = {path: path.stat() for path in files}
    home.summary = home.once()
    home.stats = {path: (before[path], path.stat()) for path in files}
    home.ask()
    return home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


# P01: half an emoji
HALF, OTHER_HALF = "\ud83d", "\ude00"
HALVES: dict[str, Callable[[Talk], dict[str, Any]]] = {
    "end of a result": lambda t: t.result("t1", "ls: " + HALF),
    "begin of a result": lambda t: t.result("t1", OTHER_HALF + "ls"),
    "alone in a block": lambda t: t.result("t1", [{"type": "text", "text": HALF}]),
    "key": lambda t: t.result("t1", "x", toolUseResult={f"a{HALF}": {OTHER_HALF: 1}}),
    "prompt": lambda t: t.prompt(f"why {HALF} now"),
    "answer": lambda t: t.answer(f"because {OTHER_HALF}"),
    "halves the wrong way round": lambda t: t.prompt(OTHER_HALF + HALF),
    "cwd": lambda t: t.prompt("x", cwd=f"/w/{HALF}"),
    "branch and version": lambda t: t.prompt("x", gitBranch=HALF, version=HALF),
    "uuid": lambda t: t.prompt("x", uuid=f"u{HALF}"),
    "unknown field and kind": lambda t: t.record(f"k{HALF}", None, extra=[{HALF: [HALF]}]),
}


@in_gallery
def _halves(home: Home) -> None:
    for number, make in enumerate(HALVES.values(), start=100):
        talk = Talk(home, number)
        talk.write(talk.prompt("begin"), talk.call("t1", command="ls"), make(talk))
        talk.write(talk.answer("done"), talk.prompt("and on"))


@pytest.mark.parametrize("where", HALVES)
def test_p01_half_an_emoji_is_read_and_kept(gallery: Gallery, where: str) -> None:
    session = claude_id(100 + list(HALVES).index(where))
    texts = said(gallery, session, "user", "assistant")
    assert texts[0] == "begin"
    assert texts[-2:] == ["done", "and on"]
    file = gallery.claude / f"projects/-w-app/{session}.jsonl"
    assert natives(gallery, session) == [
        json.loads(row) for row in file.read_text().split("\n")[:-1]
    ]
    assert gallery.errors(session) == []


def test_p01_half_an_emoji_is_printed_as_utf8(gallery: Gallery) -> None:
    listed = gallery.run("sessions", "--all")
    assert listed.returncode == 0, listed.stderr
    for number in range(100, 100 + len(HALVES)):
        for form in ("text", "markdown"):
            shown = gallery.run("show", claude_id(number), "--format", form)
            assert shown.returncode == 0, shown.stderr
        break
    assert gallery.run("show", claude_id(104)).returncode == 0


@in_gallery
def _halves_of_others(home: Home) -> None:
    rollout(home, 101, codex_turn(1, f"a{HALF}", f"{OTHER_HALF}b"))
    openclaw(home, "claw0101.jsonl", claw_records("claw0101", f"a{HALF}", f"{OTHER_HALF}b"))
    turns = [("user", f"a{HALF}"), ("gemini", f"{OTHER_HALF}b")]
    messages = [
        {"id": f"g{n}", "timestamp": at(n), "type": kind, "content": text}
        for n, (kind, text) in enumerate(turns)
    ]
    whole = {"sessionId": "gem-half", "startTime": at(0), "messages": messages}
    gemini(home, "session-2026-11-30T10-00-gemhalf.json", json.dumps(whole, indent=2).encode())
    head = {"sessionId": "gem-half-lines", "startTime": at(0), "kind": "main"}
    lines = b"".join(map(line, [head, *messages]))
    gemini(home, "session-2026-11-30T10-00-gemhalfl.jsonl", lines)


@in_gallery
def _halves_in_a_database(home: Home) -> None:
    heads = [{"bubbleId": f"b{kind}", "type": kind} for kind in (1, 2)]
    rows = {
        "composerData:cursor-half": {
            "composerId": "cursor-half", "fullConversationHeadersOnly": heads,
        },
        "bubbleId:cursor-half:b1": {"_v": 3, "type": 1, "bubbleId": "b1", "text": f"a{HALF}"},
        "bubbleId:cursor-half:b2": {"_v": 3, "type": 2, "bubbleId": "b2", "text": f"{OTHER_HALF}b"},
    }  # fmt: skip
    path = home.folder / ".config/Cursor/User/globalStorage/state.vscdb"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as database:
        for table in ("ItemTable", "cursorDiskKV"):
            database.execute(f"CREATE TABLE {table} (key TEXT UNIQUE, value BLOB)")
        cells = [(key, json.dumps(value)) for key, value in rows.items()]
        database.executemany("INSERT INTO cursorDiskKV VALUES (?, ?)", cells)
        database.commit()


@pytest.mark.parametrize(
    "session",
    [
        "0c0dec00-0000-7000-8000-000000000101",
        "claw0101",
        "gem-half",
        "gem-half-lines",
        "cursor-half",
    ],
)
def test_p01_half_an_emoji_in_the_files_of_other_agents(gallery: Gallery, session: str) -> None:
    assert said(gallery, session) == [f"a{HALF}", f"{OTHER_HALF}b"]


# P03: NUL blocks
NUL = b"\0" * 512
NULS: dict[str, Callable[[list[bytes]], bytes]] = {
    "a line in the middle": lambda s: b"".join([*s[:3], NUL, b"\n", *s[3:]]),
    "before a record": lambda s: b"".join([*s[:3], NUL, *s[3:]]),
    "after a record": lambda s: b"".join([*s[:2], s[2][:-1], NUL, b"\n", *s[3:]]),
    "a line at the begin": lambda s: b"".join([NUL, b"\n", *s]),
    "at the begin": lambda s: b"".join([NUL, *s]),
    "a line at the end": lambda s: b"".join([*s, NUL, b"\n"]),
    "at the end": lambda s: b"".join([*s, NUL]),
    "several": lambda s: b"".join([NUL, *s[:3], NUL, b"\n", NUL, *s[3:], NUL, b"\n"]),
    "between two records of one line": lambda s: b"".join([*s[:2], s[2][:-1], NUL, *s[3:]]),
    "a page": lambda s: b"".join([*s[:3], b"\0" * 65536, *s[3:]]),
}


@in_gallery
def _nuls(home: Home) -> None:
    for number, join in enumerate(NULS.values(), start=300):
        talk = Talk(home, number)
        talk.write(join([line(record) for record in talk.turns(6)]))


@pytest.mark.parametrize("where", NULS)
def test_p03_a_block_of_zero_bytes_ends_nothing(gallery: Gallery, where: str) -> None:
    session = claude_id(300 + list(NULS).index(where))
    assert said(gallery, session) == [f"text {n}" for n in range(1, 7)]
    errors = gallery.errors(session)
    data = (gallery.claude / f"projects/-w-app/{session}.jsonl").read_bytes()
    waits = where == "at the end"  # no line yet
    assert bool(errors) is not waits
    for code, position in errors:
        start = data.rfind(b"\n", 0, position) + 1
        assert code == "damaged"
        assert b"\0" in data[start : data.find(b"\n", position)]


# P04: records fused on one line
def _cut(record: dict[str, Any], upto: float = 0.5) -> bytes:
    data = json.dumps(record).encode()
    return data[: int(len(data) * upto)]


def _fusions(talk: Talk) -> dict[str, tuple[list[bytes], list[str]]]:
    """What stands on a line between "first" and "last" → the texts that are saved of it."""
    inner = {"type": "user", "uuid": "inner", "message": {"role": "user", "content": "inner"}}
    held = json.dumps(talk.prompt("cut", toolUseResult=inner)).encode()
    cut, whole = _cut(talk.prompt("cut")), json.dumps(talk.prompt("whole")).encode()
    one, two = (json.dumps(talk.prompt(text)).encode() for text in ("one", "two"))
    return {
        "the report's": ([b'{"type":"pr-link","prNu', whole], ["whole"]),
        "cut in a string": ([_cut(talk.prompt("y" * 400), 0.6), whole], ["whole"]),
        "cut after a backslash": ([b'{"type":"user","a":"x\\', whole], ["whole"]),
        "cut in an escape": ([b'{"type":"user","a":"\\ud8', whole], ["whole"]),
        "cut in a character": ([b'{"type":"user","a":"\xc3', whole], ["whole"]),
        "one brace": ([b"{", whole], ["whole"]),
        "two whole ones": ([one, two], ["one", "two"]),
        "three": ([cut, one, two], ["one", "two"]),
        "two cut ones": ([cut, cut, whole], ["whole"]),
        "nothing after": ([cut], []),
        "a value that looks like a record": ([held[:-40]], []),
        "cut inside, and a next one": (
            [json.dumps({"type": "user", "toolUseResult": inner, "x": "y"}).encode()[:-3], whole],
            ["whole"],
        ),
        "words before": ([b"Killed ", whole], ["whole"]),
    }


FUSIONS = [
    "the report's", "cut in a string", "cut after a backslash", "cut in an escape",
    "cut in a character", "one brace", "two whole ones", "three", "two cut ones", "nothing after",
    "a value that looks like a record", "cut inside, and a next one", "words before",
]  # fmt: skip


@in_gallery
def _fused(home: Home) -> None:
    for number, name in enumerate(FUSIONS, start=400):
        talk = Talk(home, number)
        fused = b"".join(_fusions(talk)[name][0]) + b"\n"
        talk.write(talk.prompt("first"), fused, talk.prompt("last"))


@pytest.mark.parametrize("name", FUSIONS)
def test_p04_records_fused_on_one_line_are_told_apart(gallery: Gallery, name: str) -> None:
    number = 400 + FUSIONS.index(name)
    _, saved = _fusions(Talk(gallery, number))[name]
    assert said(gallery, claude_id(number)) == ["first", *saved, "last"]
    if name != "two whole ones":
        assert gallery.errors(claude_id(number))
        assert any(isinstance(native, str) for native in natives(gallery, claude_id(number)))


@in_gallery
def _damaged_of_others(home: Home) -> None:
    turns = [r for n in (1, 2, 3) for r in codex_turn(n, f"ask {n}", f"say {n}")]
    texts = [f"{word} {n}" for n in (1, 2, 3) for word in ("ask", "say")]
    gemini_records: list[dict[str, Any]] = [
        {"id": f"g{n}{kind}", "timestamp": at(n), "type": kind, "content": text}
        for n in (1, 2, 3)
        for kind, text in (("user", f"ask {n}"), ("gemini", f"say {n}"))
    ]
    head = {"sessionId": "gem-damaged", "startTime": at(0), "kind": "main"}
    damaged = _damaged([head, *gemini_records], 3)
    gemini(home, "session-2026-11-30T10-00-gemdamag.jsonl", damaged)
    session = rollout(home, 300, turns)
    [path] = home.codex.rglob(f"*{session}.jsonl")
    head = json.loads(path.read_bytes().split(b"\n")[0])
    path.write_bytes(_damaged([head, *turns], 5))
    openclaw(home, "claw0300.jsonl", []).write_bytes(_damaged(claw_records("claw0300", *texts), 3))


def _damaged(records: list[dict[str, Any]], place: int) -> bytes:
    """A block of zero bytes, and half a record that the next one is fused with."""
    rows = [line(record) for record in records]
    half = _cut({**records[place], "id": "half", "uuid": "half"})
    return b"".join([*rows[:place], NUL, b"\n", half, *rows[place:]])


@pytest.mark.parametrize(
    "session", ["gem-damaged", "claw0300", "0c0dec00-0000-7000-8000-000000000300"]
)
def test_p03_p04_damage_in_the_files_of_other_agents(gallery: Gallery, session: str) -> None:
    wanted = [text for n in (1, 2, 3) for text in (f"ask {n}", f"say {n}")]
    assert said(gallery, session, "user", "assistant") == wanted


# P05: a tail without its end
TAILS: dict[str, tuple[bytes, bytes, list[str]]] = {
    "torn, then the next": (b'{"a":1,"t":"tor', b"NEXT", ["next"]),
    "whole, then its end": (b"NEXT", b"\n", ["next"]),
    "whole, then the next": (b"NEXT", b"NEXT2", ["next", "second"]),
    "torn, then its rest": (b"NEXT[:90]", b"NEXT[90:]", ["next"]),
    "torn, then its end": (b'{"a":1,"t":"tor', b"\nNEXT", ["next"]),
}


def test_p05_a_tail_waits_for_its_end(home: Home) -> None:
    talks = [Talk(home, 510 + number) for number in range(len(TAILS))]
    ends: list[bytes] = []
    for talk, (tail, end, _) in zip(talks, TAILS.values(), strict=True):
        begin = talk.turns(2)
        following = [line(talk.prompt(text))[:-1] for text in ("next", "second")]
        talk.write(*begin, _filled(tail, following))
        ends.append(_filled(end, following).rstrip(b"\n") + b"\n")
    assert home.once()["events"] == 2 * len(TAILS)
    assert home.once()["events"] == 0
    for talk, end in zip(talks, ends, strict=True):
        talk.write(end)
    home.once()
    for talk, (name, (_, _, texts)) in zip(talks, TAILS.items(), strict=True):
        assert said(home, talk.session) == ["text 1", "text 2", *texts], name
    assert home.once()["events"] == 0


def _filled(text: bytes, following: list[bytes]) -> bytes:
    for sign, data in (
        (b"NEXT[:90]", following[0][:90]), (b"NEXT[90:]", following[0][90:]),
        (b"NEXT2", following[1]), (b"NEXT", following[0]),
    ):  # fmt: skip
        text = text.replace(sign, data)
    return text


def test_p05_a_live_daemon_waits_for_the_end_of_a_tail(home: Home) -> None:
    talk = Talk(home, 501)
    talk.write(*talk.turns(2), b'{"a":1,"t":"tor')
    with running(home):
        until(lambda: home.node_count() == 2)
        time.sleep(0.6)
        assert home.node_count() == 2
        talk.write(talk.prompt("next"))
        until(lambda: home.node_count() == 4)
    assert said(home, talk.session) == ["text 1", "text 2", "next"]


# P07: line ends that are none
SIGNS = {
    "U+2028": "\u2028", "U+2029": "\u2029", "U+0085": "\u0085", "form feed": "\f",
    "vertical tab": "\v", "separators": "\x1c\x1d\x1e", "carriage return": "\r", "tab": "\t",
    "a byte order mark": "\ufeff", "all": "\u2028\u2029\u0085\f\r",
}  # fmt: skip


@in_gallery
def _signs(home: Home) -> None:
    for number, sign in enumerate(SIGNS.values(), start=700):
        talk = Talk(home, number)
        raw = json.dumps(talk.prompt("a@b"), ensure_ascii=False).replace("a@b", f"a{sign}b")
        talk.write(talk.prompt("first"), raw.encode() + b"\n", talk.prompt("last"))


@pytest.mark.parametrize("name", SIGNS)
def test_p07_lines_end_at_lf_only(gallery: Gallery, name: str) -> None:
    number = 700 + list(SIGNS).index(name)
    texts = said(gallery, claude_id(number))
    assert texts == ["first", f"a{SIGNS[name]}b", "last"]
    assert len(natives(gallery, claude_id(number))) == 3


# P08: lines longer than a chunk
@pytest.mark.parametrize("mebibytes", [5, 12, pytest.param(40, marks=pytest.mark.full)])
def test_p08_a_line_longer_than_a_chunk_is_read(home: Home, mebibytes: int) -> None:
    talk = Talk(home, 800)
    talk.write(talk.prompt("first"), talk.prompt("x " * (mebibytes << 19)), b'{"a":1234}\n')
    talk.write(talk.prompt("last"))
    assert home.once()["events"] == 4
    texts = said(home, talk.session)
    assert [len(text) for text in texts] == [5, mebibytes << 20, 4]
    assert {"a": 1234} in natives(home, talk.session)


@pytest.mark.full
@pytest.mark.parametrize("ends", [True, False])
def test_p08_above_a_limit_a_stub_stands_for_the_line(home: Home, ends: bool) -> None:
    from hashlib import sha256

    talk = Talk(home, 801)
    big = line(talk.prompt("x " * (35 << 20)))
    talk.write(talk.prompt("first"), big if ends else big[:-1])
    if ends:
        talk.write(talk.prompt("next"))
    summary, peak = _measured(home)
    assert summary["events"] == (3 if ends else 1)
    assert peak < 150 << 20
    assert said(home, talk.session, "user") == (["first", "next"] if ends else ["first"])
    if ends:
        assert [e["code"] for e in summary["errors"]] == ["too-large"]
        records = home.json("show", talk.session, "--raw")["records"]
        digest = sha256(big[:-1]).hexdigest()
        assert [r["too_large"] for r in records if "too_large" in r] == [[len(big) - 1, digest]]


# P09: long sessions
def _measured(home: Home) -> tuple[dict[str, Any], int]:
    """A single run and the most memory that it held, in bytes."""
    answer = home.folder / "summary.json"
    peak = 0
    with answer.open("wb") as out, subprocess.Popen(
        home.command("daemon", "run", "--once", "--json"), env=home.env, cwd=home.folder,
        stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        while process.poll() is None:
            status = Path(f"/proc/{process.pid}/status").read_text()
            held = [row.split()[1] for row in status.splitlines() if row.startswith("VmHWM")]
            peak = max(peak, *(int(kilobytes) << 10 for kilobytes in held), 0)
            time.sleep(0.05)
    assert process.returncode == 0
    summary: dict[str, Any] = json.loads(answer.read_bytes())
    return summary, peak


@pytest.mark.parametrize(
    "megabytes",
    [
        6,
        pytest.param(60, marks=pytest.mark.full),
        pytest.param(600, marks=[pytest.mark.long, pytest.mark.timeout(1200)]),
    ],
)
def test_p09_a_long_session_streams(home: Home, megabytes: int) -> None:
    talk = Talk(home, 900)
    filler = "the quick brown fox " * 980
    lines = megabytes * 50
    with talk.path.open("ab") as out:
        for number in range(lines):
            said = f"{number} {filler}"
            out.write(line(talk.answer(said) if number % 2 else talk.prompt(said)))
    summary, peak = _measured(home)
    assert summary["events"] == lines
    assert peak < 200 << 20
    [listed] = home.json("sessions")
    assert listed["messages"] == lines


# P11: appends to a long file
@pytest.mark.parametrize("megabytes", [4, pytest.param(40, marks=pytest.mark.full)])
def test_p11_each_append_brings_one_event(home: Home, megabytes: int) -> None:
    talk = Talk(home, 1100)
    filler = "x" * 40_000
    talk.write(b"".join(line(talk.prompt(f"{n} {filler}")) for n in range(megabytes * 25)))
    assert home.once()["events"] == megabytes * 25
    for number in range(3):
        talk.write(talk.prompt(f"more {number}"))
        found = home.once()
        assert (found["events"], found["duplicates"]) == (1, 0)


# P12: a change that leaves size and times as they were
def _rewrite(path: Path, old: bytes, new: bytes, how: str) -> None:
    """Exchanges a word by one of equal length and restores the times."""
    assert len(old) == len(new)
    before, data = path.stat(), path.read_bytes()
    assert data.count(old) == 1
    if how == "in place":
        with path.open("r+b") as out:
            out.seek(data.index(old))
            out.write(new)
    elif how == "rewritten":
        path.write_bytes(data.replace(old, new))
    else:
        other = path.with_suffix(".tmp")
        other.write_bytes(data.replace(old, new))
        other.replace(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_p12_a_change_in_place_is_found(home: Home) -> None:
    edits = [(how, n) for how in ("in place", "rewritten", "replaced") for n in (1, 3, 6)]
    talks = [Talk(home, 1210 + number) for number in range(len(edits))]
    for talk in talks:
        talk.write(*talk.turns(6, "apple"))
    home.once()
    for talk, (how, n) in zip(talks, edits, strict=True):
        _rewrite(talk.path, f"apple {n}".encode(), f"grape {n}".encode(), how)
    home.once()
    for talk, (how, n) in zip(talks, edits, strict=True):
        shown = home.json("show", talk.session, "--history")
        texts = [m["text"] for m in shown["messages"]]
        assert texts == [f"{'grape' if m == n else 'apple'} {m}" for m in range(1, 7)], how
        assert f"apple {n}" in json.dumps(shown["history"])
        assert [made["cause"] for made in shown["versions"]] == [None, "edit"]
        before = home.json("show", talk.session, "--version", "0")["messages"]
        assert [m["text"] for m in before] == [f"apple {m}" for m in range(1, 7)]
    assert home.once()["events"] == 0


def test_p12_a_change_far_before_the_end_is_found(home: Home) -> None:
    talk = Talk(home, 1201)
    filler = "y" * 4000
    talk.write(talk.prompt("apple first"), *talk.turns(800, filler))
    home.once()
    _rewrite(talk.path, b"apple first", b"grape first", "in place")
    talk.write(talk.prompt("appended meanwhile"))
    home.once()
    texts = said(home, talk.session)
    assert (texts[0], texts[-1], len(texts)) == ("grape first", "appended meanwhile", 802)


def test_p12_a_document_changed_in_place_is_found(home: Home) -> None:
    messages = [
        {"id": f"g{n}", "timestamp": at(n), "type": "user", "content": f"apple {n}"}
        for n in range(1, 5)
    ]
    whole = {"sessionId": "gem-edit", "startTime": at(0), "messages": messages}
    path = gemini(home, "session-2026-11-30T10-00-gemedit.json", json.dumps(whole).encode())
    home.once()
    _rewrite(path, b"apple 3", b"grape 3", "rewritten")
    home.once()
    assert said(home, "gem-edit") == ["apple 1", "apple 2", "grape 3", "apple 4"]


def test_p12_a_live_daemon_finds_a_change_in_place(home: Home) -> None:
    talk = Talk(home, 1202)
    talk.write(*talk.turns(6, "apple"))
    with running(home):
        until(lambda: home.node_count() == 6)
        _rewrite(talk.path, b"apple 3", b"grape 3", "in place")
        until(lambda: said(home, talk.session)[2] == "grape 3")


# P14: archived names
@pytest.mark.parametrize(
    "archived",
    [
        "{}.jsonl.reset.2026-11-30T14-08-15.746Z",
        "{}.jsonl.deleted.2026-11-30T14-08-15.746Z",
        "{}.jsonl.bak-1796047204253",
    ],
)
def test_p14_an_archived_name_is_the_same_session(home: Home, archived: str) -> None:
    old, new = "0a1dc1a3-0000-4000-8000-000000000001", "0b1dc1a3-0000-4000-8000-000000000002"
    path = openclaw(home, f"{old}.jsonl", claw_records(old, "one", "two"))
    index = path.with_name("sessions.json")
    index.write_text(json.dumps({"agent:main:main": {"sessionId": old, "updatedAt": 1}}))
    home.once()
    path.rename(path.with_name(archived.format(old)))
    openclaw(home, f"{new}.jsonl", claw_records(new, "three", "four", start=100))
    index.write_text(json.dumps({"agent:main:main": {"sessionId": new, "updatedAt": 2}}))
    assert home.once()["events"] == 3
    listed = {s["session_id"]: s for s in home.json("sessions", "--all")}
    assert listed.keys() == {old, new}
    assert listed[new]["parent_session"] == old
    assert said(home, old) == ["one", "two"]


def test_p14_a_moved_or_packed_rollout_is_the_same_session(home: Home) -> None:
    import zstandard

    session = rollout(home, 1400, codex_turn(1, "one", "two"))
    first = home.once()["events"]
    [path] = home.codex.rglob("rollout-*.jsonl")
    moved = home.codex / "archived_sessions" / path.name
    moved.parent.mkdir()
    path.rename(moved)
    assert home.once()["events"] == 0
    moved.with_suffix(".jsonl.zst").write_bytes(zstandard.compress(moved.read_bytes()))
    moved.unlink()
    assert home.once()["events"] == 0
    assert said(home, session) == ["one", "two"]
    assert first > 0


# P16: header and file name differ
@in_gallery
def _headers(home: Home) -> None:
    named = "aaaa1600-0000-4000-8000-000000000001"
    openclaw(home, "bbbb1600-0000-4000-8000-000000000002.jsonl", claw_records(named, "one", "two"))
    session = rollout(home, 1600, codex_turn(1, "one", "two"))
    [path] = home.codex.rglob(f"*{session}.jsonl")
    path.rename(path.with_name(path.name.replace(session, session[:-4] + "9999")))
    whole = {"sessionId": "gem-header", "startTime": at(0), "kind": "main"}
    turn = {"id": "g1", "timestamp": at(1), "type": "user", "content": "one"}
    gemini(home, "session-2026-11-30T10-00-otherone.jsonl", line(whole) + line(turn))


@pytest.mark.parametrize(
    ("session", "agent"),
    [
        ("aaaa1600-0000-4000-8000-000000000001", "openclaw"),
        ("0c0dec00-0000-7000-8000-000000001600", "codex"),
        ("gem-header", "gemini"),
    ],
)
def test_p16_the_header_names_the_session(gallery: Gallery, session: str, agent: str) -> None:
    listed = [s["session_id"] for s in gallery.json("sessions", "--all", "--agent", agent)]
    assert listed.count(session) == 1
    assert not [name for name in listed if name.startswith(("bbbb1600", "session-"))]
    assert not [name for name in listed if name.endswith("9999")]
    assert said(gallery, session)[0] == "one"


def test_p16_the_name_of_the_file_finds_the_session_too(gallery: Gallery) -> None:
    shown = gallery.run("show", "bbbb1600-0000-4000-8000-000000000002", "--json")
    assert json.loads(shown.stdout)["session_id"] == "aaaa1600-0000-4000-8000-000000000001"


# P17: two formats of Gemini
@in_gallery
def _two_formats(home: Home) -> None:
    context = "<session_context>\nThis is the Gemini CLI.\n</session_context>"

    def user(name: str, text: str, second: int) -> dict[str, Any]:
        content = [{"text": text}]
        return {"id": name, "timestamp": at(second), "type": "user", "content": content}

    def model(name: str, text: str, second: int) -> dict[str, Any]:
        return {"id": name, "timestamp": at(second), "type": "gemini", "content": text}

    old = {
        "sessionId": "gem-json", "startTime": at(0),
        "messages": [user("a", "old prompt", 1), model("b", "old answer", 2)],
    }  # fmt: skip
    gemini(home, "session-2026-11-30T10-00-gemjson1.json", json.dumps(old, indent=2).encode())
    head = {"sessionId": "gem-jsonl", "startTime": at(0), "kind": "main"}
    batch = {"$set": {"messages": [user("c", context, 1), user("d", "new prompt", 2)]}}
    bare = [model("e", "new answer", 3), user("f", "second prompt", 4)]
    lines = b"".join(map(line, [head, batch, *bare]))
    gemini(home, "session-2026-11-30T10-00-gemjsonl.jsonl", lines)


def test_p17_both_formats_give_all_turns_once(gallery: Gallery) -> None:
    assert said(gallery, "gem-json") == ["old prompt", "old answer"]
    wanted = ["new prompt", "new answer", "second prompt"]
    assert said(gallery, "gem-jsonl", "user", "assistant") == wanted
    titles = {s["session_id"]: s["title"] for s in gallery.json("sessions", "--agent", "gemini")}
    assert (titles["gem-json"], titles["gem-jsonl"]) == ("old prompt", "new prompt")


# P19: a sub-agent beside its parent
@in_gallery
def _parent_and_child(home: Home) -> None:
    talk = Talk(home, 1900)
    talk.write(*talk.turns(200))
    child = Talk(home, 1901)
    child.path = talk.path.with_suffix("") / "subagents" / "agent-x1900.jsonl"
    more: dict[str, Any] = {"isSidechain": True, "agentId": "x1900", "sessionId": talk.session}
    child.write(child.prompt("task", **more), child.answer("done", **more))


def test_p19_a_sub_agent_is_linked_and_not_merged(gallery: Gallery) -> None:
    listed = {s["session_id"]: s for s in gallery.json("sessions", "--all", "--agent", "claude")}
    parent, child = listed[claude_id(1900)], listed["x1900"]
    assert (parent["messages"], child["messages"]) == (200, 2)
    assert (child["relation"], child["parent_id"]) == ("subagent", parent["id"])
    assert child["parent_session"] == claude_id(1900)
    assert "x1900" not in [s["session_id"] for s in gallery.json("sessions", "--limit", "0")]


# P21: one answer on several lines
@in_gallery
def _one_answer(home: Home) -> None:
    talk = Talk(home, 2100)
    talk.write(
        talk.prompt("ask"),
        talk.answer({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, name="msg_x"),
        talk.answer("I look.", name="msg_x"),
        talk.answer(
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
            name="msg_x",
        ),
        talk.result("t1", "a.txt"),
    )


def test_p21_lines_of_one_answer_count_its_usage_once(gallery: Gallery) -> None:
    shown = gallery.json("show", claude_id(2100))
    kinds = [m["kind"] for m in shown["messages"] if m["kind"] != "meta"]
    assert kinds == ["user", "reasoning", "assistant", "tool_call", "tool_result"]
    [listed] = [s for s in gallery.json("sessions", "--all") if s["session_id"] == claude_id(2100)]
    assert listed["tokens"] == 15


# P23: a fork copies its parent
def test_p23_a_fork_shares_its_begin(home: Home) -> None:
    parent = Talk(home, 2300)
    filler = os.urandom(30_000).hex()
    records = [parent.prompt(f"{n} {filler[n * 3000 : n * 3000 + 3000]}") for n in range(20)]
    parent.write(*records)
    home.once()
    fork = Talk(home, 2301)
    copies = [{**record, "sessionId": fork.session} for record in records]
    fork.count = parent.count
    own = [{**r, "parentUuid": r["parentUuid"]} for r in (fork.prompt("new"), fork.answer("yes"))]
    own[0]["parentUuid"] = records[-1]["uuid"]
    fork.write(*copies, *own)
    home.once()
    listed = {s["session_id"]: s for s in home.json("sessions", "--all")}
    assert listed[fork.session]["relation"] == "fork"
    assert listed[fork.session]["parent_id"] == listed[parent.session]["id"]
    assert len(said(home, fork.session)) == 22
    assert said(home, fork.session)[:20] == said(home, parent.session)
    assert listed[parent.session]["tokens"] + listed[fork.session]["tokens"] <= 15
    with closing(sqlite3.connect(home.uc / "store.db")) as db:
        [(stored,)] = db.execute("SELECT sum(length(data)) FROM blocks").fetchall()
    assert stored < 0.75 * len(filler)  # hex packs to half; twice would be all of it


# P25: copies that an agent imported
def test_p25_an_imported_copy_is_marked(home: Home) -> None:
    talk = Talk(home, 2500)
    talk.write(talk.prompt("one"), talk.answer("two"))
    session = rollout(home, 2500, codex_turn(1, "one", "two"))
    ledger = {"source_path": str(talk.path), "imported_thread_id": session, "imported_at": 1}
    (home.codex / "external_agent_session_imports.json").write_text(
        json.dumps({"records": [ledger]})
    )
    home.once()
    [copy] = [s for s in home.json("sessions", "--all") if s["session_id"] == session]
    assert copy["relation"] is not None
    assert copy["parent_session"] == talk.session


# P26: record kinds of tomorrow
@in_gallery
def _future(home: Home) -> None:
    future = {"type": "future_item", "payload": {}}
    talk = Talk(home, 2600)
    talk.write(talk.prompt("one"), future, talk.answer("two"), future)
    first, second = codex_turn(1, "one", "two"), codex_turn(2, "three", "four")
    item = {"timestamp": at(1), "type": "response_item", "payload": {"type": "future_item"}}
    rollout(home, 2600, [*first, future, item, *second])
    records = claw_records("claw2600", "one", "two")
    openclaw(home, "claw2600.jsonl", [records[0], records[1], future, *records[2:]])


@pytest.mark.parametrize(
    ("session", "texts"),
    [
        (claude_id(2600), ["one", "two"]),
        ("0c0dec00-0000-7000-8000-000000002600", ["one", "two", "three", "four"]),
        ("claw2600", ["one", "two"]),
    ],
)
def test_p26_a_future_record_is_kept_between_the_turns(
    gallery: Gallery, session: str, texts: list[str]
) -> None:
    shown = gallery.json("show", session)
    assert [m["text"] for m in shown["messages"] if m["kind"] != "meta"] == texts
    assert sum(shown["metadata"]["unknown"].values()) >= 1
    assert {"type": "future_item", "payload": {}} in natives(gallery, session)


# P27: after a compaction
@in_gallery
def _compacted(home: Home) -> None:
    records = [r for n in range(50) for r in codex_turn(n, f"old {n}", f"answer {n}")]
    summary = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
        for text in ("kept prompt", "summary of it all")
    ]
    payload = {"message": "", "replacement_history": summary}
    records.append({"timestamp": at(60), "type": "compacted", "payload": payload})
    records += [r for n in range(3) for r in codex_turn(70 + n, f"new {n}", f"fresh {n}")]
    rollout(home, 2700, records)


def test_p27_a_compaction_keeps_the_full_history(gallery: Gallery) -> None:
    texts = said(gallery, "0c0dec00-0000-7000-8000-000000002700", "user", "assistant")
    wanted = [t for n in range(50) for t in (f"old {n}", f"answer {n}")]
    wanted += [t for n in range(3) for t in (f"new {n}", f"fresh {n}")]
    assert texts == wanted


def test_p27_the_model_gets_what_replaced_it(gallery: Gallery) -> None:
    shown = gallery.run("show", "0c0dec00-0000-7000-8000-000000002700", "--as-model", "--json")
    live = [m["text"] for m in json.loads(shown.stdout)["messages"] if m["kind"] != "meta"]
    assert [t for t in live if t.startswith("old ")] == []
    assert "summary of it all" in live
    assert live[-6:] == [t for n in range(3) for t in (f"new {n}", f"fresh {n}")]


# P29, P30, P32: folders of projects
PROJECTS = {
    2900: ("/w/my_app/.x", "-w-my-app--x"),
    3000: ("/w/新聞", "-w---"),
    3001: ("/w/暫存", "-w---"),
    3002: ("/w/a-b", "-w-a-b"),
    3003: ("/w/a/b", "-w-a-b"),
    3200: ("/mnt/c/Users/u/r", "-mnt-c-Users-u-r"),
    3201: ("C:\\Users\\u\\r", "C--Users-u-r"),
    3202: ("/mnt/c", "-mnt-c"),
    3203: ("c:\\Users\\u\\r", "c--Users-u-r"),
    3204: ("\\\\wsl$\\Ubuntu\\mnt\\c\\Users\\u\\r", "--wsl--Ubuntu-mnt-c-Users-u-r"),
}


@in_gallery
def _projects(home: Home) -> None:
    for number, (cwd, slug) in PROJECTS.items():
        talk = Talk(home, number, cwd=cwd, slug=slug)
        talk.write(*talk.turns(2))


def _project(gallery: Gallery, number: int) -> Any:
    listed = {s["session_id"]: s["project_path"] for s in gallery.json("sessions", "--all")}
    return listed[claude_id(number)]


def _of_project(gallery: Gallery, folder: str) -> set[str]:
    found = gallery.json("sessions", "--all", "--project", folder)
    return {s["session_id"] for s in found}


def test_p29_the_project_is_the_records_own_folder(gallery: Gallery) -> None:
    assert _project(gallery, 2900) == "/w/my_app/.x"
    assert _of_project(gallery, "/w/my_app/.x") == {claude_id(2900)}


def test_p30_two_projects_share_one_folder(gallery: Gallery) -> None:
    for number in (3000, 3001, 3002, 3003):
        assert _of_project(gallery, PROJECTS[number][0]) == {claude_id(number)}


def test_p32_spellings_of_windows_are_folders_of_their_own_on_linux(gallery: Gallery) -> None:
    for number in (3200, 3201, 3202, 3203, 3204):
        assert _project(gallery, number) == PROJECTS[number][0]
    assert _of_project(gallery, "/mnt/c/Users/u/r") == {claude_id(3200)}
    assert _of_project(gallery, "/mnt/c") == {claude_id(3200), claude_id(3202)}


# P33: times of the agents' files
def test_p33_capture_changes_no_file_of_an_agent(gallery: Gallery) -> None:
    """Nor is it seen to read them; SQLite alone opens its files as it likes."""
    for path, (before, after) in gallery.stats.items():
        assert (before.st_mtime_ns, before.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
        assert before.st_size == after.st_size
        assert path.suffix == ".vscdb" or before.st_atime_ns == after.st_atime_ns, path


# P34: files that never parse
def _hopeless(home: Home, count: int) -> int:
    """Files of each engine that no one can read."""
    kinds: list[tuple[str, bytes]] = [
        (".claude/projects/-w-app/bad{}.jsonl", b"\x80\x81 no record\n" * 20),
        (".codex/sessions/2026/11/30/rollout-2026-11-30T10-00-00-bad{}.jsonl.zst", b"no zstd" * 9),
        (".gemini/tmp/app/chats/session-2026-11-30T10-00-bad{}.json", b'{"messages": [{"id"'),
        (".openclaw/agents/bad{}/agent/openclaw-agent.sqlite", b"no database at all" * 99),
        (".cursor/chats/ab/bad{}/store.db", b"SQLite format 3\0 and then nothing"),
    ]
    for number in range(count):
        name, data = kinds[number % len(kinds)]
        path = home.folder / name.format(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return count


def test_p34_unreadable_files_hold_up_no_other(home: Home) -> None:
    _hopeless(home, 25)
    talk = Talk(home, 3400)
    talk.write(*talk.turns(4))
    first = home.once()
    assert said(home, talk.session) == [f"text {n}" for n in range(1, 5)]
    assert {e["code"] for e in first["errors"]} >= {"damaged"}
    assert all(e["path"] and e["agent"] for e in first["errors"])
    again = home.once()
    assert again["events"] == 0


@pytest.mark.full
def test_p34_unreadable_files_cost_nothing_while_idle(home: Home) -> None:
    _hopeless(home, 25)
    talk = Talk(home, 3401)
    talk.write(*talk.turns(4))
    with running(home) as process:
        until(lambda: home.node_count() >= 4)
        time.sleep(20)
        before = _cpu(process.pid)
        time.sleep(20)
        spent = _cpu(process.pid) - before
        talk.write(talk.prompt("still there"))
        until(lambda: said(home, talk.session)[-1] == "still there")
    assert spent < 0.4


def _cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# P35: limits of the system
@pytest.mark.parametrize("folders", [150, pytest.param(3000, marks=pytest.mark.full)])
def test_p35_few_descriptors_are_enough(home: Home, folders: int) -> None:
    talks = [Talk(home, n, cwd=f"/w/{n}", slug=f"-w-{n}") for n in range(folders)]
    for talk in talks:
        talk.write(*talk.turns(2))
    with running(home, files=64) as process:
        until(lambda: home.node_count() == 2 * folders, seconds=90)
        talks[0].write(talks[0].prompt("live"))
        until(lambda: home.node_count() == 2 * folders + 1)
        assert len(list(Path(f"/proc/{process.pid}/fd").iterdir())) < 64
        status = json.loads(home.run("status", "--json").stdout)
        assert status["capture"]["watcher"].startswith(("events", "polling"))


# P36: empty blocks
@in_gallery
def _empty_blocks(home: Home) -> None:
    talk = Talk(home, 3600)
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    talk.write(
        talk.prompt("ask"), talk.answer("", call, "  \n"), talk.result("t1", ""),
        talk.result("t1", []), talk.answer(""), talk.prompt(""), talk.prompt([]),
        talk.answer("end"),
    )  # fmt: skip


def test_p36_empty_blocks_are_kept(gallery: Gallery) -> None:
    stored = natives(gallery, claude_id(3600))
    blocks = stored[1]["message"]["content"]
    assert [b.get("text") for b in blocks] == ["", None, "  \n"]
    texts = said(gallery, claude_id(3600))
    assert (texts[0], texts[-1]) == ("ask", "end")
    shown = gallery.json("show", claude_id(3600))["messages"]
    assert [m["tool"]["name"] for m in shown if m["kind"] == "tool_call"] == ["Bash"]


# section 8: no public report
@in_gallery
def _odd_files(home: Home) -> None:
    talk = Talk(home, 8000)
    records = [line(r).replace(b"\n", b"\r\n") for r in talk.turns(4)]
    talk.write(b"\xef\xbb\xbf", *records)
    times = [
        "2026-11-30T10:00:00.000Z", "2026-11-30T10:00:00.000Z", "2026-11-29T10:00:00.000Z",
        "2100-01-01T00:00:00.000Z", 1796047204, 1796047204253, "1796047204253", None, "yesterday",
        "", 1e300, -1, True, {"at": 1}, "2026-11-30T10:00:00+05:30", "9999-12-31T23:59:59.999Z",
        "0001-01-01T00:00:00Z", "2026-11-30",
    ]  # fmt: skip
    talk = Talk(home, 8001)
    for number, when in enumerate(times):
        talk.write({**talk.prompt(f"text {number}"), "timestamp": when})
    talk = Talk(home, 8002)
    nested: Any = "innermost"
    for _ in range(5):
        nested = [{"type": "tool_result", "tool_use_id": "t1", "content": nested}]
    talk.write(talk.prompt("ask"), talk.call("t1"), talk.prompt(nested), talk.answer("end"))
    talk = Talk(home, 8003)
    deep = b"[" * 10_000 + b"]" * 10_000
    talk.write(
        talk.prompt("first"), b'{"type":"user","deep":' + deep + b"}\n",
        b'{"type":"user","a":NaN,"b":-Infinity,"c":1e999}\n',
        b'{"type":"user","a":' + b"9" * 5000 + b"}\n", b'"text"\n', b"7\n", b"null\n", b"[]\n",
        b'{"type":"user","type":"twice"}\n', b"\xff\xfe\n", b"   \n", b"\n", talk.prompt("last"),
    )  # fmt: skip
    talk = Talk(home, 8004, slug="-w-line\nend")
    talk.write(*talk.turns(2))


def test_s8_crlf_and_a_byte_order_mark(gallery: Gallery) -> None:
    assert said(gallery, claude_id(8000)) == [f"text {n}" for n in range(1, 5)]
    assert gallery.errors(claude_id(8000)) == []


def test_s8_order_is_the_files_whatever_the_times_say(gallery: Gallery) -> None:
    assert said(gallery, claude_id(8001)) == [f"text {n}" for n in range(18)]
    [listed] = [s for s in gallery.json("sessions", "--all") if s["session_id"] == claude_id(8001)]
    assert listed["started_at"] is None or listed["started_at"] <= listed["updated_at"]


def test_s8_nested_results_are_read(gallery: Gallery) -> None:
    texts = said(gallery, claude_id(8002))
    assert texts[0] == "ask"
    assert texts[-1] == "end"
    assert "innermost" in json.dumps(natives(gallery, claude_id(8002)))


def test_s8_odd_values_stand_in_nobodys_way(gallery: Gallery) -> None:
    assert said(gallery, claude_id(8003), "user") == ["first", "last"]
    assert gallery.run("show", claude_id(8003), "--raw").returncode == 0
    assert len(gallery.json("show", claude_id(8003), "--raw")["records"]) == 11


def test_s8_a_line_end_in_a_file_name(gallery: Gallery) -> None:
    assert said(gallery, claude_id(8004)) == ["text 1", "text 2"]


def test_s8_links_to_folders_and_a_circle_of_links(home: Home, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    (home.claude / "projects").mkdir(parents=True)
    talk = Talk(home, 8100)
    talk.path = elsewhere / talk.path.name
    talk.write(*talk.turns(2))
    (home.claude / "projects/-w-linked").symlink_to(elsewhere)
    (home.claude / "projects/-w-twice").symlink_to(elsewhere)
    (elsewhere / "circle").symlink_to(home.claude / "projects")
    (elsewhere / "self.jsonl").symlink_to(elsewhere / "self.jsonl")
    (elsewhere / "dangling.jsonl").symlink_to(elsewhere / "nowhere.jsonl")
    assert home.once()["events"] == 2
    assert said(home, talk.session) == ["text 1", "text 2"]
    assert home.once()["events"] == 0


def test_s8_a_folder_of_sessions_goes_and_comes_back_while_watched(home: Home) -> None:
    talk = Talk(home, 8200)
    talk.write(*talk.turns(2))
    with running(home) as process:
        until(lambda: home.node_count() == 2)
        shutil.rmtree(talk.path.parent)
        time.sleep(0.3)
        talk.write(*talk.turns(2))
        until(lambda: home.node_count() == 4)
        assert process.poll() is None
    assert said(home, talk.session) == [f"text {n}" for n in range(1, 5)]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_s8_a_file_that_may_not_be_read_is_named(home: Home) -> None:
    talk, other = Talk(home, 8300), Talk(home, 8301)
    talk.write(*talk.turns(2))
    other.write(*other.turns(2))
    other.path.chmod(0)
    found = home.once()
    assert [e["code"] for e in found["errors"]] == ["unreadable"]
    assert said(home, talk.session) == ["text 1", "text 2"]
    other.path.chmod(0o600)
    assert home.once()["events"] == 2


class running:  # noqa: N801
    """A daemon in the background for as long as the block lasts."""

    def __init__(self, home: Home, *, files: int | None = None) -> None:
        self._home = home
        self._files = files

    def __enter__(self) -> subprocess.Popen[bytes]:
        command = self._home.command("daemon", "run")
        if self._files is not None:
            command = ["sh", "-c", f'ulimit -n {self._files}; exec "$@"', "sh", *command]
        self._process = subprocess.Popen(
            command, env=self._home.env, cwd=self._home.folder, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        return self._process

    def __exit__(self, *_: object) -> None:
        self._home.run("daemon", "stop")
        kill(self._process)


def until(true: Callable[[], bool], *, seconds: float = 45) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.1)
