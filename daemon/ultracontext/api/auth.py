"""Which key a request carries, from a cache in front of the store.

The cache is emptied when the store's keys epoch has moved on, which is read at most once a second:
a key revoked by this process is refused at once, one revoked by another within that second.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Lock
from typing import Any

from ultracontext.errors import StoreError
from ultracontext.logs import get_logger, where
from ultracontext.store.keys import Issued, Key, Keys, digest_of, prefix_of, same
from ultracontext.store.keys.tokens import MARKS, MOST, PREFIX_LENGTH

log = get_logger(__name__)

EPOCH_SECONDS = 1.0
MOST_CACHED = 10_000
NOBODY = b"\0" * 32
"""Compared with where there is no key, so that both take as long."""


def bearer(header: str | None) -> str | None:
    """The second word of `Authorization: Bearer KEY`; further words are not read."""
    words = (header or "").split(" ")
    if len(words) < 2 or words[0].lower() != "bearer" or not words[1]:
        return None
    return words[1]


class AdminKey:
    """`ULTRACONTEXT_ADMIN_KEY`, compared in constant time."""

    def __init__(self, key: str | None) -> None:
        self._digest = digest_of(key) if key else None

    def is_it(self, given: str | None) -> bool:
        digest = digest_of((given or "")[:4096])
        return hmac.compare_digest(digest, self._digest or NOBODY) and self._digest is not None


class KeyRing:
    """Looks keys up; blocks only where `known` said nothing. Safe between threads."""

    def __init__(self, keys: Keys, clock: Callable[[], float]) -> None:
        self.keys = keys
        self._clock = clock
        self._lock = Lock()
        self._cache: dict[bytes, Key] = {}
        self._epoch: int | None = None
        self._asked = float("-inf")
        self._used: dict[str, datetime] = {}

    def known(self, text: str) -> Key | None:
        """From the cache alone; None says nothing."""
        if self._clock() - self._asked >= EPOCH_SECONDS:
            return None
        key = self._cache.get(_cached_as(text))
        if key is not None:
            self._used[key.prefix] = datetime.now(UTC)
        return key

    def look_up(self, text: str) -> Key | None:
        """The key, if it is one and not revoked. Raises StoreError."""
        if len(text) > MOST or not text.startswith(MARKS) or len(text) <= PREFIX_LENGTH:
            same(digest_of(text[:MOST]), NOBODY)
            return None
        self._follow_epoch()
        name = _cached_as(text)
        key = self._cache.get(name)
        if key is None:
            epoch = self._epoch
            key = self.keys.find(prefix_of(text))
            if not same(digest_of(text), NOBODY if key is None else key.digest) or key is None:
                return None
            self._keep(name, key, epoch)
        self._used[key.prefix] = datetime.now(UTC)
        return key

    def _follow_epoch(self) -> None:
        with self._lock:
            now = self._clock()
            if now - self._asked < EPOCH_SECONDS:
                return
            epoch = self.keys.epoch()
            if epoch != self._epoch:
                self._cache.clear()
            self._epoch, self._asked = epoch, now

    def _keep(self, name: bytes, key: Key, epoch: int | None) -> None:
        with self._lock:
            if epoch != self._epoch:  # emptied while it was looked up
                return
            if len(self._cache) >= MOST_CACHED:
                self._cache.clear()
            self._cache[name] = key

    def changed(self) -> None:
        """This process changed a key: what is cached counts no more."""
        with self._lock:
            self._cache.clear()
            self._epoch = None
            self._asked = float("-inf")

    def record_use(self) -> None:
        """Writes down last uses; a failure is only logged."""
        used, self._used = self._used, {}
        if not used:
            return
        try:
            self.keys.used(used)
        except StoreError as error:
            log.warning("key-use-not-recorded", **where(error), code=error.code)


def _cached_as(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def shown(key: Key) -> dict[str, Any]:
    """A key in lists: never its hash."""
    from ultracontext.wire import iso_of

    def time(when: datetime | None) -> str | None:
        return None if when is None else iso_of(when)

    return {
        "prefix": key.prefix,
        "name": key.name,
        "space": key.space,
        "project_id": key.space,
        "role": key.role,
        "redact_on_ingest": key.redact,
        "created_at": iso_of(key.created_at),
        "last_used_at": time(key.last_used_at),
        "revoked_at": time(key.revoked_at),
    }


def issued(key: Issued) -> dict[str, Any]:
    """A new key, the only time that it is shown. The wire calls a space project."""
    from ultracontext.wire import iso_of

    return {
        "key": key.key,
        "prefix": key.prefix,
        "project_id": key.space,
        "space": key.space,
        "role": key.role,
        "created_at": iso_of(key.created_at),
    }
