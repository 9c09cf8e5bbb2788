"""What the daemon does beside capture: masks older rows again, computes facts of stale sessions,
takes care of the store.

Capture itself purges the dedup table and relates forks.
"""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from glob import escape

from ultracontext.capture import Rules
from ultracontext.errors import RedactionError, StoreError
from ultracontext.logs import get_logger
from ultracontext.runtime.assembly import Line, store_path
from ultracontext.runtime.health import DAMAGED
from ultracontext.runtime.ignored import captured_ignored
from ultracontext.runtime.memory import give_back_memory
from ultracontext.runtime.retention import expired, prune
from ultracontext.store.session import refresh_facts

log = get_logger(__name__)

AT_ONCE = 20
SHARE = 0.5
"""Of a core, for masking again while a daemon runs."""
BUSY_SECONDS = 1.0
"""How long a step waits at most for capture to have nothing left to do."""
LOOK_SECONDS = 0.05
COPY_SECONDS = 7 * 86400.0
"""How long the copy of the store before a change of its schema stays."""
RETAINED = "retention.day"
"""Note: the day, in days since 1970, on which old sessions were last looked for."""
CHECKED = "store.checked"
"""Note: when the store was last looked through and found sound, seconds since 1970."""


class Upkeep:
    """Passes that may stop after every session."""

    PAUSE_SECONDS = 30.0
    LONGEST_SECONDS = 86400.0
    SOON_SECONDS = 60.0

    def __init__(self, line: Line, *, gently: bool = True, unclean: bool = False) -> None:
        self._line = line
        self._check_wanted = unclean
        """Whether the store is to be looked through, however long ago that was done."""
        self._gently = gently
        """Beside live capture, which goes first."""
        self._now = time.time
        self.problem: dict[str, str] | None = None
        """Why rows could not be masked again, as of the last pass."""
        self.unfinished = False
        """Whether rows are left to be masked again, so that the next pass should come soon."""
        self._counted: Rules | None = None
        self.ignored = 0
        """Captured sessions that a rule leaves out, as of the last pass."""

    def once(self, stop: threading.Event) -> None:
        """One pass; a store that refuses ends it, and the next one tries again."""
        try:
            self._count_ignored()
            self._remask(stop)
            self._keep_digests()
            self._freshen(stop)
            self._retain(stop)
            if not stop.is_set():
                self._line.store.maintain()
                give_back_memory()
                self._look_for_damage(stop)
        except StoreError as error:
            log.warning("upkeep-stopped", code=error.code)

    def _remask(self, stop: threading.Event) -> None:
        """Rows that older rules masked; nothing when masking is off."""
        if not self._line.setup.settings.redaction.enabled:
            return
        rows, begun = 0, time.monotonic()
        self.unfinished = True
        try:
            for done in self._line.space.remask(self._line.redactor):
                rows += done
                if stop.is_set():
                    return
                if self._gently:
                    self._give_way(stop, time.monotonic() - begun)
                begun = time.monotonic()
        except RedactionError as error:
            self.problem = {"code": error.code, "message": error.message, "hint": error.hint}
            log.warning("remask-stopped", code=error.code)
            return
        except StoreError as error:
            log.warning("remask-stopped", code=error.code)
            return
        self.problem, self.unfinished = None, False
        if rows:
            log.info("remasked", events=rows)

    def _look_for_damage(self, stop: threading.Event) -> None:
        """Once a day, and after a daemon that did not end cleanly; `status` tells what is found."""
        store, space = self._line.store, self._line.space
        if not self._gently or store.damaged or not (self._check_wanted or self._check_due()):
            return
        begun = time.monotonic()
        found = store.sound(stop.is_set)
        seconds = round(time.monotonic() - begun, 1)
        if found is None:
            self.unfinished = self.unfinished or not stop.is_set()
            return
        self._check_wanted = False
        if found:
            space.note(CHECKED, int(self._now()))
            self._drop_copies()
            log.info("store-checked", seconds=seconds)
        else:
            log.error("store-damaged", code=DAMAGED, seconds=seconds)

    def _drop_copies(self) -> None:
        """Of the store before its schema changed, once the new one has been sound for a while."""
        path = store_path(self._line.setup)
        for copy in [] if path is None else path.parent.glob(f"{escape(path.name)}.schema-*"):
            with suppress(OSError):
                if self._now() - copy.stat().st_mtime > COPY_SECONDS:
                    copy.unlink()

    def _check_due(self) -> bool:
        at = self._line.space.noted(CHECKED)
        return not isinstance(at, int) or not 0 <= self._now() - at < self.LONGEST_SECONDS

    def _keep_digests(self) -> None:
        """The whole digests behind the 8 digits of the masks made since the last pass."""
        found = self._line.redactor.scanner.fingerprints.drain()
        if found:
            self._line.space.keep_digests(found)

    def _give_way(self, stop: threading.Event, spent: float) -> None:
        """Waits for its share, and while files wait to be read."""
        stop.wait(spent * (1 - SHARE) / SHARE)
        until = time.monotonic() + BUSY_SECONDS
        while self._line.engine.busy and time.monotonic() < until and not stop.is_set():
            stop.wait(LOOK_SECONDS)

    def _count_ignored(self) -> None:
        """Once for each state of the rules."""
        rules = replace(self._line.engine.rules, paused=frozenset())
        if rules != self._counted:
            chosen = self._line.setup.settings.capture.agents
            self.ignored = captured_ignored(self._line.space, rules, chosen)
            self._counted = rules

    def _retain(self, stop: threading.Event) -> None:
        """What is older than `retention.days`, once a day; facts are fresh by now."""
        setup, space = self._line.setup, self._line.space
        today = int(self._now() // self.LONGEST_SECONDS)
        if not setup.settings.retention.days or space.noted(RETAINED) == today:
            return
        now = datetime.fromtimestamp(self._now(), UTC)
        choice = expired(space, setup.settings, setup.home, now)
        gone = prune(space, choice.families, now=now, stop=stop.is_set)
        if not stop.is_set():
            space.note(RETAINED, today)
        if gone or choice.waiting:
            log.info("retained", pruned=gone, waiting=choice.waiting)

    def _freshen(self, stop: threading.Event) -> None:
        space = self._line.space
        done: set[str] = set()
        while not stop.is_set():
            rows = [row for row in space.stale(AT_ONCE) if row.context_id not in done]
            if not rows:
                return
            for row in rows:
                if stop.is_set():
                    return
                done.add(row.context_id)
                refresh_facts(space, row, self._line.redactor)
