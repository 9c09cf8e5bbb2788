"""Sessions put together from nodes: masked again, read by today's reader, with their beginnings."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ultracontext.errors import FormatError
from ultracontext.model import Base, Message, RawRecord, SessionFacts
from ultracontext.store import FactsUpdate, SpaceStore
from ultracontext.store.session import (
    NOT_CAPTURED,
    UNREADABLE,
    compute_facts,
    native_records,
    read_session,
    refresh_facts,
)
from ultracontext.store.sqlite import SqliteStore


class Reader:
    """Takes `{"say": text}` and `{"base": [session, end]}`; stumbles over `{"bad": 1}`."""

    def __init__(self) -> None:
        self.said = 0
        self.base: Base | None = None

    def feed(self, record: Any, name: Any) -> list[Message]:
        native = record.native or {}
        if "bad" in native:
            raise RuntimeError("a bug")
        if "base" in native:
            session, end = native["base"]
            self.base = Base(session_id=session, end=end)
            return []
        self.said += 1
        text = record.text if record.text is not None else native.get("say", "")
        return [Message(id=name, role="user", kind="user", event_type="say", text=text)]

    def settle(self, messages: list[Message]) -> list[Message]:
        return messages

    def facts(self) -> SessionFacts:
        return SessionFacts(title="t", messages=self.said, base=self.base)

    def covers(self, record: Any, base: Base) -> bool:
        return bool((record.native or {}).get("ordinal", 0) < base.end)


@pytest.fixture(autouse=True)
def fake_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    def agent(slug: str) -> Any:
        if slug != "fake":
            raise FormatError("unknown agent")
        return SimpleNamespace(slug="fake", reader=lambda session_id: Reader())

    monkeypatch.setattr("ultracontext.agents.agent", agent)


@pytest.fixture
def space(store: SqliteStore) -> SpaceStore:
    return store.within("local")


def say(make: Any, session: str, *texts: str, start: int = 0, **fields: Any) -> list[Any]:
    def data(text: str, i: int) -> bytes:
        return b'{"say":"%s","ordinal":%d}' % (text.encode(), i)

    return [
        make.event(i, session, agent="fake", data=data(text, i), **fields)
        for i, text in enumerate(texts, start)
    ]


def based(make: Any, session: str, on: str, end: int) -> Any:
    return make.event(90, session, agent="fake", data=b'{"base":["%s",%d]}' % (on.encode(), end))


def texts(space: SpaceStore, session: str, redactor: Any) -> list[str]:
    return [m.text for m in read_session(space, space.find(session), redactor).messages]


def test_messages_in_order_with_times_filled_in(
    space: SpaceStore, make: Any, redactor: Any
) -> None:
    make.append(space, *say(make, "plain", "a", time_ms=1000), *say(make, "plain", "b", start=1))
    session = read_session(space, space.find("plain"), redactor)
    assert [m.text for m in session.messages] == ["a", "b"]
    assert [m.timestamp for m in session.messages] == ["1970-01-01T00:00:01.000Z"] * 2
    assert [m.metadata for m in session.messages] == [{}, {"time_inherited": True}]
    assert session.facts.messages == 2


def test_reads_are_masked_under_todays_rules(space: SpaceStore, make: Any, redactor: Any) -> None:
    make.append(space, *say(make, "plain", "a secret word"))

    class Newer:
        rule_set = 99

        def redact(self, raw: RawRecord, *, whole: bool = False) -> Any:
            data = raw.data.replace(b"secret", b"[redacted:word]")
            return redactor.redact(
                RawRecord(
                    agent=raw.agent, source=raw.source, start=raw.start, end=raw.end, data=data
                ),
                whole=whole,
            )

    assert texts(space, "plain", Newer()) == ["a [redacted:word] word"]


def test_masking_again_changes_nothing(space: SpaceStore, make: Any, redactor: Any) -> None:
    key = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
    make.append(space, *say(make, "plain", f"token {key} end"))
    (text,) = texts(space, "plain", redactor)
    assert key not in text
    (node,) = space.nodes(space.find("plain").context_id)
    assert text.encode() in node.body


def test_beginning_in_another_session(space: SpaceStore, make: Any, redactor: Any) -> None:
    make.append(space, *say(make, "grand", "g0", "g1", "g2"))
    make.append(space, based(make, "parent", "grand", 2), *say(make, "parent", "p2", "p3", start=2))
    make.append(space, based(make, "child", "parent", 3), *say(make, "child", "c3", start=3))
    assert texts(space, "parent", redactor) == ["g0", "g1", "p2", "p3"]
    assert texts(space, "child", redactor) == ["g0", "g1", "p2", "c3"]
    row = space.find("child")
    assert row.stale
    assert refresh_facts(space, row, redactor).base == Base(session_id="parent", end=3)
    assert not space.find("child").stale
    assert texts(space, "child", redactor) == ["g0", "g1", "p2", "c3"]


def test_copy_that_went_on_by_itself(space: SpaceStore, make: Any, redactor: Any) -> None:
    make.append(space, *say(make, "native", "a", "b", "c"))
    update = FactsUpdate(
        agent="fake", session_id="native~00ff00ff", facts=None,
        base=Base(session_id="native", end=2, unit="position"),
    )  # fmt: skip
    make.append(space, *say(make, "native~00ff00ff", "d", start=2), facts=[update])
    assert texts(space, "native~00ff00ff", redactor) == ["a", "b", "d"]
    facts = refresh_facts(space, space.find("native~00ff00ff"), redactor)
    assert facts.base == Base(session_id="native", end=2, unit="position")
    assert facts.messages == 3


def test_beginning_that_was_not_captured_is_marked(
    space: SpaceStore, make: Any, redactor: Any
) -> None:
    make.append(space, based(make, "child", "nowhere", 3), *say(make, "child", "c"))
    session = read_session(space, space.find("child"), redactor)
    assert [m.text for m in session.messages] == [NOT_CAPTURED, "c"]
    first = session.messages[0]
    assert (first.role, first.kind, first.metadata) == (
        "system",
        "system",
        {"missing": "beginning"},
    )


def test_circles_end(space: SpaceStore, make: Any, redactor: Any) -> None:
    make.append(space, based(make, "one-x", "two-x", 9), *say(make, "one-x", "1"))
    make.append(space, based(make, "two-x", "one-x", 9), *say(make, "two-x", "2"))
    make.append(space, based(make, "self", "self", 9), *say(make, "self", "s"))
    assert texts(space, "one-x", redactor) == [NOT_CAPTURED, "2", "1"]
    assert texts(space, "self", redactor) == [NOT_CAPTURED, "s"]


def test_readers_bug_hides_one_record_only(space: SpaceStore, make: Any, redactor: Any) -> None:
    bad = make.event(1, "plain", agent="fake", data=b'{"bad":1}')
    make.append(space, *say(make, "plain", "a"), bad, *say(make, "plain", "c", start=2))
    session = read_session(space, space.find("plain"), redactor)
    assert [m.text for m in session.messages] == ["a", UNREADABLE, "c"]
    assert session.messages[1].metadata["error"] == "RuntimeError"


def test_agent_that_is_not_known_here_is_left_opaque(
    space: SpaceStore, make: Any, redactor: Any
) -> None:
    make.append(space, make.event(0, "gone", agent="plugin", data=b'{"x":1}'))
    row = space.find("gone")
    (message,) = read_session(space, row, redactor).messages
    assert (message.kind, message.text) == ("meta", '{"x":1}')
    assert compute_facts(space, row, redactor) == row.facts


def test_raw_gives_native_records(space: SpaceStore, make: Any, redactor: Any) -> None:
    make.append(
        space, *say(make, "plain", "a"), make.event(1, "plain", agent="fake", data=b"no json")
    )
    row = space.find("plain")
    session = read_session(space, row, redactor, raw=True)
    assert session.messages == []
    first, second = session.records
    assert first.native == {"say": "a", "ordinal": 0}
    assert (second.text, second.position) == ("no json", 1)
    assert len(first.event_id) == 32
    assert list(native_records(space, row, redactor)) == session.records
