"""Any order and any mixture of odd records: never an error, always the same count."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oddities import odd_records
from recordings import minted

from ultracontext.agents.gemini import SPEC
from ultracontext.agents.gemini.lineage import relate
from ultracontext.model import Message, MessageId

PATHS = (
    "tmp/app/chats/session-1.jsonl",
    "tmp/app/chats/session-1.json",
    "tmp/app/chats/parent/agent.jsonl",
    "tmp/app/checkpoint-t.json",
)


def pool(lab: Any) -> list[dict[str, Any]]:
    part = {"functionCall": {"id": "c1", "name": "shell", "args": {}}}
    packed = [lab.user("s", "<state_snapshot>"), lab.gemini("t", "Got it."), lab.user("n", "q")]
    thought = {"subject": "s", "description": "d", "timestamp": "2026-01-02T03:04:05.000Z"}
    return [
        lab.meta(), lab.meta(messages=["u1", None]), lab.meta(messages=[lab.user("u1", "q")]),
        lab.user("u1", [{"text": "q"}], displayContent=[{"text": "d"}]), lab.user("n", "q"),
        lab.gemini("g1", "a", thoughts=[thought], tokens={"input": 1}, model="m"),
        lab.gemini("g1", [part], toolCalls=[lab.call()]), lab.user("u2", [lab.response()]),
        lab.snapshot(lab.context(), lab.user("u1", "q"), lab.gemini("g1", "b")),
        lab.snapshot(*packed), {"$rewindTo": "u1"}, {"$set": {"lastUpdated": "x"}},
        {"history": [{"role": "user", "parts": [{"text": "q"}]}]}, {"history": [None]},
        {"role": "model", "parts": [part]}, {"id": "i", "type": "info", "content": ""},
    ]  # fmt: skip


@pytest.mark.timeout(120)
@pytest.mark.parametrize("path", PATHS)
def test_any_mixture_reads(lab: Any, path: str) -> None:
    natives = pool(lab)

    @settings(
        max_examples=120, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(st.lists(odd_records(natives) | st.sampled_from(natives), min_size=1, max_size=12))
    def check(odd: list[dict[str, Any]]) -> None:
        facts = SPEC.classify(PurePosixPath(path))
        assert facts is not None
        reader, assigner = SPEC.reader("checkpoint"), SPEC.assigner(facts, None)
        messages: list[Message] = []
        records = []
        for place, native in enumerate(odd):
            record = minted(native, agent="gemini", source=f"/root/{path}", start=place)
            records.append(record)
            assigner.assign(record)
            messages += reader.feed(record, MessageId(f"msg_{place:024}"))
            settled = reader.settle(messages)
            shown = sum(message.kind != "meta" for message in settled)
            assert reader.facts().messages == shown
            assert len({message.id for message in settled}) == len(settled)
        assert SPEC.assigner(facts, assigner.state()).state() == assigner.state()
        relate(records, records)

    check()
