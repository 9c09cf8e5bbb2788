"""Databases are read by row cursor, beside a live writer, without a trace."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ultracontext.capture import rows as module
from ultracontext.capture.database import (
    RowProgress,
    database_look,
    database_of,
    read_rows,
    skip_rows,
)
from ultracontext.capture.functions import protobuf, unhex
from ultracontext.capture.source import Change, Source
from ultracontext.errors import CaptureError
from ultracontext.formats import AgentSpec, Engine, Query, SourceFacts
from ultracontext.store.base import Checkpoint

SECRET = b"k" * 32
ALL = Query(
    name="rows",
    sql="SELECT rowid, key, value FROM kv WHERE rowid > :cursor ORDER BY rowid LIMIT :limit",
)
SOME = Query(
    name="some",
    sql="""SELECT rowid, CASE WHEN key >= 'a:' AND key < 'a;' THEN key END,
    CASE WHEN key >= 'a:' AND key < 'a;' THEN value END
    FROM kv NOT INDEXED WHERE rowid > :cursor ORDER BY rowid LIMIT :limit""",
)
SCHEMA = "CREATE TABLE kv (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)"
SPEC = AgentSpec(
    slug="toy",
    name="Toy",
    roots=lambda env, home: [],
    classify=lambda path: None,
    folders=(),
    assigner=lambda facts, saved: pytest.fail("not asked"),
    reader=lambda session: pytest.fail("not asked"),
)


class Database:
    """A database, who writes it, and how far it is read."""

    def __init__(self, folder: Path, *, mode: str = "wal", queries: tuple[Query, ...] = (ALL,)):
        self.path = folder / "state.db"
        self.queries = queries
        self.writer = sqlite3.connect(self.path, isolation_level=None)
        self.writer.execute(f"PRAGMA journal_mode={mode}")
        self.writer.execute(SCHEMA)
        self.progress = RowProgress(SECRET)
        self.source = self.met()

    def met(self) -> Source:
        look = database_look(str(self.path))
        saved = Checkpoint(
            source_id=1, agent="toy", path="", path_digest=b"", device=0, inode=0, fingerprint=b"",
            fingerprint_length=0, size=0, mtime_ns=0, ctime_ns=0, position=0, ordinal=0, prefix=b"",
        )  # fmt: skip
        return Source(
            spec=SPEC, path=str(self.path), masked_path=str(self.path), look=look, saved=saved,
            facts=SourceFacts(engine=Engine.DATABASE, queries=self.queries),
            position=0, ordinal=0, branch=None,
        )  # fmt: skip

    def put(self, **rows: Any) -> None:
        alone = not self.writer.in_transaction
        if alone:
            self.writer.execute("BEGIN")
        for key, value in rows.items():
            self.writer.execute("INSERT INTO kv VALUES (?, ?)", (key.replace("_", ":"), value))
        if alone:
            self.writer.execute("COMMIT")

    def read(self, limit: int = 1 << 20) -> list[tuple[str, Any]]:
        found = []
        while True:
            part = read_rows(self.source, self.progress, limit)
            for record in part.records:
                native = json.loads(record.data)
                found.append((native["key"], native["value"]))
            if not part.more:
                return found

    def restart(self) -> None:
        state = json.loads(json.dumps(self.progress.state()))
        self.progress, self.source = RowProgress(SECRET, state), self.met()


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Database]]:
    made: list[Database] = []

    def one(**options: Any) -> Database:
        made.append(Database(tmp_path, **options))
        return made[-1]

    yield one
    for database in made:
        database.writer.close()


def test_rows_are_read_once_and_in_order(make: Callable[..., Database]) -> None:
    database = make()
    database.put(a="one", b="two")
    assert database.read() == [("a", "one"), ("b", "two")]
    assert database.read() == []
    database.put(c="three")
    assert database.read() == [("c", "three")]


@pytest.mark.parametrize("mode", ["wal", "delete", "truncate", "persist"])
def test_a_live_writer_is_followed_and_never_stopped(
    make: Callable[..., Database], mode: str
) -> None:
    database = make(mode=mode)
    database.writer.execute("PRAGMA busy_timeout=0")
    for number in range(30):
        database.put(**{f"k{number}": str(number)})
        assert database.read() == [(f"k{number}", str(number))]


def test_rows_of_an_open_transaction_wait(make: Callable[..., Database]) -> None:
    database = make()
    database.put(a="one")
    database.read()
    database.writer.execute("BEGIN IMMEDIATE")
    database.put(b="two")
    assert database.read() == []
    database.writer.execute("COMMIT")
    assert database.read() == [("b", "two")]


def test_a_replaced_row_comes_again(make: Callable[..., Database]) -> None:
    database = make()
    database.put(a="one", b="two")
    database.read()
    database.put(a="ONE")
    assert database.read() == [("a", "ONE")]


def test_an_updated_row_comes_again(make: Callable[..., Database]) -> None:
    database = make()
    database.put(**{f"k{n}": "text" for n in range(1000)})
    database.read()
    database.writer.execute("UPDATE kv SET value = 'other' WHERE key = 'k920'")
    assert database.read() == [("k920", "other")]


def test_a_restart_reads_on(make: Callable[..., Database]) -> None:
    database = make()
    database.put(**{f"k{n}": "text" for n in range(5000)})
    assert len(database.read(limit=1000)) == 5000
    database.restart()
    again = database.read()
    assert len(again) < 200, "the last rows, in case they were updated meanwhile"
    assert again[-1] == ("k4999", "text")
    database.put(new="row")
    assert database.read() == [("new", "row")]


def test_state_stays_small(make: Callable[..., Database]) -> None:
    database = make()
    database.put(**{f"k{n}": "text" for n in range(30_000)})
    database.read(limit=8 << 20)
    assert len(json.dumps(database.progress.state())) < 2000


def test_a_rowid_that_is_used_again_is_no_row_that_was_read(make: Callable[..., Database]) -> None:
    database = make()
    database.put(**{f"k{n}": "text" for n in range(400)})
    database.read()
    database.writer.execute("DELETE FROM kv WHERE rowid > 250")
    database.put(**{f"new{n}": "text" for n in range(200)})
    assert {key for key, _ in database.read()} == {f"new{n}" for n in range(200)}


def test_rows_after_the_newest_were_deleted_are_not_missed(make: Callable[..., Database]) -> None:
    database = make()
    database.put(**{f"k{n}": "text" for n in range(800)})
    database.read()
    database.writer.execute("DELETE FROM kv WHERE rowid > 100")
    database.put(new="row")
    assert database.read() == [("new", "row")]


STEPS = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 40)),
    st.tuples(st.just("drop"), st.integers(1, 30)),
    st.tuples(st.just("delete"), st.integers(0, 40)),
    st.sampled_from([("vacuum", 0), ("restart", 0), ("read", 0)]),
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(STEPS, min_size=5, max_size=60))
def test_whatever_happens_every_row_is_read(
    steps: list[tuple[str, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MARK_ROWS", 2)
    monkeypatch.setattr(module, "WINDOW_MARKS", 2)
    with TemporaryDirectory() as folder:
        database = Database(Path(folder))
        database.writer.execute("PRAGMA synchronous=off")
        seen: dict[str, str] = {}
        for count, (step, number) in enumerate([*steps, ("read", 0)]):
            if step == "put":
                database.put(**{f"k{number}": f"text {count}"})
            elif step == "drop":
                top = "(SELECT rowid FROM kv ORDER BY rowid DESC LIMIT ?)"
                database.writer.execute(f"DELETE FROM kv WHERE rowid IN {top}", (number,))
            elif step == "delete":
                database.writer.execute("DELETE FROM kv WHERE key = ?", (f"k{number}",))
            elif step == "vacuum":
                database.writer.execute("VACUUM")
            elif step == "restart":
                database.restart()
            else:
                seen.update(database.read())
                here = dict(database.writer.execute("SELECT key, value FROM kv"))
                assert {key: seen.get(key) for key in here} == here
        database.writer.close()


def test_vacuum_that_numbers_rows_anew_loses_nothing(make: Callable[..., Database]) -> None:
    database = make()
    database.put(**{f"k{n}": "text" for n in range(600)})
    database.read()
    database.writer.execute("DELETE FROM kv WHERE rowid < 300")
    database.put(new="row")
    database.writer.execute("VACUUM")
    assert ("new", "row") in database.read()


def test_a_deleted_row_is_no_news(make: Callable[..., Database]) -> None:
    database = make()
    database.put(a="one", b="two")
    database.read()
    database.writer.execute("DELETE FROM kv")
    assert database.read() == []


@pytest.mark.parametrize("size", [64, 5000])
def test_slices_are_bounded(make: Callable[..., Database], size: int) -> None:
    database = make()
    database.put(**{f"k{n}": "x" * size for n in range(50)})
    part = read_rows(database.source, database.progress, 4 * size)
    assert part.more
    assert len(part.records) == 4
    assert len(database.read(4 * size)) == 46


def test_a_bounded_scan_goes_over_what_is_of_no_interest(make: Callable[..., Database]) -> None:
    database = make(queries=(SOME,))
    database.put(**{f"z_{n}": "x" for n in range(3000)})
    database.put(a_1="one")
    database.put(**{f"y_{n}": "x" for n in range(3000)})
    database.put(a_2="two")
    assert database.read() == [("a:1", "one"), ("a:2", "two")]
    assert database.read() == []


def test_values_keep_what_they_are(make: Callable[..., Database]) -> None:
    database = make()
    packed = zstandard.ZstdCompressor().compress(b'{"packed": true}')
    text = '{"deep": [1, {"x": "\\ud83d"}]}'
    database.put(
        text="plain", json=text, blob=text.encode(), packed=packed, bytes=b"\xff\0", none=None,
        number=7, quoted='"a"', broken='{"a": ',
    )  # fmt: skip
    found = dict(database.read())
    assert found["text"] == "plain"
    assert found["json"] == found["blob"] == json.loads(text)
    assert found["packed"] == {"packed": True}
    assert found["bytes"] == {"base64": "/wA="}
    assert (found["none"], found["number"]) == (None, 7)
    assert (found["quoted"], found["broken"]) == ('"a"', '{"a": ')


def test_a_value_that_is_too_large_leaves_its_size(make: Callable[..., Database]) -> None:
    database = make()
    database.put(big="x" * (17 << 20), small="y")
    found = dict(database.read())
    assert found["big"]["too_large"]["bytes"] == 17 << 20
    assert found["small"] == "y"


def test_a_bomb_is_left_packed(make: Callable[..., Database]) -> None:
    database = make()
    database.put(bomb=zstandard.ZstdCompressor().compress(bytes(65 << 20)))
    assert list(database.read()[0][1]) == ["base64"]


def test_a_record_says_where_it_stands(make: Callable[..., Database]) -> None:
    database = make()
    database.put(a="one")
    (record,) = read_rows(database.source, database.progress).records
    assert json.loads(record.data) == {"table": "rows", "key": "a", "value": "one"}
    assert (record.start, record.agent, record.source) == (1, "toy", str(database.path))


def test_the_first_query_of_a_name_that_the_schema_knows_counts(
    make: Callable[..., Database],
) -> None:
    newer = Query(name="rows", sql=ALL.sql.replace("value", "value_zstd"))
    missing = Query(name="other", sql=ALL.sql.replace("kv", "nowhere"))
    database = make(queries=(newer, ALL, missing))
    database.put(a="one")
    assert database.read() == [("a", "one")]


# ---- nothing is left behind ----------------------------------------------------------------------
def listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {p.name: (p.stat().st_size, p.stat().st_mtime_ns) for p in folder.iterdir()}


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_a_database_at_rest_is_left_as_it_was(
    make: Callable[..., Database], mode: str, tmp_path: Path
) -> None:
    database = make(mode=mode)
    database.put(a="one")
    database.writer.close()
    before = listing(tmp_path)
    assert set(before) == {"state.db"}
    assert database.read() == [("a", "one")]
    assert listing(tmp_path) == before


def copied(database: Database, folder: Path, *sides: str) -> None:
    """A copy of a live database with some of its side files, now the one that is read."""
    folder.mkdir()
    for side in ("", *sides):
        name = "state.db" + side
        (folder / name).write_bytes((database.path.parent / name).read_bytes())
    database.path = folder / "state.db"
    database.source = database.met()


def test_a_wal_without_its_index_is_read(make: Callable[..., Database], tmp_path: Path) -> None:
    database = make()
    database.put(**{f"k{n}": str(n) for n in range(200)})
    copied(database, tmp_path / "copy", "-wal")
    before = listing(tmp_path / "copy")
    assert len(database.read()) == 200
    assert listing(tmp_path / "copy") == before


def test_a_torn_wal_gives_what_was_committed(make: Callable[..., Database], tmp_path: Path) -> None:
    database = make()
    database.put(a="one")
    size = (tmp_path / "state.db-wal").stat().st_size
    database.put(b="two")
    copied(database, tmp_path / "copy", "-wal")
    wal = tmp_path / "copy" / "state.db-wal"
    wal.write_bytes(wal.read_bytes()[: size + 1000])
    assert database.read() == [("a", "one")]


def test_a_folder_that_may_not_be_written(make: Callable[..., Database], tmp_path: Path) -> None:
    database = make()
    database.put(a="one")
    copied(database, tmp_path / "copy", "-wal", "-shm")
    for path in (tmp_path / "copy").iterdir():
        path.chmod(0o400)
    (tmp_path / "copy").chmod(0o500)
    try:
        assert database.read() == [("a", "one")]
    finally:
        (tmp_path / "copy").chmod(0o700)


WRITER = """
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute("PRAGMA journal_mode=wal")
database.execute("PRAGMA busy_timeout=0")
for line in sys.stdin:
    database.execute("INSERT INTO kv VALUES (?, ?)", (line.strip(), "text"))
    if line.startswith("checkpoint"):
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    print("done", flush=True)
"""


def test_a_writer_in_another_process(make: Callable[..., Database], tmp_path: Path) -> None:
    database = make()
    database.writer.close()
    command = [sys.executable, "-c", WRITER, str(database.path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as writer:
        assert writer.stdin is not None
        assert writer.stdout is not None
        for key in ("a", "b", "checkpoint1", "c", "checkpoint2", "d"):
            writer.stdin.write(f"{key}\n")
            assert writer.stdout.readline() == "done\n"
            assert database.read() == [(key, "text")]
        writer.stdin.close()
        writer.wait()
    assert database.read() == []
    assert set(listing(tmp_path)) == {"state.db"}, "the last writer could tidy up"
    opened = {os.path.realpath(link) for link in Path("/dev/fd").iterdir()}
    assert not [path for path in opened if path.startswith(str(database.path))]


# ---- looks and faults ----------------------------------------------------------------------------
def test_a_look_changes_with_the_wal(make: Callable[..., Database], tmp_path: Path) -> None:
    database = make()
    first = database_look(str(database.path))
    assert database_look(str(database.path)) == first
    database.put(a="one")
    assert database_look(str(database.path)) != first
    assert database_of(str(tmp_path / "state.db-wal")) == str(database.path)
    assert database_of(str(database.path)) is None


def test_a_locked_database_is_busy_and_read_later(make: Callable[..., Database]) -> None:
    database = make(mode="delete")
    database.put(a="one")
    database.writer.execute("BEGIN EXCLUSIVE")
    database.put(b="two")
    with pytest.raises(CaptureError) as caught:
        database.read()
    assert caught.value.code == "busy"
    database.writer.execute("COMMIT")
    assert database.read() == [("a", "one"), ("b", "two")]


@pytest.mark.parametrize(
    "content", [b"no database at all" * 500, b"SQLite format 3\0" + b"x" * 900]
)
def test_what_is_no_database_is_damaged(make: Callable[..., Database], content: bytes) -> None:
    database = make(mode="delete")
    database.writer.close()
    database.path.write_bytes(content)
    with pytest.raises(CaptureError) as caught:
        database.read()
    assert caught.value.code == "damaged"


def test_an_empty_file_has_no_rows(make: Callable[..., Database]) -> None:
    database = make(mode="delete")
    database.writer.close()
    database.path.write_bytes(b"")
    assert database.read() == []


def test_a_database_that_vanished(make: Callable[..., Database]) -> None:
    database = make(mode="delete")
    database.writer.close()
    database.path.unlink()
    with pytest.raises(FileNotFoundError):
        database.read()


def test_another_database_at_the_path(make: Callable[..., Database], tmp_path: Path) -> None:
    database = make(mode="delete")
    database.writer.close()
    (tmp_path / "other").write_bytes(database.path.read_bytes())
    (tmp_path / "other").replace(database.path)
    assert read_rows(database.source, database.progress).change is Change.REPLACED


def test_rows_that_lie_there_can_be_left_out(make: Callable[..., Database]) -> None:
    database = make()
    database.put(a="one")
    skip_rows(database.source, database.progress)
    database.put(b="two")
    assert database.read() == [("b", "two")]


# ---- functions of queries ------------------------------------------------------------------------
def test_unhex() -> None:
    assert unhex(b"7b7d") == b"{}"
    assert unhex("xyz") is None
    assert unhex(7) is None


def test_protobuf() -> None:
    digest = bytes(range(200, 232))
    message = b"\x0a\x20" + digest + b"\x4a\x05hello" + b"\x50\x96\x01" + b"\x0d\1\2\3\4"
    assert json.loads(protobuf(message) or "") == {
        "1": [digest.hex(), "01020304"], "9": ["hello"], "10": [150],
    }  # fmt: skip
    for broken in (b"\x0a\x20", b"\xff" * 20, b"\x0b", 7):
        assert protobuf(broken) is None
