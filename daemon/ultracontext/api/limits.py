"""How many requests a key may make: a bucket of tokens each, filled steadily."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

BURST = 2.0
"""Seconds whose tokens a bucket holds."""
MOST_KEYS = 10_000


class RateLimit:
    """`rate` requests a second; 0 lets everything through."""

    def __init__(self, rate: int, clock: Callable[[], float]) -> None:
        self._rate = rate
        self._clock = clock
        self._full = max(1.0, rate * BURST)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, key: str) -> float:
        """Takes a token; else seconds until there is one."""
        if not self._rate:
            return 0.0
        now = self._clock()
        held, since = self._buckets.pop(key, (self._full, now))
        held = min(self._full, held + (now - since) * self._rate)
        lacking = round(1.0 - held, 9)
        self._buckets[key] = (held if lacking > 0 else held - 1.0, now)
        if len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)
        return max(0.0, lacking / self._rate)
