"""Hints from the file system. They only pull a file forward; the sweep is the truth."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

from ultracontext.logs import get_logger

log = get_logger(__name__)


class Watcher:
    """Watches folders through watchdog, as far as the system lets it.

    `mode` is `events`, or `polling: <reason>` once a watch was refused; sweeps and the polling of
    active files go on either way.
    """

    def __init__(self, hint: Callable[[str], None], sweep: Callable[[], None]) -> None:
        self._hint = hint
        self._sweep = sweep
        self._observer: Any = None
        self._lost: logging.Handler = logging.NullHandler()
        self._watched: dict[str, Any] = {}
        self._anew = False
        """It had to be started again the last time."""
        self.mode = "polling: not started"

    def start(self) -> None:
        self._lost = _LostEvents(self._sweep)
        logging.getLogger("watchdog").addHandler(self._lost)
        try:
            from watchdog.observers import Observer

            self._observer = Observer()
            self._observer.start()
            self.mode = "events"
        except (OSError, RuntimeError, ImportError) as error:
            self._observer = None
            self._fall_back(error)

    def watch(self, folders: Mapping[str, bool]) -> bool:
        """Watches new folders (true: with all below); a refusal means polling until later.

        True when watches were added: what came between the sweep and them was not seen. A watcher
        that ends each time says so once only."""
        again = self._observer is None or not self._alive()
        if again:
            self._start_again()
        if self._observer is None:
            return False
        refused: OSError | RuntimeError | None = None
        placed = False
        for folder, recursive in folders.items():
            known = self._watched.get(folder)
            if known is not None and known[0] == (_inode(folder), recursive):
                continue
            try:
                self._replace(folder, known, recursive)
                placed = True
            except (OSError, RuntimeError) as error:
                refused = error
        if refused is not None:
            self._fall_back(refused)
        else:
            self.mode = "events"
        anew, self._anew = again and not self._anew, again
        return placed and (anew or not again)

    def _replace(self, folder: str, known: Any, recursive: bool) -> None:
        from watchdog.events import (
            DirCreatedEvent,
            DirMovedEvent,
            FileClosedEvent,
            FileCreatedEvent,
            FileDeletedEvent,
            FileModifiedEvent,
            FileMovedEvent,
        )

        if known is not None:
            self._observer.unschedule(known[1])
            del self._watched[folder]
        wanted = [
            FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileClosedEvent, FileDeletedEvent,
            DirCreatedEvent, DirMovedEvent,
        ]  # fmt: skip
        watch = self._observer.schedule(
            _handler(self._hint, self._sweep), folder, recursive=recursive, event_filter=wanted
        )
        self._watched[folder] = ((_inode(folder), recursive), watch)

    def _start_again(self) -> None:
        """A watcher whose thread ended is replaced; the sweep finds what it missed."""
        log.warning("watcher_restarted")
        self.stop()
        self._watched.clear()
        self.start()

    def _alive(self) -> bool:
        emitters = list(self._observer.emitters)
        return self._observer.is_alive() and all(e.is_alive() for e in emitters)

    def _fall_back(self, error: Exception) -> None:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        mode = f"polling: {reason}"
        if mode != self.mode:
            log.warning("watcher_polling", error=reason)
        self.mode = mode

    def stop(self) -> None:
        logging.getLogger("watchdog").removeHandler(self._lost)
        if self._observer is not None:
            self._observer.stop()
            self._observer.join(timeout=1.0)
            self._observer = None


class _LostEvents(logging.Handler):
    """watchdog tells of an overflow of the kernel's queue by a warning only (7.1, `inotify_c`)."""

    def __init__(self, sweep: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._sweep = sweep

    def emit(self, record: logging.LogRecord) -> None:
        self._sweep()


def _inode(folder: str) -> tuple[int, int] | None:
    try:
        found = os.stat(folder)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _handler(hint: Callable[[str], None], sweep: Callable[[], None]) -> Any:
    from watchdog.events import FileSystemEvent, FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        """Runs in watchdog's thread: only notes the path."""

        def on_any_event(self, event: FileSystemEvent) -> None:
            if event.is_directory:
                sweep()
                return
            for path in (event.src_path, event.dest_path):
                if path:
                    hint(os.fsdecode(path))

    return Handler()
