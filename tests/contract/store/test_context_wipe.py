"""The end of a context: forks keep what they show, a tombstone stays, nothing dangles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from context_writer import Writer, message

from ultracontext.errors import ConflictError, NotFoundError
from ultracontext.model import ContextId
from ultracontext.store import Store, Tombstone


def test_is_gone_from_everything_but_the_log(writer: Writer) -> None:
    name = writer.conversation("a", metadata={"k": "v"})
    writer.say(name, 0, "b")
    done = writer.wipe(name, reason="forget", metadata={"why": "\ud800"})
    assert done.contexts == [name]
    for call in (writer.space.read, writer.space.context, writer.space.versions):
        with pytest.raises(NotFoundError):
            call(name)
    assert writer.space.list_contexts().contexts == []
    assert writer.space.list_contexts(filters={"k": "v"}).contexts == []
    (entry,) = writer.space.log(name)
    assert (entry.operation, entry.at, entry.metadata) == ("wipe", writer.now, {"why": "\ud800"})
    assert writer.space.tombstone(name) == Tombstone(
        context_id=name, wiped_at=writer.now, reason="forget", metadata={"why": "\ud800"},
        versions=2, messages=1,
    )  # fmt: skip
    with pytest.raises(NotFoundError):
        writer.wipe(name)


def test_its_id_is_not_given_again(writer: Writer) -> None:
    name = writer.create(ContextId("ctx_" + "1" * 24))
    writer.wipe(name)
    with pytest.raises(ConflictError) as caught:
        writer.create(name)
    assert caught.value.code == "wiped"


def test_forks_stay_readable_with_the_tombstone_as_their_origin(writer: Writer) -> None:
    name = writer.create()
    writer.append(name, *[f"message {n} " + "x" * 400 for n in range(300)])
    before = writer.texts(name)
    whole, part = writer.fork(name), writer.fork(name, at=2)
    grand = writer.fork(whole, at=10)
    writer.append(part, "own")
    done = writer.wipe(name)
    assert [info.context_id for info in done.kept_forks] == [whole, part, grand]
    assert writer.texts(whole) == before
    assert writer.texts(part) == [*before[:3], "own"]
    assert writer.texts(grand) == before[:11]
    info = writer.space.context(part)
    assert info.origin is not None
    assert (info.origin.source, info.origin_wiped) == (name, True)
    assert [i.context_id for i in writer.space.forks(name)] == [whole, part, grand]
    for fork in (whole, part, grand):
        assert writer.space.verify(fork).sound


def test_bodies_go_on_through_wipes_of_the_forks_too(writer: Writer) -> None:
    name = writer.conversation("a", "b", "c")
    one = writer.fork(name)
    two = writer.fork(name)
    three = writer.fork(one)
    writer.say(one, 0, "A")
    writer.wipe(name)
    writer.wipe(one)
    assert writer.texts(two) == writer.texts(three) == ["a", "b", "c"]
    assert [i.context_id for i in writer.space.forks(name)] == [two, three]
    writer.wipe(three)
    assert writer.texts(two) == ["a", "b", "c"]
    assert writer.space.verify(two).sound


def test_forks_go_along_when_asked(writer: Writer) -> None:
    name, other = writer.conversation("a"), writer.conversation("b")
    one = writer.fork(name)
    two = writer.fork(one)
    done = writer.wipe(name, forks=True)
    assert done.contexts == [name, one, two]
    assert done.kept_forks == []
    assert [i.context_id for i in writer.space.list_contexts().contexts] == [other]
    assert {t.context_id for t in writer.space.tombstones()} == {name, one, two}
    assert writer.space.tombstone(two).origin == one  # type: ignore[union-attr]


def test_message_ids_are_free_again(writer: Writer) -> None:
    name = writer.create()
    writer.append(name, "a")
    (stored,) = writer.messages(name)
    writer.wipe(name)
    other = writer.create()
    made = writer.append(other, message("b", message_id=stored.message_id))
    assert not made.messages[0].duplicate


def test_tombstone_is_put_and_lifted_without_a_wipe(writer: Writer) -> None:
    name = ContextId("ctx_" + "2" * 24)
    stone = Tombstone(context_id=name, wiped_at=writer.tick(), reason="import", agent="a")
    writer.space.bury(stone)
    assert writer.space.tombstone(name) == stone
    assert writer.space.lift(name, now=writer.tick())
    lifted = writer.space.tombstone(name)
    assert lifted is not None
    assert lifted.lifted_at == writer.now
    assert not writer.space.lift(ContextId("ctx_" + "3" * 24), now=writer.tick())


def files_with(folder: Path, texts: list[str]) -> list[str]:
    found = []
    for file in folder.rglob("*"):
        if file.is_file():
            data = file.read_bytes()
            found += [f"{file.name}: {text}" for text in texts if text.encode() in data]
    return found


@pytest.mark.parametrize("openings", ["sqlite"], indirect=True)
@pytest.mark.parametrize("size", [4, 40, 4000, 300_000])
def test_no_byte_of_the_text_is_left_in_any_file(
    openings: Callable[[], Store], tmp_path: Path, size: int
) -> None:
    """Short bodies stand uncompressed in their blocks, so that a search finds them."""
    store = openings()
    writer = Writer(store.within("local"))
    name = writer.create(metadata={"marker": "MARKER-META"})
    markers = [f"MARKER-{n:03}" for n in range(100)]
    for number, marker in enumerate(markers):
        body = f'{{"x":"{marker}{"y" * size if number % 20 == 0 else ""}"}}'
        writer.append(name, message(body.encode()))
        if number % 10 == 0:
            writer.say(name, number, f"MARKER-EDIT-{number}")
    kept = writer.conversation("KEPT-TEXT")
    store.maintain()
    assert files_with(tmp_path, ["MARKER-001", "MARKER-META"])
    writer.wipe(name)
    assert files_with(tmp_path, ["MARKER-"]) == []
    assert writer.texts(kept) == ["KEPT-TEXT"]


@pytest.mark.parametrize("openings", ["sqlite"], indirect=True)
def test_what_no_fork_shows_goes_although_it_lay_beside(
    openings: Callable[[], Store], tmp_path: Path
) -> None:
    writer = Writer(openings().within("local"))
    name = writer.create()
    writer.append(name, *[message(f'{{"x":"MARKER-{n}"}}'.encode()) for n in range(3)])
    fork = writer.fork(name, at=0)
    writer.wipe(name)
    assert [m.content for m in writer.messages(fork)] == [b'{"x":"MARKER-0"}']
    writer.remove(fork, 0)
    writer.wipe(fork)
    assert files_with(tmp_path, ["MARKER-"]) == []
