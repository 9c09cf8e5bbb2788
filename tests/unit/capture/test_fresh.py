"""Which ids the store need not be asked for."""

from __future__ import annotations

from capture_lab import Lab

from ultracontext.capture import fresh
from ultracontext.capture.fresh import Fresh
from ultracontext.model import EventId, event_id


class Known:
    """A store, as far as it is asked."""

    def __init__(self, *heads: bytes) -> None:
        self.heads = heads
        self.asked = 0

    def knows_any(self, head: bytes) -> bool:
        self.asked += 1
        return head in self.heads


def name(number: int, session: str = "s") -> EventId:
    return event_id("toy", session, number)


def test_a_session_that_the_store_does_not_know() -> None:
    store = Known()
    mine = Fresh(store)  # type: ignore[arg-type]
    assert mine.is_new(("toy", "s"), name(1), ())
    mine.add(("toy", "s"), name(1))
    mine.add(("toy", "s"), name(1))
    assert not mine.is_new(("toy", "s"), name(1), ())
    assert mine.is_new(("toy", "s"), name(2), ())
    assert store.asked == 1


def test_a_session_that_it_knows_or_is_about_to() -> None:
    mine = Fresh(Known(name(1)[:4]))  # type: ignore[arg-type]
    assert not mine.is_new(("toy", "s"), name(2), ())
    assert not mine.is_new(("toy", "t"), name(2, "t"), {("toy", "t")})
    mine.add(("toy", "s"), name(3))


def test_what_is_remembered_is_bounded(monkeypatch: object) -> None:
    mine = Fresh(Known())  # type: ignore[arg-type]
    for session in ("s", "t"):
        for number in range(fresh.MOST_IDS // 2 + 1):
            mine.is_new(("toy", session), name(number, session), ())
            mine.add(("toy", session), name(number, session))
    assert not mine.is_new(("toy", "s"), name(-1), ())  # looked up like any other
    assert mine.is_new(("toy", "t"), name(-1, "t"), ())
    for number in range(fresh.MOST_SESSIONS + 5):
        mine.is_new(("toy", f"u{number}"), name(0), ())
    assert len(mine._ids) <= fresh.MOST_SESSIONS
    assert mine._count == 0


def test_a_line_that_a_file_repeats_is_a_duplicate(lab: Lab) -> None:
    one = b'{"id":"a","session":"s1","text":"once"}\n'
    lab.write(one * 3)
    first = lab.run()
    assert (first.events, first.duplicates) == (1, 2)
    engine = lab.engine()
    lab.append(one)
    again = engine.run_once()
    assert (again.events, again.duplicates) == (0, 1)
    lab.append(one)
    assert engine.run_once().duplicates == 2
