"""Keeps the search index behind the store: at once while things are quiet, later while not.

A backfill goes first: while capture has work, the index waits, so that it costs the backfill next
to nothing, and says how many sessions it is behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ultracontext.errors import StoreError, UltraContextError
from ultracontext.logs import get_logger
from ultracontext.redaction import Redactor
from ultracontext.runtime.memory import give_back_memory
from ultracontext.search import Filler, Index
from ultracontext.store.base import SpaceStore

log = get_logger(__name__)

WHOLE_SECONDS = 60.0
"""How often all sessions are compared: what other programs wrote is told by nobody."""
WHOLE_SHARE = 100.0
"""Such a look is worth at most a hundredth of the time."""
QUIET_SECONDS = 1.0
"""Nothing was committed for so long: the index need not hold back."""
LIVE_SHARE = 10.0
"""While commits come, the index takes at most a tenth of the time."""
PATIENCE_SECONDS = 5.0
LOOK_SECONDS = 0.05
MOST_NEWS = 64
FORGET_SECONDS = 10.0
"""How long a person who forgets a session waits for the index."""


@dataclass(slots=True)
class _Wiped:
    """Sessions that were wiped, and somebody who waits until no trace of them is left."""

    contexts: list[str]
    gone: threading.Event = field(default_factory=threading.Event)


class Indexing:
    """Runs in a thread of its own."""

    def __init__(
        self, path: Path, space: SpaceStore, redactor: Redactor, *, busy: Callable[[], bool]
    ) -> None:
        self._path = path
        self._space = space
        self._redactor = redactor
        self._busy = busy
        self._news: set[str] = set()
        self._told_at = 0.0
        self._missed = False
        """Whether news were let go: the look at all sessions is due."""
        self._level: int | None = None
        """The store's pulse before the last look at all sessions that came to its end."""
        self._whole_took = 0.0
        self._wiped: list[_Wiped] = []
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._filler: Filler | None = None
        self.problem: dict[str, str] | None = None

    def tell(self, contexts: set[str]) -> None:
        """Sessions that grew; called after their commit, from any thread."""
        with self._lock:
            self._news |= contexts
            self._told_at = time.monotonic()
        self._wake.set()

    def forget(self, contexts: list[str]) -> bool:
        """Takes wiped sessions out of the index, from any thread; whether that was done within
        `FORGET_SECONDS`. It is done later otherwise."""
        wiped = _Wiped(contexts)
        with self._lock:
            self._wiped.append(wiped)
        self._wake.set()
        return wiped.gone.wait(FORGET_SECONDS)

    def state(self) -> dict[str, Any]:
        """For `status`: `{"messages", "sessions", "behind", "bytes"}`; empty before the start."""
        filler = self._filler
        if filler is None:
            return {}
        with suppress(StoreError):
            found = filler.index.state(filler.behind)
            return {
                "messages": found.messages, "sessions": found.sessions, "behind": found.behind,
                "bytes": found.bytes,
            }  # fmt: skip
        return {}

    def run(self, stop: threading.Event) -> None:
        """Until it is told to stop. A damaged index is made anew."""
        while not stop.is_set():
            try:
                self._work(stop)
            except UltraContextError as error:
                self.problem = {"code": error.code, "message": error.message, "hint": error.hint}
                log.warning("index-stopped", code=error.code)
                if error.code == "index-damaged":
                    self._path.unlink(missing_ok=True)
                stop.wait(PATIENCE_SECONDS)

    def _work(self, stop: threading.Event) -> None:
        index = Index(self._path, write=True)
        self._level = None
        try:
            self._filler = Filler(index, self._space, self._redactor)
            while not stop.is_set():
                self._whole(self._filler, stop)
                self.problem = None
                self._live(self._filler, stop)
        finally:
            self._filler = None
            index.close()

    def _whole(self, filler: Filler, stop: threading.Event) -> None:
        """Compares all sessions, unless nothing was written since the last time."""
        self._missed, began = False, time.monotonic()
        pulse = self._space.pulse()
        if pulse is not None and pulse == self._level:
            return
        self._level = None
        looked = False
        for _ in filler.catch_up(stop=stop.is_set, wait=lambda: self._give_way(stop)):
            if stop.is_set():
                return
            self._take_news(filler, stop)
            looked = True
        self._level = pulse
        self._whole_took = 0.0 if looked else time.monotonic() - began
        filler.rest()
        give_back_memory()

    def _live(self, filler: Filler, stop: threading.Event) -> None:
        """News as they come, until the next look at all sessions is due."""
        until = time.monotonic() + max(WHOLE_SECONDS, self._whole_took * WHOLE_SHARE)
        while not (stop.is_set() or self._missed) and (left := until - time.monotonic()) > 0:
            self._wake.wait(min(left, 1.0))
            self._take_news(filler, stop)

    def _take_news(self, filler: Filler, stop: threading.Event) -> None:
        self._take_out(filler, stop)
        with self._lock:
            news, self._news = self._news, set()
            if not self._wiped:
                self._wake.clear()
        if len(news) > MOST_NEWS and self._busy():
            self._missed = True  # a backfill or a burst: the look at all sessions finds them
            return
        for context_id in news:
            if stop.is_set():
                return
            began = time.monotonic()
            filler.update(context_id)
            self._rest(time.monotonic() - began, stop)

    def _rest(self, worked: float, stop: threading.Event) -> None:
        """Leaves the machine to capture while that has something to do."""
        if time.monotonic() - self._told_at < QUIET_SECONDS:
            stop.wait(min(worked * (LIVE_SHARE - 1), 1.0))

    def _take_out(self, filler: Filler, stop: threading.Event) -> None:
        """Wiped sessions first. They stay on the list until their bytes are gone."""
        while not stop.is_set() and self._wiped:
            wiped = self._wiped[0]
            again = filler.forget(wiped.contexts)
            with self._lock:
                self._news |= set(again)
                self._level = None
            if not filler.index.settle():
                stop.wait(LOOK_SECONDS)  # a reader; what it sees ends soon
                return
            with self._lock:
                self._wiped.remove(wiped)
            wiped.gone.set()

    def _give_way(self, stop: threading.Event) -> None:
        while self._busy() and not stop.is_set():
            stop.wait(LOOK_SECONDS)
            if self._wake.is_set() and self._filler is not None:
                self._take_news(self._filler, stop)
