"""The same records in any chunking give the same events, through the real capture engine.

A log is appended to at any byte, a document rewritten with one element more each time, and the
engine looks after every write; with `restart` each look is that of a new engine.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recordings import everyone, files, holds_records, recordings, redactor, spec_of

from ultracontext.capture import CaptureEngine, CaptureOptions
from ultracontext.formats import Engine, SourceFacts
from ultracontext.model import message_id
from ultracontext.store import open_store
from ultracontext.store.base import LOCAL_SPACE, SpaceStore
from ultracontext.store.beginning import remask

pytestmark = pytest.mark.timeout(120)

SECRET = b"k" * 32
MOST_BYTES = 24_000
"""Of a recording: each example reads it again and again."""
MOST_RECORDINGS = 2
Cuts = Sequence[float]
Events = dict[str, list[tuple[Any, ...]]]


def source(agent: str, path: str) -> SourceFacts | None:
    return spec_of(agent).classify(PurePosixPath(path))


@cache
def smallest(agent: str, engine: Engine) -> list[str]:
    """The smallest recordings that hold a source of the kind."""
    found = []
    for name in recordings(agent):
        kinds = [(source(agent, path), len(data)) for path, data in files(agent, name)]
        sizes = [size for facts, size in kinds if facts is not None and facts.engine is engine]
        if sizes:
            found.append((sum(sizes), name))
    within = [pair for pair in sorted(found) if pair[0] <= MOST_BYTES] or sorted(found)[:1]
    return [name for _, name in within[:MOST_RECORDINGS]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for fixture, engine in (("log", Engine.APPEND_LOG), ("document", Engine.DOCUMENT)):
        if fixture in metafunc.fixturenames:
            pairs = [(slug, name) for slug in everyone() for name in smallest(slug, engine)]
            ids = [f"{slug}-{name}" for slug, name in pairs]
            metafunc.parametrize(("slug", fixture), pairs, ids=ids)


@dataclass
class Place:
    """A root of one agent, a store, and engines over both."""

    slug: str
    root: Path
    space: SpaceStore
    restart: bool = False
    clock: float = 0.0
    _engine: CaptureEngine | None = field(default=None)

    def write(self, path: str, data: bytes, mode: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open(mode) as out:
            out.write(data)

    def look(self) -> None:
        """One run, much later than the one before."""
        self.clock += 1000.0
        if self._engine is None or self.restart:
            self._engine = CaptureEngine(
                store=self.space, redactor=redactor(), secret=SECRET,
                agents=[spec_of(self.slug)], roots={self.slug: [self.root]},
                options=CaptureOptions(watch=False),
                now=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC), monotonic=lambda: self.clock,
            )  # fmt: skip
        self._engine.run_once()

    def events(self) -> Events:
        return {
            row.session_id: [
                (node.event_id, node.revision, node.kind, node.event_type, node.body, node.text)
                for node in self.space.nodes(row.context_id, all_revisions=True)
            ]
            for row in self.space.contexts(limit=0, children=True)
        }

    def said(self) -> dict[str, list[tuple[Any, ...]]]:
        """By session, what a person sees."""
        found = {}
        for row in self.space.contexts(limit=0, children=True):
            reader = spec_of(self.slug).reader(row.session_id)
            fed = []
            for node in self.space.nodes(row.context_id):
                record = remask(node, self.slug, redactor())
                fed += reader.feed(record, message_id(node.event_id))
            told = [m for m in reader.settle(fed) if m.kind != "meta"]
            found[row.session_id] = [(m.kind, m.event_type, m.text) for m in told]
        return found


@contextmanager
def place(slug: str, *, restart: bool = False) -> Iterator[Place]:
    with TemporaryDirectory(prefix="uc-chunks-") as folder:
        store = open_store("memory://", migrate=True)
        made = Place(slug, Path(folder).resolve() / "root", store.within(LOCAL_SPACE), restart)
        made.root.mkdir()
        yield made
        store.close()


def pieces(data: bytes, cuts: Cuts) -> list[bytes]:
    marks = sorted({0, len(data), *(int(cut * len(data)) for cut in cuts)})
    return [data[a:b] for a, b in pairwise(marks)]


def captured(
    slug: str, recording: str, cuts: Cuts, *, restart: bool = False
) -> tuple[Events, Events]:
    """Events of a recording whose logs are written piece by piece, one log after the other, and
    what they say."""
    with place(slug, restart=restart) as made:
        logs = []
        for path, data in files(slug, recording):
            facts = source(slug, path)
            if facts is not None and facts.engine is Engine.APPEND_LOG:
                logs.append((path, data))
            else:
                made.write(path, data, "wb")
        made.look()
        for path, data in logs:
            for piece in pieces(data, cuts):
                made.write(path, piece, "ab")
                made.look()
        return made.events(), made.said()


@cache
def at_once(slug: str, recording: str) -> tuple[Events, Events]:
    return captured(slug, recording, ())


def without_kinds(events: Events) -> Events:
    """A new process reads on without what stood before, so it may see another kind in a record;
    `show` reads all."""
    return {name: [(e[0], e[1], *e[4:]) for e in found] for name, found in events.items()}


CUTS = st.lists(st.floats(0, 1, exclude_max=True), min_size=1, max_size=4)
LAW = settings(
    max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)


def test_a_log_in_any_chunks_gives_the_same_events(slug: str, log: str) -> None:
    whole = at_once(slug, log)
    assert any(whole[0].values())

    @LAW
    @given(CUTS, st.booleans())
    def check(cuts: list[float], restart: bool) -> None:
        found = captured(slug, log, cuts, restart=restart)
        assert found[1] == whole[1]
        if restart:
            assert without_kinds(found[0]) == without_kinds(whole[0])
        else:
            assert found[0] == whole[0]

    check()


def test_a_log_line_by_line_gives_the_same_events(slug: str, log: str) -> None:
    longest = max(len(data) for _, data in files(slug, log))
    ends = sorted(
        {
            (at + 1) / len(data)
            for path, data in files(slug, log)
            if len(data) == longest
            for at, byte in enumerate(data)
            if byte == 10
        }
    )
    assert captured(slug, log, ends) == at_once(slug, log)


def rewrites(slug: str, path: str, data: bytes) -> list[bytes]:
    """The document as it grew: with each prefix of its list, or of its lines."""
    facts = source(slug, path)
    assert facts is not None
    if facts.document is None:
        lines = data.splitlines(keepends=True)
        return [b"".join(lines[:count]) for count in range(1, len(lines) + 1)]
    whole = json.loads(data)
    items = whole if isinstance(whole, list) else whole[facts.document.items]

    def having(count: int) -> Any:
        return items[:count] if isinstance(whole, list) else {**whole, key: items[:count]}

    key = facts.document.items
    return [*(json.dumps(having(n)).encode() for n in range(len(items))), data]


@pytest.mark.parametrize("restart", [False, True])
@pytest.mark.parametrize("torn", [None, 0.0, 0.5, 0.99])
def test_a_document_in_any_number_of_rewrites_says_the_same(
    slug: str, document: str, torn: float | None, restart: bool
) -> None:
    """With `torn`, a look falls into the middle of each rewrite."""
    with place(slug) as made:
        for path, data in files(slug, document):
            made.write(path, data, "wb")
        made.look()
        whole = made.said()
    assert any(whole.values())
    with place(slug, restart=restart) as made:
        for path, data in files(slug, document):
            facts = source(slug, path)
            if facts is None or facts.engine is not Engine.DOCUMENT:
                made.write(path, data, "wb")
        for path, data in files(slug, document):
            facts = source(slug, path)
            if facts is None or facts.engine is not Engine.DOCUMENT:
                continue
            for content in rewrites(slug, path, data):
                if torn is not None and holds_records(facts):
                    made.write(path, content[: int(torn * len(content))], "wb")
                    made.look()
                made.write(path, content, "wb")
                made.look()
        assert made.said() == whole
