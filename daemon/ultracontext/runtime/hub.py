"""Hands commits on to the clients of `GET /events`: numbered, replayable, bounded per client.

A cursor is `<epoch>-<number>`; the epoch changes with every start of the daemon. A client that
comes back with a cursor gets what it missed, or one `reset` when that is no longer held: it then
reads the lists anew. A client that does not keep up is told so by `dropped` and let go.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

HELD = 2000
"""Events kept for replay."""
WAITING = 500
"""Events that may wait for one client."""
CLIENTS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class HubEvent:
    """One numbered event."""

    number: int
    name: str
    data: dict[str, Any]


@dataclass(eq=False, slots=True)
class Subscriber:
    """One client. `queue` holds events; `lost` is set once it has missed one."""

    queue: asyncio.Queue[HubEvent] = field(default_factory=lambda: asyncio.Queue(WAITING))
    lost: asyncio.Event = field(default_factory=asyncio.Event)


class Hub:
    """Lives on the event loop; `publish` is called there only."""

    def __init__(self, epoch: str) -> None:
        self.epoch = epoch
        self._number = 0
        self._held: deque[HubEvent] = deque(maxlen=HELD)
        self._subscribers: set[Subscriber] = set()

    @property
    def clients(self) -> int:
        return len(self._subscribers)

    def cursor(self, number: int | None = None) -> str:
        return f"{self.epoch}-{self._number if number is None else number}"

    def publish(self, name: str, rows: Sequence[dict[str, Any]]) -> None:
        """Numbers the events and puts them into every client's queue. Never waits."""
        for row in rows:
            self._number += 1
            event = HubEvent(number=self._number, name=name, data=row)
            self._held.append(event)
            for subscriber in self._subscribers:
                self._offer(subscriber, event)

    def subscribe(self, cursor: str | None) -> tuple[Subscriber | None, list[HubEvent], bool]:
        """(client, or None when there are too many; what it missed; whether more than is held)."""
        if len(self._subscribers) >= CLIENTS:
            return None, [], False
        subscriber = Subscriber()
        self._subscribers.add(subscriber)
        missed, reset = self._since(cursor)
        return subscriber, missed, reset

    def unsubscribe(self, subscriber: Subscriber) -> None:
        self._subscribers.discard(subscriber)

    def _offer(self, subscriber: Subscriber, event: HubEvent) -> None:
        if subscriber.lost.is_set():
            return
        try:
            subscriber.queue.put_nowait(event)
        except asyncio.QueueFull:
            subscriber.lost.set()

    def _since(self, cursor: str | None) -> tuple[list[HubEvent], bool]:
        if not cursor:
            return [], False
        epoch, _, text = cursor.rpartition("-")
        if epoch != self.epoch or not text.isdecimal() or len(text) > 18:
            return [], True
        number = int(text)
        oldest = self._held[0].number if self._held else self._number + 1
        if number > self._number or number < oldest - 1:
            return [], True
        return [event for event in self._held if event.number > number], False
