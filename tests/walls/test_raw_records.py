"""Wall 1 from the outside: readers, assigners and stores take nothing but masked records."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ultracontext.agents import known
from ultracontext.formats import Engine, SourceFacts
from ultracontext.model import EventId, MessageId, RawRecord
from ultracontext.redaction import MaskedRecord
from ultracontext.store import CaptureBatch, Event, open_store

KEY = "ghp_" + "N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"
RAW: Any = RawRecord(
    agent="claude",
    source="/x/s.jsonl",
    start=0,
    end=10,
    data=b'{"type":"user","uuid":"u","message":{"role":"user","content":"' + KEY.encode() + b'"}}',
)
FORGED: Any = object.__new__(MaskedRecord)


@pytest.mark.parametrize("slug", sorted(known()))
@pytest.mark.parametrize("record", [RAW, FORGED], ids=["raw", "forged"])
def test_reader_and_assigner_take_nothing_of_a_raw_record(slug: str, record: Any) -> None:
    spec = known()[slug]
    with pytest.raises((TypeError, AttributeError)) as caught:
        spec.reader("s").feed(record, MessageId("msg_" + "0" * 24))
    assert KEY not in str(caught.value)
    assigner = spec.assigner(SourceFacts(engine=Engine.APPEND_LOG), None)
    try:
        answer = repr(assigner.assign(record))
    except (TypeError, AttributeError):
        answer = ""
    assert KEY not in answer


@pytest.mark.parametrize("url", ["sqlite", "memory"])
@pytest.mark.parametrize("record", [RAW, FORGED], ids=["raw", "forged"])
def test_store_refuses_what_is_not_masked(url: str, record: Any, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = open_store(path if url == "sqlite" else "memory://", migrate=True)
    space = store.within("local")
    event = Event(
        event_id=EventId(b"0" * 16), session_id="s", record=record, source_id=1, ordinal=0
    )
    batch = CaptureBatch(events=[event], checkpoints=[], facts=[])
    with pytest.raises((TypeError, AttributeError)) as caught:
        space.append(batch, now=datetime(2026, 11, 30, tzinfo=UTC))
    assert KEY not in str(caught.value)
    assert space.contexts(limit=0) == []
    store.close()
    assert all(KEY.encode() not in p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
