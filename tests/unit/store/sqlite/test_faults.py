"""Full disks, locks, failing writes: nothing half stored, nothing wedged."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest

from ultracontext.errors import StoreBusyError, StoreError
from ultracontext.model import failpoint
from ultracontext.store.sqlite import SqliteStore, open_sqlite
from ultracontext.store.sqlite import connection as links

STEPS = [
    "before_begin", "after_insert", "after_dedup", "after_facts", "after_checkpoint",
    "before_commit",
]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_error_at_any_step_stores_nothing_and_wedges_nothing(
    store: SqliteStore, make: Any, step: str
) -> None:
    space = store.within("local")
    make.append(space, make.event(0, kind="user"))
    failpoint.arm(f"{step}=error")
    try:
        with pytest.raises(StoreError) as caught:
            make.append(space, make.event(1, kind="assistant"), make.event(2, session="s2"))
    finally:
        failpoint.arm("")
    assert (caught.value.code, bool(caught.value.hint)) == ("store-io", True)
    assert space.find("s1").nodes == 1
    assert len(space.contexts()) == 1
    make.append(space, make.event(1, kind="assistant"), make.event(2, session="s2"))
    kinds = [n.kind for n in space.nodes(space.find("s1").context_id)]
    assert kinds == ["user", "assistant"]


def test_exception_of_ours_inside_a_transaction_rolls_back(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    event = make.event(0)
    event.session_id = None
    with pytest.raises(Exception):  # noqa: B017, PT011
        make.append(space, make.event(1), event)
    make.append(space, make.event(0))
    assert space.find("s1").nodes == 1


def test_full_store_says_so_and_goes_on_when_there_is_room(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    make.append(space, make.event(0))
    assert store._writer is not None
    store._writer.raw().execute("PRAGMA max_page_count=60")
    big = [make.event(i, data=os.urandom(2000).hex().encode()) for i in range(1, 200)]
    with pytest.raises(StoreError) as caught:
        make.append(space, *big)
    assert caught.value.code == "store-full"
    assert space.find("s1").nodes == 1
    store._writer.raw().execute("PRAGMA max_page_count=1000000")
    make.append(space, *big)
    assert space.find("s1").nodes == 200


def test_lock_held_too_long_is_busy(
    store: SqliteStore, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = store.within("local")
    make.append(space, make.event(0))
    assert store._writer is not None
    store._writer.raw().execute("PRAGMA busy_timeout=50")
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreBusyError) as caught:
        make.append(space, make.event(1))
    assert caught.value.code == "store-busy"
    assert len(space.contexts()) == 1
    other.execute("ROLLBACK")
    other.close()
    make.append(space, make.event(1))
    assert space.find("s1").nodes == 2


def test_commit_that_fails_is_not_believed(
    store: SqliteStore, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = store.within("local")
    make.append(space, make.event(0))

    class Failing:
        def __init__(self, inner: sqlite3.Connection) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

        def execute(self, statement: str, *values: Any) -> Any:
            if statement == "COMMIT":
                raise sqlite3.OperationalError("disk I/O error")
            return self.inner.execute(statement, *values)

    writer = store._writer
    assert writer is not None
    writer._open = Failing(writer.raw())  # type: ignore[assignment]
    with pytest.raises(StoreError):
        make.append(space, make.event(1))
    assert writer._open is None
    make.append(space, make.event(1), make.event(2))
    assert space.find("s1").nodes == 3
    assert integrity(store.path) == "ok"


def integrity(file: Path) -> str:
    connection = sqlite3.connect(file)
    found = str(connection.execute("PRAGMA integrity_check").fetchone()[0])
    connection.close()
    return found


WRITER = textwrap.dedent(
    """
    import os, sys
    from datetime import UTC, datetime
    from pathlib import Path
    from ultracontext.errors import StoreError
    from ultracontext.model import RawRecord, event_id, failpoint
    from ultracontext.redaction import load_redactor
    from ultracontext.store import CaptureBatch, Checkpoint, Event
    from ultracontext.store.sqlite import open_sqlite

    redactor = load_redactor(b"secret")
    store = open_sqlite(Path(sys.argv[1]), write=True, migrate=True)
    space = store.within("local")
    now = datetime.now(UTC)
    saved = space.checkpoints()
    place = saved[0].position if saved else 0
    def event(i):
        record = redactor.redact(RawRecord(agent="claude", source="/x", start=i, end=i + 1,
            data=b'{"n":%d,"text":"%s"}' % (i, b"word " * (i % 97))))
        name = event_id("claude", "s", i)
        return Event(event_id=name, session_id="s", record=record, source_id=1, ordinal=i)
    failpoint.arm(os.environ.get("ULTRACONTEXT_FAILPOINTS", ""))
    print("ready", flush=True)
    while True:
        size = 1 + place % 37
        checkpoint = Checkpoint(source_id=1, agent="claude", path="/x", path_digest=b"p", device=1,
            inode=1, fingerprint=b"f", fingerprint_length=1, size=1, mtime_ns=1, ctime_ns=1,
            position=place + size, ordinal=place + size, prefix=b"x")
        space.append(CaptureBatch(events=[event(i) for i in range(place, place + size)],
            checkpoints=[checkpoint], facts=[]), now=now)
        place += size
        if place % 10 == 0:
            store.maintain()
    """
)


def spawn(file: Path, **options: Any) -> subprocess.Popen[str]:
    env = {**os.environ, **options.pop("env", {})}
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env=env, **options,
    )  # fmt: skip


def whole(file: Path) -> int:
    """Checks that the store holds a gapless beginning of the session; its length."""
    assert integrity(file) == "ok"
    store = open_sqlite(file, write=False, migrate=False)
    space = store.within("local")
    checkpoints = space.checkpoints()
    if not checkpoints:
        store.close()
        return 0
    nodes = list(space.nodes(space.find("s").context_id)) if space.contexts() else []
    store.close()
    assert [n.position for n in nodes] == list(range(len(nodes)))
    assert [n.start for n in nodes] == list(range(len(nodes)))
    assert checkpoints[0].position == len(nodes)
    return len(nodes)


@pytest.mark.timeout(120)
def test_killed_writer_leaves_no_gap(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    moments = random.Random(5)
    lengths = [0]
    for _ in range(8):
        writer = spawn(file)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        time.sleep(moments.uniform(0.01, 0.25))
        writer.kill()
        writer.communicate(timeout=50)
        lengths.append(whole(file))
    assert lengths == sorted(lengths)
    assert lengths[-1] > lengths[0]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("step", [*STEPS, "after_commit"])
def test_killed_at_each_step(tmp_path: Path, step: str) -> None:
    file = tmp_path / "store.db"
    writer = spawn(file, env={"ULTRACONTEXT_FAILPOINTS": f"{step}=kill:7"})
    writer.communicate(timeout=50)
    assert writer.returncode == -9
    assert whole(file) > 0


@pytest.mark.timeout(60)
def test_file_size_limit_fails_in_words_and_keeps_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "store.db"

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, 600_000))

    writer = spawn(file, preexec_fn=limit)
    _, errors = writer.communicate(timeout=50)
    assert "StoreError" in errors
    assert "Traceback" in errors  # of the test's writer; the store itself raised its own error
    assert whole(file) > 0


@pytest.mark.timeout(60)
def test_reader_process_beside_the_writer(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    writer = spawn(file)
    assert writer.stdout is not None
    assert writer.stdout.readline() == "ready\n"
    store = open_sqlite(file, write=False, migrate=False)
    space = store.within("local")
    seen = 0
    end = time.monotonic() + 2
    while time.monotonic() < end:
        for row in space.contexts():
            nodes = list(space.nodes(row.context_id))
            assert [n.start for n in nodes] == list(range(len(nodes)))
            assert len(nodes) >= row.nodes >= seen
            seen = row.nodes
    assert writer.poll() is None
    writer.kill()
    writer.communicate(timeout=50)
    store.close()
    assert seen > 0
    assert whole(file) >= seen


def test_wal_stays_bounded(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    for start in range(40):
        body = b'{"t":"%s"}' % os.urandom(200_000).hex().encode()
        make.append(space, *[make.event(start * 5 + i, data=body) for i in range(5)])
        assert store._writer is not None
        assert store._writer.wal_bytes() < 64 << 20
    store.maintain()
    assert store._writer is not None
    assert store._writer.wal_bytes() <= links.WAL_PAGES * links.PAGE_BYTES * 2
