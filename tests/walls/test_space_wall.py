"""Wall 2: nothing of one space is seen from another, and no statement forgets the space."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ultracontext
from ultracontext.errors import StoreError
from ultracontext.model import ContextId, RawRecord, SessionFacts, captured_context_id, event_id
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.search import Index
from ultracontext.store import (
    CaptureBatch,
    Checkpoint,
    Event,
    FactsUpdate,
    SpaceStore,
    Store,
    open_store,
)
from ultracontext.store.postgres import schema as postgres_schema
from ultracontext.store.sqlite import SqliteStore, schema

PACKAGE = Path(ultracontext.__file__).parent
SQLITE = set(re.findall(r"CREATE TABLE (\w+)", "".join(text for _, text in schema.MIGRATIONS)))
POSTGRES = set(
    re.findall(r"CREATE TABLE (\w+)", "".join(text for _, text in postgres_schema.MIGRATIONS))
)
TABLES = SQLITE | POSTGRES
STATEMENT = re.compile(r"\s*(SELECT|INSERT|REPLACE|UPDATE|DELETE|WITH)\s", re.IGNORECASE)
MENTION = re.compile(rf"\b(?:FROM|JOIN|UPDATE|INTO)\s+({'|'.join(sorted(TABLES))})\b")
BOUND = re.compile(r"\b(?:\w+\.)?space = (?:\?\d*|:space|%\(space\)s|\w+\.space)")
INSERTED = re.compile(rf"INTO\s+({'|'.join(sorted(TABLES))})\s*\(space, ")


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every string of a module; in an f-string, constants of the module take their place."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            names |= {t.id: str(node.value.value) for t in node.targets if isinstance(t, ast.Name)}
    inner = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in node.values
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(filled(part, names) for part in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in inner:
            yield node.lineno, str(node.value)


def filled(part: ast.expr, names: dict[str, str]) -> str:
    match part:
        case ast.Constant(value=value):
            return str(value)
        case ast.FormattedValue(value=ast.Name(id=name)):
            return names.get(name, "")
        case _:
            return ""


def unbound(statement: str) -> bool:
    """Whether a statement touches a table of ours without binding its space."""
    tables = len(MENTION.findall(statement))
    return len(BOUND.findall(statement)) + len(INSERTED.findall(statement)) < tables


def test_every_statement_of_the_package_binds_the_space() -> None:
    found, checked = [], 0
    for file in sorted(PACKAGE.rglob("*.py")):
        if file.parent.name == "search":  # a file of its own for each space, see the next test
            continue
        for line, text in texts(ast.parse(file.read_text())):
            if STATEMENT.match(text) and MENTION.search(text):
                checked += 1
                if unbound(text):
                    found.append(f"{file.relative_to(PACKAGE)}:{line}: {text}")
    assert found == []
    assert checked > 40


def test_a_search_index_serves_its_own_space_only(tmp_path: Path) -> None:
    Index(tmp_path / "index.db", space="one", write=True).close()
    for write in (True, False):
        with pytest.raises(StoreError) as caught:
            Index(tmp_path / "index.db", space="two", write=write)
        assert caught.value.code == "index-space"


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM nodes WHERE event_id = ?",
        "SELECT n.body FROM nodes n JOIN blocks b ON b.block = n.block WHERE n.space = ?",
        "DELETE FROM contexts WHERE context_id = ? AND agent = 'space'",
        "UPDATE heads SET version = 1",
        "INSERT INTO notes (name, value) VALUES (?, ?)",
        "INSERT INTO nodes (space, position) SELECT ?, position FROM nodes WHERE context = ?",
    ],
)
def test_scan_catches(statement: str) -> None:
    assert STATEMENT.match(statement)
    assert unbound(statement)


def test_every_key_starts_with_the_space(tmp_path: Path) -> None:
    store = open_store(tmp_path / "store.db", migrate=True)
    assert isinstance(store, SqliteStore)
    with store._reader.reading() as connection:
        for table in SQLITE:
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            assert [c[1] for c in columns if c[5] == 1] == ["space"], table
            for index in connection.execute(f"PRAGMA index_list({table})").fetchall():
                first = connection.execute(f"PRAGMA index_info('{index[1]}')").fetchone()
                assert first[2] == "space", index[1]
    store.close()


@pytest.mark.parametrize("url", ["memory://", "sqlite"])
def test_store_itself_reads_nothing(url: str, tmp_path: Path) -> None:
    store = open_store(f"sqlite://{tmp_path}/store.db" if url == "sqlite" else url, migrate=True)
    offered = {name for name in dir(store) if not name.startswith("_")} - {"path"}
    assert offered == {"within", "maintain", "sound", "damaged", "close"}  # none gives content
    with pytest.raises(ValueError, match="name"):
        store.within("")
    store.close()


SESSIONS = ["s1", "s2"]
NOW = datetime(2026, 11, 30, tzinfo=UTC)

steps = st.lists(
    st.tuples(
        st.sampled_from(["local", "other"]),
        st.sampled_from(
            ["append", "revise", "facts", "purge", "note", "relate", "source", "known"]
        ),
        st.sampled_from(SESSIONS),
        st.integers(0, 3),
    ),
    max_size=14,
)


class World:
    """Runs steps, and looks at a space in every way that there is."""

    def __init__(self, redactor: Redactor, store: Store) -> None:
        self.redactor = redactor
        self.store = store

    def run(self, space: SpaceStore, step: str, session: str, number: int) -> None:
        context = captured_context_id("claude", session)
        facts = FactsUpdate(
            agent="claude", session_id=session,
            facts=SessionFacts(title=f"{space.space} {number}", project_path=f"/{space.space}"),
        )  # fmt: skip
        match step:
            case "append" | "revise":
                revision = 1 if step == "revise" else 0
                self.append(space, [self.event(space.space, session, number, revision)], facts)
            case "facts":
                space.save_facts([facts], nodes={context: number})
            case "purge":
                space.purge_dedup(older_than=NOW + timedelta(days=number - 1), now=NOW)
            case "note":
                space.note(session, [space.space, number])
            case "source":
                space.new_source_id()
            case "known":
                space.known_events([event_id("claude", session, number)])
            case _:
                try:
                    space.set_relation(context, parent_session=f"p{number}", relation="fork")
                except StoreError:
                    return

    def event(self, name: str, session: str, number: int, revision: int) -> Event:
        data = f'{{"of":"{name}","n":{number},"r":{revision}}}'.encode()
        raw = RawRecord(agent="claude", source=f"/{name}", start=number, end=number + 1, data=data)
        return Event(
            event_id=event_id("claude", session, number, revision), session_id=session,
            record=self.redactor.redact(raw), source_id=1, ordinal=number, revision=revision,
            first=event_id("claude", session, number) if revision else None, time_ms=number * 1000,
        )  # fmt: skip

    def append(self, space: SpaceStore, events: list[Event], facts: FactsUpdate) -> None:
        checkpoint = Checkpoint(
            source_id=1, agent="claude", path=f"/{space.space}", path_digest=b"p", device=1,
            inode=1, fingerprint=b"f", fingerprint_length=1, size=1, mtime_ns=1, ctime_ns=1,
            position=len(events), ordinal=1, prefix=b"x",
        )  # fmt: skip
        space.append(
            CaptureBatch(
                events=events, checkpoints=[checkpoint], facts=[facts] if events[0].revision else
                [], counts={"duplicates": 1},
            ),
            now=NOW,
        )  # fmt: skip

    def view(self, name: str) -> dict[str, Any]:
        space = self.store.within(name)
        contexts = {s: captured_context_id("claude", s) for s in SESSIONS}
        ids = [event_id("claude", s, n, r) for s in SESSIONS for n in range(4) for r in range(2)]
        return {
            "contexts": space.contexts(children=True), "local": space.contexts(project="/local"),
            "stale": {row.context_id for row in space.stale(10)},
            "find": [self.found(space, name) for name in [*SESSIONS, *contexts.values(), "ctx_"]],
            "by_session": [space.by_session("claude", s) for s in SESSIONS],
            "nodes": {s: list(space.nodes(c, all_revisions=True)) for s, c in contexts.items()},
            "positions": [space.position_of(i) for i in ids], "checkpoints": space.checkpoints(),
            "totals": space.totals(), "notes": [space.noted(s) for s in SESSIONS],
            "dedup": space.dedup_status(), "known": space.known_events(ids),
            "source": space.new_source_id(),
        }  # fmt: skip

    def found(self, space: SpaceStore, name: str) -> object:
        try:
            return space.find(name)
        except StoreError as error:
            return error.code


@pytest.fixture(scope="module")
def redactor() -> Redactor:
    return load_redactor(b"a secret of the tests")


@pytest.mark.timeout(90)
@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=steps)
def test_two_spaces_are_blind_to_each_other(
    kind: str, redactor: Redactor, tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, str, str, int]],
) -> None:  # fmt: skip
    def world() -> World:
        if kind == "memory":
            return World(redactor, open_store("memory://"))
        file = tmp_path_factory.mktemp("wall") / "store.db"
        return World(redactor, open_store(file, migrate=True))

    together, alone = world(), world()
    for space, step, session, number in steps:
        together.run(together.store.within(space), step, session, number)
        if space == "local":
            alone.run(alone.store.within(space), step, session, number)
    assert together.view("local") == alone.view("local")
    together.store.close()
    alone.store.close()


def test_context_ids_of_another_space_find_nothing(tmp_path: Path, redactor: Redactor) -> None:
    world = World(redactor, open_store(tmp_path / "store.db", migrate=True))
    theirs = world.store.within("theirs")
    for number in range(4):
        world.run(theirs, "append", "s1", number)
    row = theirs.find("s1")
    ours = world.store.within("ours")
    assert list(ours.nodes(row.context_id)) == []
    assert list(ours.nodes(ContextId(row.context_id.upper()))) == []
    with pytest.raises(StoreError):
        ours.find(row.context_id)
    with pytest.raises(StoreError):
        ours.set_relation(row.context_id, parent_session="x", relation="fork")
    assert ours.dedup_status().rows == 0
    assert theirs.find("s1") == row
    world.store.close()
