"""A SQLite store in a temporary folder, and events to put into it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ultracontext.model import RawRecord, event_id
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.store import CaptureBatch, Event, SpaceStore
from ultracontext.store.sqlite import SqliteStore, open_sqlite

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return load_redactor(b"a secret of the tests")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = open_sqlite(tmp_path / "home" / "store.db", write=True, migrate=True)
    yield opened
    opened.close()


class Maker:
    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.now = NOW

    def event(
        self, ordinal: int, session: str = "s1", agent: str = "claude", **fields: Any
    ) -> Event:
        data = fields.pop("data", b'{"type":"user","n":%d}' % ordinal)
        raw = RawRecord(
            agent=agent, source="/x", start=ordinal * 10, end=ordinal * 10 + 9, data=data
        )
        name = event_id(agent, session, ordinal)
        revision = fields.get("revision", 0)
        return Event(
            event_id=event_id(agent, session, ordinal, revision),
            session_id=session,
            record=self.redactor.redact(raw),
            source_id=1,
            ordinal=ordinal,
            first=name if revision else None,
            **fields,
        )

    def append(self, space: SpaceStore, *events: Event, **parts: Any) -> None:
        facts, checkpoints = parts.get("facts", []), parts.get("checkpoints", [])
        batch = CaptureBatch(events=list(events), checkpoints=checkpoints, facts=facts)
        space.append(batch, now=NOW)


@pytest.fixture
def make(redactor: Redactor) -> Maker:
    return Maker(redactor)
