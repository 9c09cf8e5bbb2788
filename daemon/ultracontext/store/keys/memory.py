"""Keys of a memory store."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from threading import Lock

import msgspec

from ultracontext.errors import ConflictError
from ultracontext.store.keys.base import Key


class MemoryKeys:
    """Gone with the process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._keys: dict[str, Key] = {}
        self._epoch = 0

    def epoch(self) -> int:
        return self._epoch

    def find(self, prefix: str) -> Key | None:
        key = self._keys.get(prefix)
        return None if key is None or key.revoked_at is not None else key

    def add(self, key: Key, *, new_space: bool) -> None:
        with self._lock:
            if key.prefix in self._keys:
                raise ConflictError("a key with this prefix exists")
            if new_space and any(known.space == key.space for known in self._keys.values()):
                raise ConflictError(f"the space {key.space} exists", code="space-exists")
            self._keys[key.prefix] = key
            self._epoch += 1

    def rows(self, space: str | None = None) -> list[Key]:
        return [key for key in list(self._keys.values()) if space in (None, key.space)]

    def revoke(self, prefix: str, *, space: str | None = None, now: datetime) -> Key | None:
        with self._lock:
            key = self._keys.get(prefix)
            if key is None or space not in (None, key.space):
                return None
            if key.revoked_at is None:
                key = msgspec.structs.replace(key, revoked_at=now)
                self._keys[prefix] = key
                self._epoch += 1
            return key

    def used(self, times: Mapping[str, datetime]) -> None:
        with self._lock:
            for prefix, when in times.items():
                if prefix in self._keys:
                    found = self._keys[prefix]
                    self._keys[prefix] = msgspec.structs.replace(found, last_used_at=when)

    def close(self) -> None:
        """There is nothing open."""
