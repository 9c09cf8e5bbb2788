"""Which source is read next: what grows now, round and round; then the backfill, newest first."""

from __future__ import annotations

import heapq
from collections import OrderedDict
from dataclasses import dataclass

from ultracontext.capture.source import Source


@dataclass(frozen=True, slots=True)
class Backlog:
    """Bytes that wait, and the age of the oldest."""

    bytes: int
    seconds: float


class WorkQueue:
    """Each source is in it at most once."""

    def __init__(self) -> None:
        self._hot: OrderedDict[int, Source] = OrderedDict()
        self._cold: list[tuple[int, int, Source]] = []
        self._in_cold: dict[int, Source] = {}
        self._asleep: list[tuple[float, int, Source]] = []
        self._sleeping: set[int] = set()
        self._front: Source | None = None
        """The cold source that is being read: it is finished before the next."""

    def add(self, source: Source, *, hot: bool) -> None:
        key = source.saved.source_id
        if key in self._hot or key in self._sleeping:
            return
        if hot:
            self._in_cold.pop(key, None)
            if self._front is source:
                self._front = None
            self._hot[key] = source
        elif key not in self._in_cold and self._front is not source:
            self._in_cold[key] = source
            heapq.heappush(self._cold, (-source.look.mtime_ns, key, source))

    def put_back(self, source: Source, *, hot: bool) -> None:
        """A source that has more; a hot one lets the others go first."""
        if hot or self._front is not None:
            self.add(source, hot=hot)
        elif source.saved.source_id not in self._hot:
            self._front = source

    def sleep(self, source: Source) -> None:
        """Sets a source aside until its `retry_at`."""
        self._sleeping.add(source.saved.source_id)
        heapq.heappush(self._asleep, (source.retry_at, source.saved.source_id, source))

    def wakes_at(self) -> float:
        """When the next source that was set aside is due."""
        return self._asleep[0][0] if self._asleep else float("inf")

    def _wake(self, now: float) -> None:
        while self._asleep and self._asleep[0][0] <= now:
            _, key, source = heapq.heappop(self._asleep)
            self._sleeping.discard(key)
            self.add(source, hot=True)

    def take(self, now: float) -> tuple[Source, bool] | None:
        """The next source that may be read, and whether it is a live one."""
        self._wake(now)
        if self._hot:
            return self._hot.popitem(last=False)[1], True
        if self._front is not None:
            source, self._front = self._front, None
            return source, False
        while self._cold:
            _, key, source = heapq.heappop(self._cold)
            if self._in_cold.pop(key, None) is not None:
                return source, False
        return None

    def __bool__(self) -> bool:
        """Whether a source waits, those set aside left out; costs the same however many there
        are."""
        return bool(self._hot or self._in_cold) or self._front is not None

    @property
    def has_hot(self) -> bool:
        return bool(self._hot)

    def backlog(self, now: float) -> Backlog:
        sources = [*self._hot.values(), *self._in_cold.values()]
        if self._front is not None:
            sources.append(self._front)
        total, oldest = 0, now
        for source in sources:
            if source.waiting_since and (pending := source.pending_bytes):
                total += pending
                oldest = min(oldest, source.waiting_since)
        return Backlog(total, round(max(0.0, now - oldest), 3))
