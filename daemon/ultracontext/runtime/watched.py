"""The files that a daemon stands on, over all the times that it opens its store: lock and store."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from ultracontext import __version__
from ultracontext.logs import get_logger
from ultracontext.paths import Paths
from ultracontext.runtime.health import problem
from ultracontext.runtime.lock import DaemonLock
from ultracontext.runtime.storefile import GONE, StoreFile

log = get_logger(__name__)

WHAT = {True: "removed", False: "replaced by another file"}


class Watched:
    """Lives as long as the process."""

    def __init__(self, *, lock: DaemonLock, unclean: bool = False) -> None:
        self._locks = [lock]
        self.unclean = unclean
        """Whether the daemon before this one ended without closing its store."""
        self._store: StoreFile | None = None
        self._change: str | None = None
        self._met: dict[str, str] | None = None

    def open(self, store: Path | None) -> None:
        """The store was opened, at this path; None for one without a file."""
        self._store, self._change = None if store is None else StoreFile(store), None

    @property
    def changed(self) -> bool:
        """Whether the store has to be opened anew."""
        return self._change is not None

    def store_changed(self) -> bool:
        """Looks; once true it stays so until the store is opened anew."""
        if self._store is None or self._change is not None:
            return self.changed
        self._change = self._store.change()
        if self._change is None:
            return False
        gone = self._change == GONE
        log.error("store-changed", code=f"store-{self._change}")
        at = datetime.now(UTC).isoformat(timespec="seconds")
        self._met = problem(
            f"store-{self._change}",
            f"the store was {WHAT[gone]} while the daemon ran ({at}); capture went on in the"
            " one that is there now",
            "What the agents still have is captured anew; to take an earlier store back, stop the"
            " daemon, put it there, start it",
        )
        return True

    def close(self) -> None:
        """The store was closed. Raises StoreError when the log of a changed one cannot be taken
        away."""
        self.unclean = False
        if self._store is not None and self.store_changed():
            self._store.clear_leftovers()

    def problems(self) -> list[dict[str, str]]:
        """What was met since the daemon started."""
        return [] if self._met is None else [self._met]

    def keep_lock(self, paths: Paths) -> None:
        """Takes a lock file that was removed again. Raises WriteRefusedError when another daemon
        was faster."""
        if self._locks[-1].is_ours():
            return
        lock = DaemonLock(paths.lock_file)
        paths.ensure()
        lock.take(version=__version__, socket=str(paths.socket), once=False)
        log.warning("lock-taken-again", pid=os.getpid())
        self._locks.append(lock)
