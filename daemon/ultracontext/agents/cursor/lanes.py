"""The messages of each store in the order that the store itself gives."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ultracontext.agents.cursor.entry import DB, KV, STORES, Entry

PREFIX = 16
"""Hexadecimal digits of a blob's id by which its root names it (`queries.py`)."""

DELETED = "deleted"
SUPERSEDED = "superseded"


@dataclass(slots=True)
class Order:
    """What a conversation's own row says of its messages."""

    ids: list[str] = field(default_factory=list)
    updated_at: str | None = None


@dataclass(slots=True)
class Lane:
    """One store's messages in order, and those that its order no longer names."""

    entries: list[Entry]
    marks: dict[str, str] = field(default_factory=dict)
    """Message id → `deleted` (the agent removed it), `superseded` (left behind by a compaction)."""


def lanes(entries: Iterable[Entry], orders: dict[str, Order]) -> list[Lane]:
    """One lane a store that has messages, the richest first."""
    by_store: dict[str, list[Entry]] = {}
    for entry in entries:
        by_store.setdefault(entry.store, []).append(entry)
    return [
        _lane(store, by_store[store], orders.get(store)) for store in STORES if store in by_store
    ]


def _lane(store: str, entries: list[Entry], order: Order | None) -> Lane:
    if store == KV:
        entries = _once(entries)
    if order is None or not order.ids:
        return Lane(entries)
    names = [e.native[:PREFIX] if store == DB else e.native for e in entries]
    places = {name: place for place, name in enumerate(order.ids)}
    ranks = _ranks(names, places)
    lane = Lane([e for _, _, e in sorted(zip(ranks, range(len(ranks)), entries, strict=True))])
    last = max((n for n, name in enumerate(names) if name in places), default=-1)
    for n, (entry, name) in enumerate(zip(entries, names, strict=True)):
        if name not in places and (n < last or _older(entry, order)):
            lane.marks[entry.id] = DELETED if store == KV else SUPERSEDED
    return lane


def _ranks(names: list[str], places: dict[str, int]) -> list[float]:
    """What the order does not name stays behind what came before it."""
    ranks: list[float] = []
    before = -1.0
    for name in names:
        place = places.get(name)
        if place is not None:
            before = float(place)
        ranks.append(before if place is not None else before + 0.5)
    return ranks


def _older(entry: Entry, order: Order) -> bool:
    """Known to the conversation when it was last written, and yet not named by it."""
    return bool(entry.time and order.updated_at and entry.time <= order.updated_at)


def _once(entries: list[Entry]) -> list[Entry]:
    """A message that stands in its conversation's row and in one of its own: the latter counts."""
    own = {e.native for e in entries if not e.inline}
    seen: set[tuple[str, str]] = set()
    kept = []
    for entry in entries:
        if entry.inline and entry.native in own:
            continue
        if (entry.native, entry.id) in seen:
            continue
        seen.add((entry.native, entry.id))
        kept.append(entry)
    return kept
