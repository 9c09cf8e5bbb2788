"""What the file looks like, and what work costs as it grows."""

from __future__ import annotations

import re
import sqlite3
from datetime import timedelta
from typing import Any

import pytest

from ultracontext.chain import content_digest, link
from ultracontext.store.sqlite import SqliteStore, behind, blocks, contexts
from ultracontext.store.sqlite.blocks import LOOSE_BLOCKS
from ultracontext.store.sqlite.bodies import shipped
from ultracontext.store.sqlite.parts import put_back, values


def rows(store: SqliteStore, query: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(store.path)
    found = connection.execute(query).fetchall()
    connection.close()
    return found


def test_file_settings(store: SqliteStore) -> None:
    assert rows(store, "PRAGMA auto_vacuum") == [(2,)]
    assert rows(store, "PRAGMA journal_mode") == [("wal",)]
    assert store._writer is not None
    with store._writer.reading() as connection:
        assert connection.execute("PRAGMA secure_delete").fetchone() == (1,)
        assert connection.execute("PRAGMA synchronous").fetchone() == (1,)
        assert connection.execute("PRAGMA busy_timeout").fetchone() == (5000,)


def test_one_row_of_nodes_for_each_event(store: SqliteStore, make: Any) -> None:
    make.append(store.within("local"), *[make.event(i) for i in range(7)])
    make.append(store.within("local"), make.event(3, revision=1))
    assert rows(store, "SELECT count(*), count(DISTINCT event_id) FROM nodes") == [(8, 8)]
    assert rows(store, "SELECT count(*) FROM heads") == [(1,)]
    log = rows(store, "SELECT operation, position, count FROM log ORDER BY entry")
    assert log == [("append", 0, 7), ("revise", 3, 1)]


def test_nodes_are_chained(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    make.append(space, *[make.event(i) for i in range(3)])
    make.append(space, make.event(3), make.event(1, revision=1, data=b'{"v":1}'))
    found = rows(store, "SELECT position, revision, chain FROM nodes ORDER BY position, revision")
    chains = {(position, revision): chain for position, revision, chain in found}
    bodies = {
        (n.position, n.revision): n.body
        for n in space.nodes(space.find("s1").context_id, all_revisions=True)
    }
    before = b""
    for position in range(4):
        before = link(before, content_digest(bodies[position, 0], None))
        assert chains[position, 0] == before
    assert chains[1, 1] == link(chains[1, 0], content_digest(bodies[1, 1], None))
    assert rows(store, "SELECT tail FROM contexts") == [(before,)]


def test_plain_text_is_compressed_and_deleted_text_is_gone(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    marker = b"marker-of-a-text " * 40
    make.append(space, make.event(0, data=b'{"t":"%s"}' % marker))
    store.maintain()
    assert store.path.stat().st_size < 260_000
    assert marker not in store.path.read_bytes()


def test_live_records_are_packed_in_idle_time(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    events = [make.event(i, data=b'{"n":%d,"t":"%s"}' % (i, b"word " * 200)) for i in range(300)]
    for event in events:
        make.append(space, event)
    make.append(space, make.event(5, revision=1, data=b'{"edited":true}'))
    assert rows(store, "SELECT count(*) FROM blocks") == [(301,)]
    before = [n.body for n in space.nodes(space.find("s1").context_id, all_revisions=True)]
    for _ in range(6):
        store.maintain()
    assert rows(store, f"SELECT count(*) < {LOOSE_BLOCKS} FROM blocks") == [(1,)]
    assert rows(store, f"SELECT loose < {LOOSE_BLOCKS} FROM contexts") == [(1,)]
    after = [n.body for n in space.nodes(space.find("s1").context_id, all_revisions=True)]
    assert after == before


def test_walk_goes_on_while_its_blocks_are_packed(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    for i in range(500):
        make.append(space, make.event(i))
    walk = space.nodes(space.find("s1").context_id)
    read = [next(walk).start for _ in range(10)]
    for _ in range(8):
        store.maintain()
    assert read + [n.start for n in walk] == [i * 10 for i in range(500)]


def test_blocks_of_a_fork_are_left_alone(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    for i in range(80):
        make.append(space, make.event(i))
    assert store._writer is not None
    with store._writer.writing() as connection:
        connection.execute("UPDATE blocks SET shared = 1 WHERE space = 'local' AND block <= 10")
    store.maintain()
    assert rows(store, "SELECT count(*) FROM blocks WHERE block <= 10") == [(10,)]
    assert len(list(space.nodes(space.find("s1").context_id))) == 80


def test_work_of_an_append_does_not_grow_with_the_context(store: SqliteStore, make: Any) -> None:
    space = store.within("local")

    def steps(first: int) -> int:
        assert store._writer is not None
        count = 0

        def tick() -> int:
            nonlocal count
            count += 1
            return 0

        with store._writer.reading() as connection:
            connection.set_progress_handler(tick, 1)
        make.append(space, *[make.event(i) for i in range(first, first + 50)])
        with store._writer.reading() as connection:
            connection.set_progress_handler(None, 0)
        return count

    steps(0)
    small = steps(50)
    for first in range(100, 6100, 500):
        make.append(space, *[make.event(i) for i in range(first, first + 500)])
    assert steps(6100) <= small * 1.2


def test_purge_works_in_steps(store: SqliteStore, make: Any, monkeypatch: Any) -> None:
    space = store.within("local")
    make.append(space, *[make.event(i) for i in range(1000)])
    monkeypatch.setattr("ultracontext.store.sqlite.dedup.PURGE_ROWS", 64)
    assert space.purge_dedup(older_than=make.now + timedelta(1), now=make.now) == 1000
    assert rows(store, "SELECT count(*) FROM dedup") == [(0,)]
    assert space.dedup_status().rows == 0


def test_emptied_dedup_table_repeats_nothing(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    events = [make.event(i) for i in range(10)]
    make.append(space, *events)
    connection = sqlite3.connect(store.path)
    connection.execute("DELETE FROM dedup")
    connection.commit()
    connection.close()
    assert len(space.known_events([e.event_id for e in events])) == 10
    make.append(space, *events)
    assert rows(store, "SELECT count(*) FROM nodes") == [(10,)]


def test_values_of_a_json_text_by_path() -> None:
    body = b'{"a": [1, {"b\\u0063": "x,]}\\"y"}, []], "d": null, "e": {}, "a2":-1.5e3}'
    found = {path: body[start:end] for path, start, end in values(body)}
    assert found == {
        ("a", 0): b"1", ("a", 1, "bc"): b'"x,]}\\"y"', ("d",): b"null", ("a2",): b"-1.5e3",
    }  # fmt: skip


def test_put_back_touches_nothing_else() -> None:
    body = b'{"n":1e999,"k":"cut","list":["cut2",12345678901234567890],"k":"cut"}'
    put = put_back(body, [(["k"], b'long "one"'), (["list", 0], b"\xed\xa0\x80")])
    assert put == (
        b'{"n":1e999,"k":"cut","list":["\\ud800",12345678901234567890],"k":"long \\"one\\""}'
    )


def test_damaged_block_is_an_error_in_words(store: SqliteStore, make: Any) -> None:
    space = store.within("local")
    make.append(space, make.event(0, data=b'{"t":"%s"}' % (b"abc " * 100)))
    assert store._writer is not None
    with store._writer.writing() as connection:
        connection.execute("UPDATE blocks SET data = x'00112233' WHERE space = 'local'")
    with pytest.raises(Exception, match="damaged"):
        list(space.nodes(space.find("s1").context_id))


def test_shipped_dictionary_holds_shapes_and_no_prose(redactor: Any) -> None:
    text = shipped().decode("latin-1")
    shapes = text[text.index('{"') :]
    assert len(shipped()) <= 64 * 1024
    assert redactor.text(shapes) == shapes
    assert not re.search(r"(?:[A-Za-z,.']+ ){4}", shapes)


def test_dictionary_of_an_earlier_program_is_still_read(
    store: SqliteStore, make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = b'{"type":"user","message":{"role":"user","content":"%s"}}'
    make.append(store.within("local"), make.event(0, data=body % b"first"))
    monkeypatch.setattr("ultracontext.store.sqlite.bodies.shipped", lambda: b'"role":"user"' * 50)
    again = SqliteStore(store.path, write=True)
    make.append(again.within("local"), make.event(1, data=body % b"second"))
    assert rows(store, "SELECT count(*) FROM dictionaries") == [(2,)]
    for opened in (store, again):
        space = opened.within("local")
        read = [n.body for n in space.nodes(space.find("s1").context_id)]
        assert read == [body % b"first", body % b"second"]
    again.close()


@pytest.mark.parametrize(
    ("query", "index"),
    [
        (contexts.BEHIND, "contexts_stale"),
        (contexts.OUTDATED.replace("?4", "1"), "contexts_read"),
        (contexts.SELECT + " ORDER BY updated_ms DESC, ref DESC LIMIT 1", "contexts_recent"),
        (contexts.SELECT + " AND session_id >= ? AND session_id < ?", "contexts_session"),
        (behind.WHICH[0], "contexts_rules"),
        (behind.WHICH[1], "contexts_rules"),
        (behind.WHICH[2], "contexts_mixed"),
        (blocks.LOOSEST, "contexts_loose"),
        (blocks.LOOSE, "blocks_loose"),
    ],
)
def test_frequent_questions_have_an_index(store: SqliteStore, query: str, index: str) -> None:
    with store._reader.reading() as connection:
        values = [None] * (4 if "?2" in query else query.count("?"))
        values = [None] * 3 if query == blocks.LOOSE or "?3" in query else values
        values = [None] * 2 if query in behind.WHICH else values
        plan = connection.execute(f"EXPLAIN QUERY PLAN {query}", values).fetchall()
    assert any(index in row[3] for row in plan), plan
