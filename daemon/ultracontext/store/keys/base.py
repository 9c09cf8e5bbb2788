"""API keys as a store keeps them: apart from what spaces hold, as a key says which space it opens.

Kept is a hash and a prefix that finds it; the key itself is shown once and nowhere stored.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal, Protocol, get_args

import msgspec

Role = Literal["ingest", "read", "write", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""`ingest`: replication by daemons; `read`; `write`: deletes too; `admin`: keys of its space."""

RESERVED_SPACES = ("local", "default")


class Key(msgspec.Struct, kw_only=True, frozen=True):
    """One key."""

    prefix: str
    """Its first characters, unique."""
    digest: bytes
    """SHA-256 of the whole key."""
    space: str
    name: str
    role: Role
    created_at: datetime
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None
    redact: bool = False
    """What it appends is masked first (`redact_on_ingest`)."""


class Keys(Protocol):
    """The keys of a store. Every change moves `epoch` on, in the same transaction."""

    def epoch(self) -> int:
        """Cheap to read: whoever caches keys asks at most once a second."""

    def find(self, prefix: str) -> Key | None:
        """A key that is not revoked."""

    def add(self, key: Key, *, new_space: bool) -> None:
        """Raises ConflictError where the prefix is known or, with `new_space`, the space has a key
        already (code `space-exists`)."""

    def rows(self, space: str | None = None) -> list[Key]:
        """Oldest first, revoked ones too; None = of all spaces."""

    def revoke(self, prefix: str, *, space: str | None = None, now: datetime) -> Key | None:
        """At once. None where there is no such key (in that space); the same again is no error."""

    def used(self, times: Mapping[str, datetime]) -> None:
        """Records last uses, by prefix."""

    def close(self) -> None: ...
