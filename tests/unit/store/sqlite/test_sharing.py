"""A native fork's bodies are stored once, and read back as they came."""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from older_rules import older_redactor

from ultracontext.chain import content_digest, link
from ultracontext.errors import StoreError
from ultracontext.model import ContextId, captured_context_id
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.store import Fork
from ultracontext.store.base import SpaceStore
from ultracontext.store.sqlite import SqliteStore, open_sqlite
from ultracontext.store.sqlite.blocks import BASE, DIFFERENCE
from ultracontext.store.sqlite.bodies import Bodies
from ultracontext.store.sqlite.sharing import give_back

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
KEY = b"a secret of the tests"
TOKEN = "glpat-" + "N0tReAl3ahovCJQX4bip"
A, B, C = (captured_context_id("claude", name) for name in ("sa", "sb", "sc"))


def records(session: str, count: int = 120, *, own: int = 0, secret: int = -1) -> list[bytes]:
    """The same conversation in a session of its own, and some records that only it has."""
    random_ = random.Random(7)
    made = []
    for n in range(count):
        text = " ".join(random_.choices(WORDS, k=200)) + (f" {TOKEN}" if n == secret else "")
        made.append(json.dumps({"uuid": f"u{n:036}", "sessionId": session, "text": text}).encode())
    mine = random.Random(session)
    for n in range(own):
        text = " ".join(mine.choices(WORDS, k=60))
        made.append(json.dumps({"uuid": f"{session}{n}", "text": text}).encode())
    return made


_words = random.Random(3)
WORDS = ["".join(_words.choices("abcdefghijklmnop", k=9)) for _ in range(4000)]


def put(
    space: SpaceStore, make: Any, session: str, bodies: list[bytes], *, singly: int = 0
) -> None:
    """`singly`: so many of the last records come one by one."""
    events = [make.event(n, session=session, data=data) for n, data in enumerate(bodies)]
    make.append(space, *events[: len(events) - singly])
    for event in events[len(events) - singly :]:
        make.append(space, event)


def bodies_of(space: SpaceStore, context: ContextId) -> list[bytes]:
    return [node.body for node in space.nodes(context)]


def ask(store: SqliteStore, query: str) -> list[Any]:
    connection = sqlite3.connect(store.path)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def stored_bytes(store: SqliteStore) -> int:
    return int(ask(store, "SELECT sum(length(data)) FROM blocks")[0][0])


def sound(store: SqliteStore, space: SpaceStore, context: ContextId) -> bool:
    rows = ask(
        store,
        "SELECT n.chain FROM nodes n JOIN contexts c ON c.ref = n.context"
        f" WHERE c.context_id = '{context}' ORDER BY n.position",
    )
    previous = b""
    for (chain,), body in zip(rows, bodies_of(space, context), strict=True):
        previous = link(previous, content_digest(body, None))
        if previous != chain:
            return False
    return True


@pytest.fixture
def space(store: SqliteStore) -> SpaceStore:
    return store.within("local")


def test_a_copy_costs_a_fraction_and_reads_the_same(
    store: SqliteStore, space: SpaceStore, make: Any
) -> None:
    put(space, make, "sa", records("sa"))
    once = stored_bytes(store)
    put(space, make, "sb", records("sb", own=10))
    assert stored_bytes(store) > 1.9 * once
    before = bodies_of(space, B)
    assert sum(space.share_bodies(B, A)) > 0
    assert stored_bytes(store) < 1.1 * once
    assert bodies_of(space, B) == before == records("sb", own=10)
    assert bodies_of(space, A) == records("sa")
    assert sound(store, space, A)
    assert sound(store, space, B)
    assert sum(space.share_bodies(B, A)) == 0  # nothing is left to do


