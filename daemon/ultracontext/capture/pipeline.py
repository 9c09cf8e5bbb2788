"""Slices of the backfill that are being masked by a second process, in the order they were read.

A live file is never put in here. What is in here is not in a batch: checkpoints do not count it,
and it is dropped when its source goes back for any reason.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ultracontext.capture.source import Source
from ultracontext.capture.tail import Slice
from ultracontext.redaction import Ahead, MaskedRecord, Redactor
from ultracontext.redaction.ahead import Ticket

WARM_UP_BYTES = 4 << 20
"""A backfill smaller than this is masked here: starting a process costs more."""
DEPTH = 2


@dataclass(slots=True)
class Sent:
    """One slice under way."""

    source: Source
    generation: int
    part: Slice
    ticket: Ticket


class Taker(Protocol):
    """Puts a masked slice into the batch; handles its own errors."""

    def __call__(self, source: Source, part: Slice, masked: list[MaskedRecord]) -> None: ...


class Pipeline:
    """At most `DEPTH` slices. Used in the engine's thread."""

    def __init__(self, redactor: Redactor, *, enabled: bool) -> None:
        self._redactor = redactor
        self._enabled = enabled and len(_cores()) > 1
        self._ahead: Ahead | None = None
        self._sent: deque[Sent] = deque()
        self._warm_bytes = 0

    def __bool__(self) -> bool:
        return bool(self._sent)

    def ready(self, part: Slice) -> bool:
        """Whether this slice of the backfill should go through here."""
        self._warm_bytes += part.read_bytes
        if not self._enabled or self._warm_bytes < WARM_UP_BYTES:
            return False
        if self._ahead is None:
            self._ahead = Ahead(self._redactor)
        return True

    def send(self, source: Source, part: Slice) -> None:
        if self._ahead is not None:
            ticket = self._ahead.submit(part.records)
            self._sent.append(Sent(source, source.generation, part, ticket))

    @property
    def full(self) -> bool:
        return len(self._sent) >= DEPTH

    def finish(self, take: Taker) -> None:
        """Takes the oldest slice, unless its source went back meanwhile."""
        sent = self._sent.popleft()
        if self._ahead is None or sent.generation != sent.source.generation:
            return
        take(sent.source, sent.part, self._ahead.take(sent.ticket))

    def drain(self, take: Taker) -> None:
        while self._sent:
            self.finish(take)

    def drop(self, back: Callable[[Source], None]) -> None:
        """Forgets all that is under way; `back` takes each source back to its checkpoint."""
        while self._sent:
            back(self._sent.popleft().source)

    def close(self) -> None:
        """Ends the process when there is nothing left for it; it starts again when needed."""
        self._warm_bytes = 0
        if self._ahead is not None and not self._sent:
            self._ahead.close()
            self._ahead = None


def _cores() -> set[int]:
    try:
        return os.sched_getaffinity(0)
    except AttributeError:
        return set(range(os.cpu_count() or 1))
