"""The recordings of each agent, and what their agents' code makes of them.

A recording lies in `tests/fixtures/<agent>/<recording>/` as it lies below the agent's root folder.
"""

from __future__ import annotations

import json
import posixpath
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

import parrot
import zstandard

from ultracontext.agents import agent, known
from ultracontext.capture.database import whole_rows
from ultracontext.formats import AgentSpec, Assigner, Assignment, Engine, Need, SourceFacts
from ultracontext.model import Message, MessageId, RawRecord, SessionFacts, event_id, message_id
from ultracontext.redaction import MaskedRecord, Redactor, load_redactor

FIXTURES = Path(__file__).parent.parent / "fixtures"

ROOT = "/root"
"""Where recordings are said to lie."""

Change = Callable[[dict[str, Any]], list[dict[str, Any]]]
"""From one native record to those that stand in its place."""

Files = list[tuple[str, bytes]]
"""(path relative to the agent's root, content)"""


def everyone() -> dict[str, AgentSpec]:
    """All agents that the conformance suite runs over: those known, and the tests' own."""
    return {**known(), parrot.SPEC.slug: parrot.SPEC}


def spec_of(slug: str) -> AgentSpec:
    return parrot.SPEC if slug == parrot.SPEC.slug else agent(slug)


def recordings(agent: str) -> list[str]:
    """Names of an agent's recordings."""
    folder = FIXTURES / agent
    return (
        sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []
    )


