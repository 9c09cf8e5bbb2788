"""A chain that was tampered with is an error, never a plausible order."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from context_writer import Writer, to
from tampering import Tampering, tampering

from ultracontext.errors import BrokenChainError
from ultracontext.model import ContextId
from ultracontext.store import Gap


@pytest.fixture
def name(writer: Writer) -> ContextId:
    """Eight messages; 2 edited twice, 5 removed; two more behind."""
    name = writer.create(metadata={"a": 1})
    writer.append(name, *"abcdefgh")
    writer.edit(name, to(2, "C"), to(6, "G"))
    writer.say(name, 2, "CC")
    writer.remove(name, 5)
    writer.append(name, "i", "j")
    writer.checkpoint(name, metadata={"why": 1})
    return name


def test_untouched_chain_is_sound(writer: Writer, name: ContextId) -> None:
    found = writer.space.verify(name)
    assert (found.sound, found.first_break, found.versions, found.rows) == (True, None, 5, 13)


TAMPERS: list[tuple[str, Callable[[Tampering], Any], int, str]] = [
    ("content", lambda t: t.content(3, 4), 3, "content"),
    ("first", lambda t: t.content(0, 4), 0, "content"),
    ("drop", lambda t: t.drop(4), 4, "missing"),
    ("drop-first", lambda t: t.drop(0), 0, "missing"),
    ("drop-last", lambda t: t.drop(9), 9, "missing"),
    ("swap", lambda t: t.swap(3, 4), 3, "content"),
    ("link", lambda t: t.link(7), 7, "content"),
    ("hide", lambda t: t.hide(7, 3), 7, "version"),
    ("show", lambda t: t.hide(5, None), 5, "version"),
    ("head", lambda t: t.head(4), 10, "head"),
]


@pytest.mark.parametrize(("tamper", "position", "reason"), [t[1:] for t in TAMPERS],
                         ids=[t[0] for t in TAMPERS])  # fmt: skip
def test_verify_names_the_first_break(
    writer: Writer, name: ContextId, tamper: Callable[[Tampering], Any], position: int, reason: str
) -> None:
    tamper(tampering(writer.space, name))
    found = writer.space.verify(name)
    assert not found.sound
    assert found.first_break is not None
    assert (found.first_break.first, found.first_break.reason) == (position, reason)


@pytest.mark.parametrize("tamper", [t[1] for t in TAMPERS[:9]], ids=[t[0] for t in TAMPERS[:9]])
def test_reader_of_the_whole_gets_an_error(
    writer: Writer, name: ContextId, tamper: Callable[[Tampering], Any]
) -> None:
    tamper(tampering(writer.space, name))
    with pytest.raises(BrokenChainError) as caught:
        writer.texts(name)
    assert caught.value.context_id == name
    for word in ("a", "CC", "G"):
        assert f" {word} " not in str(caught.value)


def test_window_beside_the_break_is_given(writer: Writer, name: ContextId) -> None:
    tampering(writer.space, name).content(7, 4)
    assert writer.texts(name, at=4) == ["a", "b", "CC", "d", "e"]
    with pytest.raises(BrokenChainError):
        writer.texts(name, last=3)


def test_salvage_gives_the_sound_runs_with_the_gaps_named(writer: Writer, name: ContextId) -> None:
    tamper = tampering(writer.space, name)
    tamper.content(3, 4)
    tamper.drop(7)
    reading = writer.space.read(name, salvage=True)
    found = [json.loads(m.content)["content"] for m in reading.messages]
    assert found == ["a", "b", "CC", "e", "G", "i", "j"]
    assert reading.gaps == [
        Gap(first=3, last=3, reason="content"), Gap(first=7, last=7, reason="missing"),
    ]  # fmt: skip


def test_salvage_of_a_sound_chain_is_everything(writer: Writer, name: ContextId) -> None:
    reading = writer.space.read(name, salvage=True)
    assert [json.loads(m.content)["content"] for m in reading.messages] == writer.texts(name)
    assert reading.gaps == []


@pytest.mark.parametrize("tamper", [t[1] for t in TAMPERS[:8]], ids=[t[0] for t in TAMPERS[:8]])
def test_repair_closes_the_gap_with_a_marked_version(
    writer: Writer, name: ContextId, tamper: Callable[[Tampering], Any]
) -> None:
    tamper(tampering(writer.space, name))
    reading = writer.space.read(name, salvage=True)
    sound = [json.loads(m.content)["content"] for m in reading.messages]
    repaired = writer.space.repair(name, now=writer.tick())
    assert repaired.sound, repaired
    assert repaired.repaired
    assert writer.texts(name) == sound
    assert writer.space.versions(name)[-1].repair
    assert writer.space.log(name)[-1].operation == "repair"
    writer.append(name, "later")
    writer.say(name, 0, "new")
    assert writer.texts(name) == ["new", *sound[1:], "later"]
    assert writer.space.verify(name).sound


def test_repair_of_a_sound_chain_changes_nothing(writer: Writer, name: ContextId) -> None:
    before = writer.space.versions(name)
    assert writer.space.repair(name, now=writer.tick()).sound
    assert writer.space.versions(name) == before


def test_later_damage_is_found_behind_a_repair(writer: Writer, name: ContextId) -> None:
    tampering(writer.space, name).content(3, 4)
    writer.space.repair(name, now=writer.tick())
    tampering(writer.space, name).content(8, 9)
    found = writer.space.verify(name)
    assert found.first_break == Gap(first=8, last=8, reason="content")
    with pytest.raises(BrokenChainError):
        writer.texts(name)


def test_fork_does_not_inherit_a_break_unseen(writer: Writer, name: ContextId) -> None:
    tampering(writer.space, name).content(3, 4)
    fork = writer.fork(name)
    with pytest.raises(BrokenChainError):
        writer.texts(fork)
    assert not writer.space.verify(fork).sound


@pytest.mark.parametrize("tamper", [t[1] for t in TAMPERS[:6]], ids=[t[0] for t in TAMPERS[:6]])
def test_copies_in_a_fork_are_sealed(
    writer: Writer, name: ContextId, tamper: Callable[[Tampering], Any]
) -> None:
    writer.append(name, "k")
    fork = writer.fork(name)
    writer.append(fork, "z")
    assert writer.space.verify(fork).sound
    tamper(tampering(writer.space, fork))
    assert not writer.space.verify(fork).sound
