"""Rows that older rules masked: masked on read, then in the store, with nothing left behind."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from older_rules import older_redactor

from ultracontext.chain import birth_digest, content_digest, first_break, link
from ultracontext.errors import StoreBusyError
from ultracontext.model import RawRecord, SessionFacts
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.store.base import FactsUpdate
from ultracontext.store.beginning import remask
from ultracontext.store.masking import masked_row
from ultracontext.store.sqlite import SqliteStore, open_sqlite
from ultracontext.store.sqlite.bodies import Bodies

KEY = b"a secret of the tests"


def token(n: int) -> str:
    """A token that only today's rules know."""
    return "glpat-" + f"N0tReAl3ahovCJQX4bip{n}"[-20:]


SECRETS = [token(n) for n in range(400)]


@pytest.fixture(scope="module")
def new() -> Redactor:
    return load_redactor(KEY, engine="aho")


@pytest.fixture(scope="module")
def old() -> Redactor:
    return older_redactor(KEY)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "store.db"


@pytest.fixture
def opened(path: Path) -> Iterator[SqliteStore]:
    made = open_sqlite(path, write=True, migrate=True)
    yield made
    made.close()


def fill(store: SqliteStore, make: Any, old: Redactor, *, nodes: int = 60) -> None:
    """Three sessions with a secret in every third record, in every part of a record."""
    make.redactor = old
    space = store.within("local")
    for session in ("s1", "s2", "s3"):
        events = []
        for n in range(nodes):
            text = f"text {n} " + (SECRETS[n] if n % 3 == 0 else "") + " lorem ipsum" * 30
            data = json.dumps({"type": "user", "n": n, "text": text}).encode()
            events.append(make.event(n, session=session, data=data, time_ms=1_000 + n))
        make.append(space, *events[: nodes // 2])
        for event in events[nodes // 2 :]:
            make.append(space, event)
    odd = [
        make.event(nodes, data=b"no json " + SECRETS[300].encode()),
        make.event(
            nodes + 1, data=json.dumps({"t": "é" * 150_000 + " " + SECRETS[301], "n": 1}).encode()
        ),
        make.event(2, revision=1, data=json.dumps({"edited": SECRETS[302]}).encode()),
    ]
    make.append(space, *odd)
    raw = RawRecord(
        agent="claude", source="/x", start=1, end=2, data=b'{"type":"user"}',
        companions={"a": SECRETS[303].encode(), "b": b"x" * 300_000 + b" " + SECRETS[304].encode()},
    )  # fmt: skip
    event = make.event(nodes + 2, call_id="c " + SECRETS[305], event_type="odd " + SECRETS[306])
    event.record = old.redact(raw)
    make.append(
        space,
        event,
        checkpoints=[checkpoint(SECRETS[307])],
        facts=[
            FactsUpdate(
                agent="claude",
                session_id="s1",
                facts=SessionFacts(
                    title="t " + SECRETS[308],
                    project_path="/w/" + SECRETS[309],
                    files=["/w/" + SECRETS[310]],
                    traits={"a": SECRETS[311]},
                ),
            )
        ],
    )
    space.note("capture.paused_projects", ["/w/" + SECRETS[312]])


def checkpoint(secret: str) -> Any:
    from ultracontext.store import Checkpoint

    return Checkpoint(
        source_id=1, agent="claude", path=f"/home/{secret}/a.jsonl", path_digest=b"p" * 16,
        device=1, inode=2, fingerprint=b"f" * 16, fingerprint_length=10, size=100, mtime_ns=1,
        ctime_ns=1, position=90, ordinal=9, prefix=b"x" * 16,
    )  # fmt: skip


PLANTED = [SECRETS[n] for n in range(0, 60, 3)] + SECRETS[300:313]


def bytes_of(path: Path) -> bytes:
    """The files as they are, and all blocks and strings in them, unpacked."""
    data = b"".join(p.read_bytes() for p in path.parent.iterdir())
    import zstandard

    plain, bodies = zstandard.ZstdDecompressor(), Bodies("local")
    with sqlite3.connect(path) as connection:
        for codec, packed in connection.execute("SELECT codec, data FROM blocks"):
            data += b"\n" + bodies.unpack(codec, packed, connection)
        for (packed,) in connection.execute("SELECT data FROM parts"):
            data += b"\n" + plain.decompress(packed)
        for (extra,) in connection.execute("SELECT extra FROM nodes WHERE extra IS NOT NULL"):
            data += b"\n" + (plain.decompress(extra) if extra[:4] == b"\x28\xb5\x2f\xfd" else extra)
    return data


def found_in(path: Path) -> list[str]:
    data = bytes_of(path)
    return [secret for secret in PLANTED if secret.encode() in data]


def run(store: SqliteStore, new: Redactor, *, steps: int | None = None) -> int:
    done = 0
    for done, _ in enumerate(store.within("local").remask(new), start=1):
        if done == steps:
            break
    return done


def rows(path: Path, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(path) as connection:
        return connection.execute(query).fetchall()


PLACES = (
    "SELECT event_id, position, born, revision, superseded, log, source, start, length, ordinal,"
    " kind, time_ms, digest, chain FROM nodes ORDER BY 1"
)


def test_r11_rows_of_older_rules_are_masked_on_read(
    opened: SqliteStore, make: Any, old: Redactor, new: Redactor, path: Path
) -> None:
    fill(opened, make, old)
    assert found_in(path) == PLANTED
    space = opened.within("local")
    said = []
    for row in space.contexts(limit=0):
        assert row.rule_set == old.rule_set
        said.append(repr(masked_row(row, new)))
        for node in space.nodes(row.context_id, all_revisions=True):
            record = remask(node, row.agent, new)
            said.append(f"{record.native} {record.text} {record.source} {record.companions}")
    text = "\n".join(said)
    assert [secret for secret in PLANTED if secret in text] == []


def test_r11_the_pass_leaves_no_old_byte(
    opened: SqliteStore, make: Any, old: Redactor, new: Redactor, path: Path
) -> None:
    fill(opened, make, old)
    space = opened.within("local")
    before, chains = rows(path, PLACES), space.contexts(limit=0)
    assert space.behind(new.rule_set) == len(before)
    assert run(opened, new) > 3
    assert found_in(path) == []
    assert rows(path, PLACES) == before
    assert space.behind(new.rule_set) == 0
    assert {row.rule_set for row in space.contexts(limit=0)} == {new.rule_set}
    assert [r.context_id for r in space.contexts(limit=0)] == [r.context_id for r in chains]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
    opened.close()
    assert found_in(path) == []


def test_many_small_texts_leave_no_byte_either(
    opened: SqliteStore, make: Any, old: Redactor, new: Redactor, path: Path
) -> None:
    make.redactor = old
    space = opened.within("local")
    for n in range(300):
        facts = SessionFacts(title=SECRETS[n] + " x" * (n % 90), project_path=f"/w/{SECRETS[n]}")
        session = f"session-{n}"
        data = json.dumps({"t": SECRETS[n]}).encode()
        make.append(
            space,
            make.event(0, session=session, call_id=SECRETS[n], data=data),
            facts=[FactsUpdate(agent="claude", session_id=session, facts=facts)],
        )
    run(opened, new)
    data = bytes_of(path)
    assert [secret for secret in SECRETS[:300] if secret.encode() in data] == []


def test_what_changed_is_recorded_and_proves_the_birth(
    opened: SqliteStore, make: Any, old: Redactor, new: Redactor, path: Path
) -> None:
    fill(opened, make, old)
    run(opened, new)
    space = opened.within("local")
    for row in space.contexts(limit=0):
        remasks = space.remasks(row.context_id)
        assert remasks
        assert first_break(remasks) is None
        before = b""
        chains = {
            bytes(name): (bytes(chain), extra)
            for name, chain, extra in rows(path, "SELECT event_id, chain, extra FROM nodes")
        }
        for node in space.nodes(row.context_id, all_revisions=True):
            chain, extra = chains[node.event_id]
            if node.revision or extra is not None:
                before = chain if not node.revision else before
                continue
            body = node.body if node.text is None else node.text.encode()
            own = [r for r in remasks if r.event_id == node.event_id]
            assert bool(own) == (b"[redacted:" in body)
            birth = birth_digest(content_digest(body, None), own)
            assert birth is not None
            assert link(before, birth) == chain
            assert birth_digest(content_digest(body + b" ", None), own) != birth
            before = chain


def test_it_goes_on_after_a_stop_and_does_nothing_twice(
    opened: SqliteStore, make: Any, old: Redactor, new: Redactor, path: Path
) -> None:
    fill(opened, make, old)
    run(opened, new, steps=2)
    space = opened.within("local")
    left = space.behind(new.rule_set)
    assert 0 < left < len(rows(path, "SELECT 1 FROM nodes"))
    run(opened, new)
    assert found_in(path) == []
    recorded = rows(path, "SELECT * FROM remasks")
    changed = rows(path, "SELECT count(DISTINCT event_id) FROM remasks")
    assert changed == [(len(recorded),)]
    log = rows(path, "SELECT * FROM log")
    assert run(opened, new) == 0
    assert rows(path, "SELECT * FROM remasks") == recorded
    assert rows(path, "SELECT * FROM log") == log


def test_new_rows_under_new_rules_are_not_behind(
    opened: SqliteStore, make: Any, old: Redactor, new: Redactor
) -> None:
    make.redactor = old
    space = opened.within("local")
    make.append(space, make.event(0), make.event(1))
    make.redactor = new
    make.append(space, make.event(2), make.event(0, session="other"))
    assert space.behind(new.rule_set) == 2
    assert space.find("s1").rule_set is None
    assert space.find("other").rule_set == new.rule_set
    run(opened, new)
    make.append(space, make.event(3))
    assert space.behind(new.rule_set) == 0
    make.redactor = old
    make.append(space, make.event(4))
    assert space.behind(new.rule_set) == 1
    assert space.find("s1").rule_set is None
    run(opened, new)
    assert space.behind(new.rule_set) == 0


def test_a_step_is_short(opened: SqliteStore, make: Any, old: Redactor, new: Redactor) -> None:
    fill(opened, make, old, nodes=300)
    assert opened._writer is not None
    spent: list[float] = []
    writing = opened._writer.writing

    def timed() -> Any:
        begun = time.process_time()
        manager = writing()

        class Timed:
            def __enter__(self) -> Any:
                nonlocal begun
                begun = time.process_time()
                return manager.__enter__()

            def __exit__(self, *error: Any) -> Any:
                try:
                    return manager.__exit__(*error)
                finally:
                    spent.append(time.process_time() - begun)

        return Timed()

    opened._writer.writing = timed  # type: ignore[method-assign]
    run(opened, new)
    assert max(spent) < 0.05


def test_a_title_that_was_cut_in_a_secret_loses_its_last_word(
    opened: SqliteStore, make: Any, old: Redactor, new: Redactor
) -> None:
    make.redactor = old
    space = opened.within("local")
    title = ("word " * 60 + SECRETS[0])[-208:-8]
    facts = FactsUpdate(agent="claude", session_id="s1", facts=SessionFacts(title=title))
    make.append(space, make.event(0), facts=[facts])
    assert SECRETS[0][:8] in title
    shown = masked_row(space.find("s1"), new).facts.title
    assert shown is not None
    assert SECRETS[0][:8] not in shown


def test_a_store_of_the_version_before_is_read(
    opened: SqliteStore, make: Any, old: Redactor, path: Path
) -> None:
    make.append(opened.within("local"), make.event(0))
    with sqlite3.connect(path) as connection:
        connection.execute("DROP INDEX contexts_rules")
        connection.execute("DROP INDEX contexts_mixed")
        connection.execute("ALTER TABLE contexts DROP COLUMN rule_set")
        connection.execute("ALTER TABLE contexts DROP COLUMN rule_nodes")
        connection.execute("PRAGMA user_version=1000")
    connection.close()
    reading = open_sqlite(path, write=False, migrate=False).within("local")
    assert reading.find("s1").rule_set is None
    assert [row.session_id for row in reading.contexts()] == ["s1"]


def test_a_reader_in_the_way_is_waited_for(
    opened: SqliteStore, make: Any, old: Redactor, new: Redactor, path: Path
) -> None:
    fill(opened, make, old)
    other = sqlite3.connect(path)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM nodes").fetchone()
    assert opened._writer is not None
    with opened._writer.reading() as connection:
        connection.execute("PRAGMA busy_timeout=10")
    with pytest.raises(StoreBusyError):
        run(opened, new)
    assert found_in(path) != []
    other.close()
    run(opened, new)
    assert found_in(path) == []


def test_facts_of_what_changed_are_computed_anew(
    opened: SqliteStore, make: Any, old: Redactor, new: Redactor
) -> None:
    fill(opened, make, old)
    space = opened.within("local")
    run(opened, new)
    row = space.find("s1")
    assert row.stale
    assert "[redacted:gitlab-token:" in str(row.facts.title)
    assert "[redacted:gitlab-token:" in str(row.facts.project_path)
    assert space.contexts(project="/w")