def files(agent: str, recording: str) -> Files:
    """A recording's files."""
    folder = FIXTURES / agent / recording
    return [
        (path.relative_to(folder).as_posix(), path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    ]


def lay_out(agent: str, recording: str, root: Path) -> Path:
    """Copies a recording's files below the agent's root folder, which is made if need be."""
    root.mkdir(parents=True, exist_ok=True)
    shutil.copytree(FIXTURES / agent / recording, root, dirs_exist_ok=True)
    return root


@cache
def redactor() -> Redactor:
    """One for all tests: it takes a while to load, and has no state that matters."""
    return load_redactor(b"k" * 32)


def minted(
    native: Any,
    *,
    agent: str = "test",
    source: str = "/root/file",
    start: int = 0,
    whole: bool = False,
    **more: Any,
) -> MaskedRecord:
    """A masked record of a value, or of bytes as they are."""
    data = native if isinstance(native, bytes) else json.dumps(native).encode()
    return redactor().redact(
        RawRecord(
            agent=agent, source=source, start=start, end=start + len(data) + 1, data=data, **more
        ),
        whole=whole,
    )  # fmt: skip


@dataclass
class Session:
    """The records of one session, in order."""

    agent: str
    session_id: str | None
    fed: list[tuple[MaskedRecord, MessageId]] = field(default_factory=list)

    def read(self) -> tuple[list[Message], SessionFacts]:
        reader = spec_of(self.agent).reader(self.session_id or "")
        messages: list[Message] = []
        for record, name in self.fed:
            messages += reader.feed(record, name)
        return reader.settle(messages), reader.facts()

    @property
    def records(self) -> list[MaskedRecord]:
        return [record for record, _ in self.fed]


@dataclass
class Play:
    """What an agent's assigner made of a set of files."""

    agent: str
    sessions: dict[str | None, Session] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    assigned: list[tuple[str, Assignment]] = field(default_factory=list)
    """(path, assignment) of every record, in order."""
    state_bytes: int = 0
    """The largest state of an assigner."""

    def take(self, path: str, record: MaskedRecord, assignment: Assignment) -> None:
        self.assigned.append((path, assignment))
        if assignment.skip is not None:
            self.skipped[assignment.skip] += 1
            return
        name = assignment.session_id
        session = self.sessions.setdefault(name, Session(self.agent, name))
        key = assignment.record_id if assignment.record_id is not None else len(self.assigned)
        event = event_id(self.agent, name or path, key)
        session.fed.append((record, message_id(event)))


def play(
    agent: str,
    laid: Iterable[tuple[str, bytes]],
    *,
    resume: bool = False,
    change: Change | None = None,
    whole: bool = False,
) -> Play:
    """Assigns all records; with `resume` each by a new assigner, as after a stop; with `change`
    each JSON record of a source exchanged for what it makes of it; with `whole` large strings stay
    in their records, as a switch reads them."""
    spec = spec_of(agent)
    contents = dict(laid)
    result = Play(agent)
    for path, data in contents.items():
        facts = spec.classify(PurePosixPath(path))
        if facts is None:
            continue
        assigner = spec.assigner(facts, None)
        for start, line in _records(facts, data, change):
            record, assignment = _assign(agent, assigner, path, start, line, contents, whole=whole)
            result.take(path, record, assignment)
            state = json.dumps(assigner.state())
            result.state_bytes = max(result.state_bytes, len(state))
            if resume:
                assigner = spec.assigner(facts, json.loads(state))
    return result


def _assign(
    agent: str,
    assigner: Assigner,
    path: str,
    start: int,
    line: bytes,
    contents: Mapping[str, bytes],
    *,
    whole: bool,
) -> tuple[MaskedRecord, Assignment]:
    source = f"{ROOT}/{path}"
    record = minted(line, agent=agent, source=source, start=start, whole=whole)
    assignment = assigner.assign(record)
    met = {need.name: data for need in assignment.needs if (data := _met(need, path, contents))}
    if not met:
        return record, assignment
    record = minted(line, agent=agent, source=source, start=start, companions=met, whole=whole)
    return record, assigner.assign(record)


def _met(need: Need, path: str, contents: Mapping[str, bytes]) -> bytes | None:
    """The file that a need means, as `capture.places.fetch_need` finds it below `ROOT`."""
    folder = posixpath.dirname(f"{ROOT}/{path}")
    wanted = PurePosixPath(need.path)
    names = [posixpath.join(folder, need.path)]
    if wanted.is_absolute():
        names += [posixpath.join(folder, *wanted.parts[-count:]) for count in (1, 2, 3, 4)]
    found = next((contents[name] for name in map(_below_root, names) if name in contents), None)
    if found is None:
        return None
    end = None if need.length is None else need.start + need.length
    return found[need.start : end]


def _below_root(path: str) -> str:
    """Relative to `ROOT`, `..` resolved; "" for what lies elsewhere."""
    real = posixpath.normpath(path)
    return real[len(ROOT) + 1 :] if real.startswith(f"{ROOT}/") else ""


def _records(facts: SourceFacts, data: bytes, change: Change | None) -> Iterator[tuple[int, bytes]]:
    """(start, bytes) of a source's records, cut as `formats.spec` says of its engine."""
    if facts.engine is Engine.DATABASE:
        return enumerate(_changed_rows(_rows(facts, data), change))
    if facts.engine is Engine.DOCUMENT:
        return enumerate(_elements(facts, data if change is None else _edited(facts, data, change)))
    if facts.engine is Engine.COMPRESSED_LOG:
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    if change is not None:
        natives = [new for _, line in _lines(data) for new in change(json.loads(line))]
        data = b"".join(json.dumps(native).encode() + b"\n" for native in natives)
    return _lines(data)


def holds_records(facts: SourceFacts) -> bool:
    """Whether a source is cut into JSON records; a legacy transcript is one text."""
    return facts.engine is not Engine.DOCUMENT or facts.document is not None


def _edited(facts: SourceFacts, data: bytes, change: Change) -> bytes:
    """The document with other elements in its list."""
    shape = facts.document
    if shape is None:
        return data
    whole = json.loads(data)
    if isinstance(whole, list):
        return json.dumps([new for item in whole for new in change(item)]).encode()
    items = [new for item in whole[shape.items] for new in change(item)]
    return json.dumps({**whole, shape.items: items}).encode()


def _changed_rows(rows: Iterator[bytes], change: Change | None) -> Iterator[bytes]:
    """A row that was not there has a key of its own, a new name or a place after all others."""
    for row in rows:
        native = json.loads(row)
        if change is None or not isinstance(native["value"], dict):
            yield row
            continue
        for number, value in enumerate(change(native["value"])):
            place, slash, rest = native["key"].partition("/")
            key = f"{place}-future{number}{slash}{rest}" if number else native["key"]
            yield json.dumps({**native, "key": key, "value": value}).encode()


def _lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    start = 0
    for line in data.split(b"\n"):
        if line.strip():
            yield start, line
        start += len(line) + 1


def _elements(facts: SourceFacts, data: bytes) -> Iterator[bytes]:
    try:
        whole = json.loads(data)
    except ValueError:
        whole = None
    shape = facts.document
    items = whole.get(shape.items) if shape is not None and isinstance(whole, dict) else None
    if shape is None or not isinstance(items, list):
        yield data
        return
    ids = [item.get(shape.item_id) if isinstance(item, dict) else None for item in items]
    yield json.dumps({**whole, shape.items: ids}).encode()
    yield from (json.dumps(item).encode() for item in items)


def _rows(facts: SourceFacts, data: bytes) -> Iterator[bytes]:
    """The records of a database, as capture makes them."""
    with closing(sqlite3.connect(":memory:")) as database:
        # A database in WAL mode cannot lie in memory: its header says so in two bytes.
        database.deserialize(data[:18] + b"\1\1" + data[20:])
        database.text_factory = bytes
        yield from (record for _, record in whole_rows(database, facts.queries))
