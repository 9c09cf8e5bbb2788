"""What a version shows: which rows, at which index.

A row stands at a position of its context, fixed when it was appended. A position whose rows are all
superseded is removed: it has no index. Removed positions are counted by bucket, so that an index is
found without a look at the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

BUCKET = 256
"""Positions in a bucket."""


def shown(born: int, superseded: int | None, version: int) -> bool:
    """Whether a version shows a row."""
    return born <= version and (superseded is None or superseded > version)


@dataclass(frozen=True, slots=True)
class Places:
    """Positions and indexes of one version."""

    end: int
    """First position behind the version."""
    gaps: Sequence[tuple[int, int]]
    """(bucket, removed positions in it), ascending; buckets without any left out."""
    removed_in: Callable[[int, int], Sequence[int]]
    """Removed positions in [first, until), ascending."""

    def index_of(self, position: int) -> int:
        """How many messages stand before a position."""
        bucket = position // BUCKET
        before = sum(count for number, count in self.gaps if number < bucket)
        inside = 0
        if position % BUCKET and any(number == bucket for number, _ in self.gaps):
            inside = len(self.removed_in(bucket * BUCKET, position))
        return position - before - inside

    def position_of(self, index: int) -> int:
        """Position of the message at an index; `end` when there is none."""
        removed = 0
        for number, count in self.gaps:
            start = number * BUCKET
            if index < start - removed:
                break
            if index < start - removed + BUCKET - count:
                return self._inside(start, index - (start - removed))
            removed += count
        return min(index + removed, self.end)

    def _inside(self, start: int, rank: int) -> int:
        position = start + rank
        for gone in self.removed_in(start, min(start + BUCKET, self.end)):
            if gone > position:
                break
            position += 1
        return min(position, self.end)


@dataclass(frozen=True, slots=True)
class Window:
    """Messages [first, until) of `total`."""

    first: int
    until: int
    total: int


def window(total: int, *, first: int | None, last: int | None) -> Window:
    """From index `first` on, and not more than `last` from the end."""
    start = max(0, first or 0)
    if last is not None:
        start = max(start, total - max(0, last))
    return Window(min(start, total), total, total)
