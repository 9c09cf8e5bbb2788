"""What the daemon does beside capture: facts of stale sessions, care of the store.

Capture itself purges the dedup table and relates forks.
"""

from __future__ import annotations

import threading
from dataclasses import replace

from ultracontext.capture import Rules
from ultracontext.errors import StoreError
from ultracontext.logs import get_logger
from ultracontext.runtime.assembly import Line
from ultracontext.runtime.ignored import captured_ignored
from ultracontext.store.session import refresh_facts

log = get_logger(__name__)

AT_ONCE = 20


class Upkeep:
    """Passes that may stop after every session."""

    PAUSE_SECONDS = 30.0
    LONGEST_SECONDS = 86400.0

    def __init__(self, line: Line) -> None:
        self._line = line
        self._counted: Rules | None = None
        self.ignored = 0
        """Captured sessions that a rule leaves out, as of the last pass."""

    def once(self, stop: threading.Event) -> None:
        """One pass; a store that refuses ends it, and the next one tries again."""
        try:
            self._count_ignored()
            self._freshen(stop)
            if not stop.is_set():
                self._line.store.maintain()
        except StoreError as error:
            log.warning("upkeep-stopped", code=error.code)

    def _count_ignored(self) -> None:
        """Once for each state of the rules."""
        rules = replace(self._line.engine.rules, paused=frozenset())
        if rules != self._counted:
            chosen = self._line.setup.settings.capture.agents
            self.ignored = captured_ignored(self._line.space, rules, chosen)
            self._counted = rules

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
