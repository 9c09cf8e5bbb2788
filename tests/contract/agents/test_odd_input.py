"""A reader and an assigner never raise, whatever JSON comes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oddities import odd_records
from recordings import files, minted, play, recordings, spec_of

from ultracontext.formats import SourceFacts
from ultracontext.model import Message, MessageId

LONELY = [
    "null",
    "[]",
    "[[]]",
    "7",
    '"x"',
    "{}",
    '{"type":null}',
    '{"type":[]}',
    '{"type":{}}',
    "{{{",
    "",
]


def natives(agent: str) -> Iterator[dict[str, object]]:
    """One record of each shape that an agent's recordings hold."""
    shapes = set()
    for name in recordings(agent):
        for session in play(agent, files(agent, name)).sessions.values():
            for record in session.records:
                if isinstance(record.native, dict) and len(record.body) < 4000:
                    shape = (str(record.native.get("type")), *sorted(record.native))
                    if shape not in shapes:
                        shapes.add(shape)
                        yield record.native


@pytest.mark.timeout(120)
def test_mutated_records_never_raise(agent: str) -> None:
    spec = spec_of(agent)
    pool = list(natives(agent))

    @settings(
        max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
    )
    @given(st.lists(odd_records(pool), min_size=1, max_size=6))
    def check(odd: list[dict[str, object]]) -> None:
        reader = spec.reader("session")
        assigner = spec.assigner(_facts(agent), None)
        messages: list[Message] = []
        for place, native in enumerate(odd):
            record = minted(native, agent=agent, start=place)
            assigner.assign(record)
            messages += reader.feed(record, MessageId(f"msg_{place:024}"))
        assigner.state()
        settled = reader.settle(messages)
        assert reader.facts().messages == sum(message.kind != "meta" for message in settled)
        assert all(type(message.text) is str for message in settled)

    check()


@pytest.mark.parametrize("text", LONELY)
def test_what_is_no_record_is_meta(agent: str, text: str) -> None:
    spec = spec_of(agent)
    record = minted(text.encode(), agent=agent)
    spec.assigner(_facts(agent), None).assign(record)
    found = spec.reader("session").feed(record, MessageId("msg_1"))
    assert {message.kind for message in found} <= {"meta"}


def test_a_record_that_was_too_large_is_never_typed_or_answered(agent: str) -> None:
    record = minted(b"", agent=agent, too_large=(1 << 30, "00" * 16))
    reader = spec_of(agent).reader("session")
    found = reader.feed(record, MessageId("msg_1"))
    assert {message.kind for message in found} <= {"meta", "system"}
    assert reader.facts().messages == sum(message.kind != "meta" for message in found)


def _facts(agent: str) -> SourceFacts:
    paths = (path for name in recordings(agent) for path, _ in files(agent, name))
    found = (spec_of(agent).classify(PurePosixPath(path)) for path in paths)
    return next(facts for facts in found if facts is not None)
