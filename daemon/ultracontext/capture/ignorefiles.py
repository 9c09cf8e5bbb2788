"""`.ultracontextignore`: a file of that name keeps the sessions of its folder and below out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from ultracontext.capture.rules import IGNORE_FILE

FRESH_SECONDS = 1.0
"""How long an answer counts."""
MOST_ANSWERS = 10_000


class IgnoreFiles:
    """Looks for the file in a folder and all above it. Nothing but its being there counts."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._answers: dict[str, str | None] = {}
        self._since = 0.0

    def above(self, folder: str) -> str | None:
        """The nearest folder from here upwards that holds the file."""
        now = self._monotonic()
        if now - self._since > FRESH_SECONDS or len(self._answers) > MOST_ANSWERS:
            self._answers, self._since = {}, now
        if folder not in self._answers:
            self._answers[folder] = self._look(folder)
        return self._answers[folder]

    def _look(self, folder: str) -> str | None:
        if not folder.startswith("/") or "\0" in folder:
            return None
        here = folder.rstrip("/")
        while True:
            if holds(here or "/"):
                return here or "/"
            if not here:
                return None
            here = here.rpartition("/")[0]


def holds(folder: str) -> bool:
    try:
        return os.path.lexists(os.path.join(folder, IGNORE_FILE))
    except (OSError, ValueError):
        return False
