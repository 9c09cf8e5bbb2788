"""The store as a file: copied, put back, looked through."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def copy_store(path: Path, target: Path, progress: Callable[[int, int], None] | None = None) -> int:
    """A sound copy in one file, made beside a running daemon; its size in bytes.

    Raises StoreError; WriteRefusedError for a target that is there."""
    from ultracontext.store.sqlite.copying import copy_store as copy

    return copy(path, target, progress)


def put_in_place(source: Path, path: Path) -> Path | None:
    """Puts a copy in the place of the store; where the earlier one lies now. Hold the daemon lock.

    Raises StoreError, and then the store is as it was."""
    from ultracontext.store.sqlite.copying import put_in_place as put

    return put(source, path)


def sound(path: Path) -> bool:
    """Looks through all of it at full speed, beside everything else. Raises StoreError."""
    from ultracontext.store.sqlite.soundness import Soundness

    return Soundness(path, lambda: False, share=1.0).sound() is not False
