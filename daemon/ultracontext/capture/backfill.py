"""What of the files that lie there at the first start is captured: decided once and remembered."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from ultracontext.capture.discover import Found
from ultracontext.capture.places import keyed_digest
from ultracontext.settings import parse_duration
from ultracontext.store.base import SpaceStore

NOTE = "capture.roots"


class Backfill:
    """`all`, `new` or a duration, applied to the first sweep of each root only.

    A root counts as swept once the sources found in it are stored, so that whatever is written
    while the daemon is stopped is captured at the next start, in every mode.
    """

    def __init__(
        self,
        store: SpaceStore,
        secret: bytes,
        roots: Mapping[str, Sequence[Path]],
        mode: str,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._secret = secret
        self._mode = mode
        self.now = now
        self._roots = [os.fspath(root) for found in roots.values() for root in found]
        self._swept: dict[str, str] | None = None

    def _name(self, root: str) -> str:
        return keyed_digest(self._secret, os.fsencode(root)).hex()

    def begin(self) -> None:
        if self._swept is None:
            self._swept = dict(self._store.noted(NOTE) or {})

    def end(self) -> None:
        """All roots of this run count as swept, those that do not exist yet too."""
        if self._swept is None:
            return
        missing = [root for root in self._roots if self._name(root) not in self._swept]
        if missing:
            at = self.now().isoformat()
            self._swept.update({self._name(root): at for root in missing})
            self._store.note(NOTE, self._swept)

    def skip(self, found: Found) -> int:
        """Bytes of a file just met that are left out."""
        if self._mode == "all" or self._swept is None or self._name(found.root) in self._swept:
            return 0
        if self._mode == "new":
            return found.look.size
        age = self.now().timestamp() - found.look.mtime_ns / 1e9
        return found.look.size if age > parse_duration(self._mode) else 0