def test_records_that_came_one_by_one_are_shared_too(
    store: SqliteStore, space: SpaceStore, make: Any
) -> None:
    put(space, make, "sa", records("sa"), singly=90)
    put(space, make, "sb", records("sb"), singly=90)
    once = stored_bytes(store) / 2
    list(space.share_bodies(B, A))
    assert stored_bytes(store) < 0.8 * once  # packed as well
    assert bodies_of(space, B) == records("sb")
    for n in range(80):
        make.append(space, make.event(500 + n, session="sa", data=records("sa", own=80)[120 + n]))
    store.maintain()
    space.pack_loose()  # type: ignore[attr-defined]
    assert bodies_of(space, B) == records("sb")
    assert len(bodies_of(space, A)) == 200


def test_sessions_that_share_nothing_stay_as_they_are(
    store: SqliteStore, space: SpaceStore, make: Any
) -> None:
    put(space, make, "sa", records("sa", 0, own=200))
    put(space, make, "sb", records("sb", 0, own=200))
    assert sum(space.share_bodies(B, A)) == 0
    assert ask(store, "SELECT DISTINCT shared FROM blocks") == [(0,)]


def test_a_copy_of_a_copy_differs_from_the_first(
    store: SqliteStore, space: SpaceStore, make: Any
) -> None:
    for session in ("sa", "sb", "sc"):
        put(space, make, session, records(session))
    once = stored_bytes(store) / 3
    list(space.share_bodies(B, A))
    list(space.share_bodies(C, B))
    assert stored_bytes(store) < 1.2 * once
    assert [bodies_of(space, c) for c in (A, B, C)] == [records(s) for s in ("sa", "sb", "sc")]


def test_the_first_of_three_comes_last(store: SqliteStore, space: SpaceStore, make: Any) -> None:
    for session in ("sa", "sb", "sc"):
        put(space, make, session, records(session))
    once = stored_bytes(store) / 3
    list(space.share_bodies(C, B))
    list(space.share_bodies(B, A))
    list(space.share_bodies(C, A))
    assert stored_bytes(store) < 1.3 * once
    assert [bodies_of(space, c) for c in (A, B, C)] == [records(s) for s in ("sa", "sb", "sc")]
    bases = {row[0] for row in ask(store, f"SELECT block FROM blocks WHERE shared = {BASE}")}
    over = {-2 - row[0] for row in ask(store, "SELECT codec FROM blocks WHERE codec < -1")}
    assert over <= bases


def test_two_sessions_that_are_each_others_copy_end_in_no_circle(
    store: SqliteStore, space: SpaceStore, make: Any
) -> None:
    put(space, make, "sa", records("sa"))
    put(space, make, "sb", records("sb"))
    list(space.share_bodies(B, A))
    list(space.share_bodies(A, B))
    assert bodies_of(space, A) == records("sa")
    assert bodies_of(space, B) == records("sb")


def test_left_at_any_step_it_is_sound_and_goes_on(
    store: SqliteStore, space: SpaceStore, make: Any
) -> None:
    put(space, make, "sa", records("sa"))
    put(space, make, "sb", records("sb"))
    once = stored_bytes(store) / 2
    steps = 0
    while True:
        work = space.share_bodies(B, A)
        taken = [n for n, _ in zip(work, range(steps), strict=False)]
        work.close()  # type: ignore[attr-defined]
        assert bodies_of(space, B) == records("sb")
        if len(taken) < steps:
            break
        steps += 3
    assert stored_bytes(store) < 1.1 * once


