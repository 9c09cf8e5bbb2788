"""`store prune`: what is chosen, and how far it goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ultracontext.cli.group import UsageError
from ultracontext.cli.workspace import Workspace
from ultracontext.runtime import health
from ultracontext.runtime.retention import Choice, choose, prune

if TYPE_CHECKING:
    from ultracontext.store.base import SpaceStore, Store

MOST_ROUNDS = 10_000
"""Of giving freed pages back, a bounded step each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    older_than: str | None
    project: str | None
    to_mb: int | None


@contextmanager
def opened(place: Workspace) -> Iterator[tuple[Store, SpaceStore]]:
    """The local store, to write, beside a running daemon."""
    from ultracontext import logs
    from ultracontext.store import LOCAL_SPACE, open_local

    logs.adopt_if_loaded()
    store = open_local(place.paths, mode="rw")
    try:
        yield store, store.within(LOCAL_SPACE)
    finally:
        store.close()


def chosen(place: Workspace, space: SpaceStore, wish: Wish) -> Choice:
    from ultracontext.settings import parse_time

    if wish.to_mb is not None and wish.to_mb < 0:
        raise UsageError("--to-mb is negative", hint="Write a size in MB")
    before = None
    if wish.older_than is not None:
        before = parse_time(wish.older_than, now=datetime.now(UTC))
    choice = choose(space, place.settings, place.home, before=before, project=wish.project)
    if wish.to_mb is not None and _size(place) <= wish.to_mb * 1_000_000:
        return Choice(families=[], waiting=choice.waiting)
    return choice


def carry_out(place: Workspace, store: Store, space: SpaceStore, choice: Choice, wish: Wish) -> int:
    """How many sessions went."""
    now = datetime.now(UTC)
    if wish.to_mb is None:
        gone = prune(space, choice.families, now=now)
        _shrink(place, store)
        return gone
    gone = 0
    for family in choice.families:
        if _size(place) <= wish.to_mb * 1_000_000:
            break
        gone += prune(space, [family], now=now)
        _shrink(place, store)
    return gone


def _shrink(place: Workspace, store: Store) -> None:
    """Gives what is free back to the disk, as far as it goes."""
    before = -1
    for _ in range(MOST_ROUNDS):
        size = _size(place)
        if size == before:
            return
        before = size
        store.maintain()


def _size(place: Workspace) -> int:
    return int(health.store(place.paths)["bytes"])
