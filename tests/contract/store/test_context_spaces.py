"""Two spaces are blind to each other on every call, ids guessed or leaked included."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from itertools import count
from typing import Any

import pytest
from context_writer import START, Writer, message, to
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ultracontext.errors import SourceNotFoundError, StoreError
from ultracontext.model import ContextId
from ultracontext.store import ContextStore, Fork, SpaceStore, Store, Tombstone, Update

IDS = [ContextId(f"ctx_{number:024x}") for number in range(3)]


@pytest.fixture
def both(openings: Callable[[], Store]) -> tuple[SpaceStore, SpaceStore]:
    store = openings()
    return store.within("one"), store.within("two")


def test_fork_source_is_looked_up_in_the_own_space(both: tuple[SpaceStore, SpaceStore]) -> None:
    one, two = map(Writer, both)
    name = one.conversation("secret", metadata={"k": "v"})
    for where in ({}, {"version": 0}, {"at": 0}, {"before": START}, {"at": 99}, {"version": 99}):
        with pytest.raises(SourceNotFoundError):
            two.fork(name, **where)
    assert two.space.list_contexts().contexts == []


def calls(space: ContextStore, name: ContextId, message_id: Any, now: datetime) -> dict[str, Any]:
    """Every call of the surface that names a context."""
    return {
        "create": lambda: space.create(origin=Fork(source=name), now=now),
        "append_messages": lambda: space.append_messages(name, [message("x")], now=now),
        "read": lambda: list(space.read(name, history=True).messages),
        "edit": lambda: space.edit(name, [to(message_id, "x")], now=now),
        "remove": lambda: space.remove(name, [message_id], now=now),
        "checkpoint": lambda: space.checkpoint(name, now=now),
        "set_metadata": lambda: space.set_metadata(name, {"k": "x"}, now=now),
        "context": lambda: space.context(name),
        "versions": lambda: space.versions(name),
        "diff": lambda: space.diff(name, 0, 0),
        "verify": lambda: space.verify(name),
        "repair": lambda: space.repair(name, now=now),
        "forks": lambda: space.forks(name),
        "wipe": lambda: space.wipe(name, now=now),
        "log": lambda: space.log(name),
    }


UNNAMED = {"list_contexts", "scrub", "tombstone", "tombstones", "bury", "lift"}


def test_no_call_finds_a_context_of_another_space(both: tuple[SpaceStore, SpaceStore]) -> None:
    one, two = map(Writer, both)
    name = one.conversation("secret", metadata={"k": "v"})
    (stored,) = one.messages(name)
    surface = calls(two.space, name, stored.message_id, START)
    offered = {n for n in vars(ContextStore) if not n.startswith("_")}
    assert surface.keys() | UNNAMED == offered
    for call, run in surface.items():
        with pytest.raises(StoreError) as caught:
            run()
        assert caught.value.code in ("not-found", "source-not-found"), call
    assert two.space.list_contexts(filters={"k": "v"}).contexts == []
    assert two.space.tombstone(name) is None
    assert not two.space.lift(name, now=START)
    assert one.texts(name) == ["secret"]
    own = two.conversation("own")
    with pytest.raises(StoreError):
        two.say(own, stored.message_id, "x")
    with pytest.raises(StoreError):
        two.remove(own, stored.message_id)


ROUND = count()
steps = st.lists(
    st.tuples(
        st.integers(0, 1),
        st.sampled_from([
            "create", "append", "named", "edit", "remove", "checkpoint", "metadata", "fork",
            "operation", "wipe", "bury", "lift",
        ]),
        st.sampled_from(IDS),
        st.integers(-1, 3),
    ),
    max_size=16,
)  # fmt: skip


def do(writer: Writer, step: str, name: ContextId, number: int) -> object:
    now, space = writer.tick(), writer.space
    named = message("x", message_id=f"msg_{number & 3:024x}", event_id=str(number))
    change = Update(index=number, changes=b'{"e":1}')
    todo: dict[str, Callable[[], object]] = {
        "create": lambda: space.create(name, metadata={"n": number}, now=now).duplicate,
        "append": lambda: space.append_messages(name, [message("x")], now=now).version,
        "named": lambda: space.append_messages(name, [named], now=now).messages[0].duplicate,
        "edit": lambda: space.edit(name, [change], now=now).version,
        "remove": lambda: space.remove(name, [number], now=now).version,
        "checkpoint": lambda: space.checkpoint(name, expected_version=number & 3, now=now).version,
        "metadata": lambda: space.set_metadata(name, {"n": number}, now=now).version,
        "fork": lambda: space.create(IDS[number % 3], origin=Fork(source=name), now=now).duplicate,
        "operation": lambda: space.checkpoint(name, operation_id=str(number), now=now).version,
        "bury": lambda: space.bury(Tombstone(context_id=name, wiped_at=now, reason="import")),
        "lift": lambda: space.lift(name, now=now),
        "wipe": lambda: space.wipe(name, forks=number > 1, now=now).contexts,
    }
    return todo[step]()


def view(space: SpaceStore) -> object:
    """Everything that can be seen in a space, made ids left out."""
    seen: list[Any] = [space.tombstones()]
    for info in space.list_contexts(limit=100).contexts:
        reading = space.read(info.context_id)
        messages = [(m.content, m.metadata, m.created_at, m.index) for m in reading.messages]
        log = [(e.operation, e.at, e.messages, e.affected) for e in space.log(info.context_id)]
        seen.append((info, messages, log, space.verify(info.context_id).sound))
    return seen


def outcome(writer: Writer, step: str, name: ContextId, number: int) -> object:
    try:
        return do(writer, step, name, number)
    except StoreError as error:
        return type(error).__name__, error.code


@settings(
    max_examples=int(os.environ.get("UC_EXAMPLES", "40")), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(steps)
def test_a_space_looks_as_if_it_were_alone(
    openings: Callable[[], Store], taken: list[tuple[int, str, ContextId, int]]
) -> None:
    """What happens in one of two spaces, and in the same space of a store without the other."""
    store, number = openings(), next(ROUND)
    together = [Writer(store.within(f"{side}-{number}")) for side in "ab"]
    alone = Writer(store.within(f"alone-{number}"))
    for side, step, name, index in taken:
        together[1].seconds = together[0].seconds
        found = outcome(together[side], step, name, index)
        if side == 0:
            alone.seconds = together[0].seconds - 1
            assert outcome(alone, step, name, index) == found
        together[0].seconds = max(writer.seconds for writer in together)
    assert view(together[0].space) == view(alone.space)
