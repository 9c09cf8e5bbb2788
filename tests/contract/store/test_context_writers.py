"""Many writers of one context: nothing acknowledged is lost, and the order is total."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from context_writer import message, to

from ultracontext.errors import VersionConflictError
from ultracontext.model import ContextId
from ultracontext.store import Fork, SpaceStore, Store

WRITERS = 64
PROGRAMS = 3
NAME = ContextId("ctx_" + "a" * 24)


def now() -> datetime:
    return datetime.now(UTC)


def at_once(work: Callable[[int], Any], numbers: Iterable[int]) -> list[Any]:
    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(work, numbers, timeout=100))


@pytest.fixture
def programs(openings: Callable[[], Store]) -> list[SpaceStore]:
    """The same space, opened by several programs."""
    return [openings().within("local") for _ in range(PROGRAMS)]


@pytest.mark.timeout(150)
def test_every_acknowledged_write_is_there(programs: list[SpaceStore]) -> None:
    first = programs[0]
    first.create(NAME, now=now())
    first.append_messages(NAME, [message(f"start {n}") for n in range(WRITERS)], now=now())
    start = [m.message_id for m in first.read(NAME).messages]

    def write(number: int) -> Any:
        space = programs[number % PROGRAMS]
        match number % 4:
            case 0 | 1:
                made = space.append_messages(NAME, [message(f"appended {number}")], now=now())
                return made.messages[0].message.message_id
            case 2:
                space.edit(NAME, [to(start[number], f"edited {number}")], now=now())
            case _:
                space.remove(NAME, [start[number]], now=now())
        fork = space.create(origin=Fork(source=NAME, at=0), now=now())
        space.append_messages(fork.context_id, [message("own")], now=now())
        return fork.context_id

    answers = at_once(write, range(WRITERS))
    found = list(first.read(NAME).messages)
    texts = [json.loads(m.content)["content"] for m in found]
    appended = [a for a in answers if a.startswith("msg_")]
    assert sorted(m.message_id for m in found if m.message_id in set(appended)) == sorted(appended)
    for number in range(WRITERS):
        expected = {0: True, 1: True, 2: False, 3: False}[number % 4]
        assert (f"start {number}" in texts) == expected
        assert (f"edited {number}" in texts) == (number % 4 == 2)
    assert len(texts) == WRITERS - WRITERS // 4 + WRITERS // 2
    versions = first.versions(NAME)
    assert [v.version for v in versions] == list(range(WRITERS // 2 + 1))
    assert first.verify(NAME).sound
    for answer in answers:
        if answer.startswith("ctx_"):
            assert first.context(ContextId(answer)).messages == 2


@pytest.mark.timeout(150)
def test_one_of_those_that_expect_a_version_wins(programs: list[SpaceStore]) -> None:
    programs[0].create(NAME, now=now())
    programs[0].append_messages(NAME, [message("a")], now=now())

    def write(number: int) -> int:
        try:
            programs[number % PROGRAMS].edit(
                NAME, [to(0, str(number))], expected_version=0, now=now()
            )
        except VersionConflictError as error:
            return error.version
        return 0

    seen = at_once(write, range(16))
    assert sorted(seen) == [0] + [1] * 15
    (found,) = programs[0].read(NAME).messages
    assert json.loads(found.content)["content"] == str(seen.index(0))


@pytest.mark.timeout(150)
def test_the_same_write_at_once_is_done_once(programs: list[SpaceStore]) -> None:
    made = at_once(lambda n: programs[n % PROGRAMS].create(NAME, now=now()), range(12))
    assert sum(not m.duplicate for m in made) == 1

    def write(number: int) -> int:
        space = programs[number % PROGRAMS]
        return space.append_messages(
            NAME, [message("a", event_id="e")], operation_id=None, now=now()
        ).messages[0].duplicate  # fmt: skip

    assert sum(not duplicate for duplicate in at_once(write, range(12))) == 1
    forks = at_once(
        lambda n: programs[n % PROGRAMS].create(
            origin=Fork(source=NAME), operation_id="op", now=now()
        ),
        range(12),
    )
    assert len({fork.context_id for fork in forks}) == 1


@pytest.mark.full
@pytest.mark.timeout(150)
@pytest.mark.parametrize("openings", ["postgres-serializable"], indirect=True)
def test_serialization_failures_are_run_again(openings: Callable[[], Store]) -> None:
    stores: list[Any] = [openings() for _ in range(6)]
    spaces = [store.within("local") for store in stores]
    spaces[0].create(NAME, now=now())
    at_once(
        lambda n: spaces[n % 6].append_messages(NAME, [message(str(n))], now=now()), range(WRITERS)
    )
    assert sum(store._server.retries for store in stores) > 0
    texts = [json.loads(m.content)["content"] for m in spaces[0].read(NAME).messages]
    assert sorted(texts, key=int) == [str(n) for n in range(WRITERS)]
