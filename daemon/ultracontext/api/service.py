"""What a server serves: a store, its keys, and one `Exchange` a key's space."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, TypeVar

from ultracontext.api.auth import AdminKey, KeyRing
from ultracontext.api.hosts import Hosts
from ultracontext.api.keys import KeyDesk
from ultracontext.api.limits import RateLimit
from ultracontext.api.mcp import More
from ultracontext.api.metrics import Metrics
from ultracontext.api.options import Options
from ultracontext.store import LOCAL_SPACE, Store
from ultracontext.store.exchange import Exchange, Sight
from ultracontext.store.keys import Key, Keys

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor

T = TypeVar("T")

USE_SECONDS = 5.0
"""Pause between two writings of last uses."""
UPKEEP_SECONDS = 60.0
MOST_EXCHANGES = 1000


def utc_now() -> datetime:
    return datetime.now(UTC)


class Service:
    """Everything that requests share. `redactor` is asked for at the first need."""

    def __init__(
        self,
        store: Store,
        keys: Keys,
        options: Options,
        *,
        redactor: Callable[[], Redactor] | None = None,
        clock: Callable[[], datetime] = utc_now,
        tools: Callable[[Key], More] | None = None,
    ) -> None:
        self.options = options
        self.store = store
        self.hosts = Hosts(options)
        self.admin = AdminKey(options.admin_key)
        self.ring = KeyRing(keys, time.monotonic)
        self.desk = KeyDesk(self.ring, clock)
        self.limit = RateLimit(options.requests_per_second, time.monotonic)
        self.metrics = Metrics()
        self._redactor = redactor
        self._clock = clock
        self._tools = tools
        self._lock = Lock()
        self.running = 0
        """Requests being answered."""
        self.stopping = False
        self._exchanges: dict[tuple[str, bool], Exchange] = {}
        self._threads = ThreadPoolExecutor(options.threads, thread_name_prefix="api")

    def exchange(self, key: Key) -> Exchange:
        """May load the redactor, so call it in a thread."""
        masks = key.redact or self.options.masks(key.space)
        name = (key.space, masks)
        with self._lock:
            found = self._exchanges.get(name)
            if found is None:
                if len(self._exchanges) >= MOST_EXCHANGES:
                    self._exchanges.clear()
                found = self._exchanges[name] = self._made(key.space, masks=masks)
            return found

    def _made(self, space: str, *, masks: bool) -> Exchange:
        ingest = self._redactor() if masks and self._redactor is not None else None
        if masks and ingest is None:
            from ultracontext.errors import RedactionError

            raise RedactionError("this server cannot mask", hint="Start it with its settings")
        sight = Sight(self._redactor if space == LOCAL_SPACE else None)
        return Exchange(self.store.within(space), ingest=ingest, sight=sight, clock=self._clock)

    def more(self, key: Key) -> More | None:
        """What `/mcp` offers to a key; None: the three tools of the original."""
        return None if self._tools is None else self._tools(key)

    async def blocking(self, work: Callable[[], T], *, seconds: float | None = None) -> T:
        """Runs what blocks in a thread; TimeoutError when it takes too long (it goes on)."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(seconds or self.options.answer_seconds):
            return await loop.run_in_executor(self._threads, work)

    def is_well(self) -> bool:
        """Whether the store answers."""
        from ultracontext.errors import StoreError

        try:
            self.store.within(LOCAL_SPACE).list_contexts(limit=1)
            self.ring.keys.epoch()
        except StoreError:
            return False
        return True

    async def finish(self) -> None:
        """Waits for what was accepted, up to `stop_seconds`; what comes from now on is refused."""
        self.stopping = True
        with suppress(TimeoutError):
            async with asyncio.timeout(self.options.stop_seconds):
                while self.running:  # noqa: ASYNC110  (once, at the end)
                    await asyncio.sleep(0.01)

    async def upkeep(self) -> None:
        """Last uses and the store's idle work, until cancelled."""
        maintained = time.monotonic()
        while True:
            await asyncio.sleep(USE_SECONDS)
            with suppress(TimeoutError):  # it goes on in its thread
                await self.blocking(self.ring.record_use)
                await self.blocking(self._scrub)
                if time.monotonic() - maintained >= UPKEEP_SECONDS:
                    maintained = time.monotonic()
                    await self.blocking(self.store.maintain)

    def _scrub(self) -> None:
        """Where a reader was in the way of a wipe."""
        with self._lock:
            due = [exchange for exchange in self._exchanges.values() if exchange.unscrubbed]
        for exchange in due:
            exchange.scrub()

    def close(self) -> None:
        """After the last request."""
        self._threads.shutdown(wait=True)
        self.ring.record_use()
        self.ring.keys.close()
