"""Whether the file under the store's name is still the one that the daemon opened.

SQLite goes on writing into a file that was removed or moved away, and nobody would read what it
writes there. So the daemon looks, and opens the store anew: the checkpoints lie in the store, so
what is missing in the new one is captured again.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ultracontext.errors import StoreError

GONE, REPLACED = "gone", "replaced"

Identity = tuple[int, int]
"""Device and inode."""


class StoreFile:
    """The file as it is when this is made: just after it was opened."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log_path = path.with_name(f"{path.name}-wal")
        self._own = _identity(path)
        self._log = _identity(self._log_path)

    def change(self) -> str | None:
        """`gone` or `replaced`; None for the same file, or where that cannot be told now."""
        try:
            found = _identity(self._path)
        except OSError:
            return None
        if found == self._own:
            with suppress(OSError):
                self._log = _identity(self._log_path) or self._log
            return None
        return GONE if found is None else REPLACED

    def clear_leftovers(self) -> None:
        """Removes the old file's log if it was left behind: the new one would be mixed with it.

        Call it between closing the old file and opening the new one. Raises StoreError.
        """
        try:
            if self._log is None or _identity(self._log_path) != self._log:
                return
            self._log_path.unlink(missing_ok=True)
            self._path.with_name(f"{self._path.name}-shm").unlink(missing_ok=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise StoreError(
                f"cannot remove {self._log_path}, which belongs to the earlier store: {reason}",
                hint="Remove it, then run `ultracontext daemon start`",
                code="store-io",
            ) from error


def _identity(path: Path) -> Identity | None:
    """None when there is no such file; raises OSError where that cannot be known."""
    try:
        found = os.stat(path)  # noqa: PTH116  # the tuple is all that is wanted
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