def test_bodies_are_given_back_before_their_base_goes(
    store: SqliteStore, space: SpaceStore, make: Any
) -> None:
    put(space, make, "sa", records("sa"))
    put(space, make, "sb", records("sb"))
    list(space.share_bodies(B, A))
    bases = [row[0] for row in ask(store, f"SELECT block FROM blocks WHERE shared = {BASE}")]
    connection = sqlite3.connect(store.path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    bodies = Bodies("local")
    bodies.prepare(connection)
    assert give_back(connection, "local", bodies, bases) > 0
    connection.execute("DELETE FROM blocks WHERE shared = ?", (BASE,))
    connection.execute("COMMIT")
    connection.close()
    assert ask(store, f"SELECT count(*) FROM blocks WHERE shared = {DIFFERENCE}") == [(0,)]
    assert bodies_of(space, B) == records("sb")


@pytest.mark.parametrize("copied", [120, 60])
def test_masking_again_leaves_no_secret_in_what_was_shared(
    tmp_path: Path, make: Any, copied: int
) -> None:
    """Also where the fork has no copy of the record with the secret."""
    path = tmp_path / "home" / "store.db"
    make.redactor = older_redactor(KEY)
    opened = open_sqlite(path, write=True, migrate=True)
    space = opened.within("local")
    put(space, make, "sa", records("sa", secret=70))
    put(space, make, "sb", records("sb", secret=70)[:copied])
    list(space.share_bodies(B, A))
    assert any(TOKEN.encode() in body for body in bodies_of(space, A))
    new: Redactor = load_redactor(KEY, engine="aho")
    for _ in space.remask(new):
        pass
    for context in (A, B):
        assert not any(TOKEN.encode() in body for body in bodies_of(space, context))
    assert len(bodies_of(space, B)) == copied
    assert bodies_of(space, B)[:60] == records("sb")[:60]
    assert not any(TOKEN.encode() in block for block in _unpacked(opened))
    opened.close()


def _unpacked(store: SqliteStore) -> Iterator[bytes]:
    from ultracontext.store.sqlite.blocks import BlockReader

    connection = sqlite3.connect(store.path)
    reader = BlockReader("local", Bodies("local"))
    for (block,) in connection.execute("SELECT block FROM blocks").fetchall():
        yield reader.whole(connection, block)
    connection.close()


@pytest.mark.parametrize("gone", ["original", "copy"])
def test_a_wipe_of_one_leaves_the_other_whole(
    store: SqliteStore, space: SpaceStore, make: Any, gone: str
) -> None:
    put(space, make, "sa", records("sa", secret=3))
    put(space, make, "sb", records("sb", secret=3))
    list(space.share_bodies(B, A))
    context, left = (A, B) if gone == "original" else (B, A)
    kept = bodies_of(space, left)
    space.wipe(context, now=NOW)
    assert bodies_of(space, left) == kept
    assert sound(store, space, left)
    assert {row.context_id for row in space.contexts()} == {left}
    if gone == "original":
        assert ask(store, "SELECT count(*) FROM blocks WHERE codec < -1") == [(0,)]


def test_a_fork_by_hand_of_what_is_shared_stays_whole(
    store: SqliteStore, space: SpaceStore, make: Any
) -> None:
    """Rows of other contexts in blocks that are a base, or a difference."""
    put(space, make, "sa", records("sa"))
    put(space, make, "sb", records("sb"))
    put(space, make, "sc", records("sc"))
    list(space.share_bodies(C, B))
    forks = [space.create(origin=Fork(source=c), now=NOW).context_id for c in (B, C)]
    told = [[m.content for m in space.read(name).messages] for name in forks]
    list(space.share_bodies(B, A))  # what rows of others are in is not taken apart
    list(space.share_bodies(C, A))
    assert [bodies_of(space, c) for c in (A, B, C)] == [records(s) for s in ("sa", "sb", "sc")]
    assert [[m.content for m in space.read(name).messages] for name in forks] == told
    space.wipe(B, now=NOW)
    assert bodies_of(space, C) == records("sc")
    assert [[m.content for m in space.read(name).messages] for name in forks] == told


def test_another_base_is_damage_and_no_other_text() -> None:
    bodies = Bodies("local")
    body, base = b"".join(records("sb", 20)), b"".join(records("sa", 20))
    made = bodies.difference(body, base)
    assert bodies.unpack_over(made, base) == body
    with pytest.raises(StoreError) as found:
        bodies.unpack_over(made, base[::-1])
    assert found.value.code == "store-corrupt"
