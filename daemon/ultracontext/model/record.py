"""A record as it stands in an agent's file, before masking."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec


class RawRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of one complete record and where they stand.

    Nothing but `redaction` may look inside `data`, `companions` and `source`.
    """

    agent: str
    source: str
    """Path of the source as it is on disk, unmasked."""
    start: int
    end: int
    """Byte range in the source, line end included."""
    data: bytes
    """The record without its line end."""
    companions: Mapping[str, bytes] = {}
    """Bytes of other files that belong to the record, by name."""
    damage: str | None = None
    """Why the bytes are no record of their own: `nul`, `fused`, `cut`; None for a sound one."""
    too_large: tuple[int, str] | None = None
    """(size in bytes, hex digest) of a record above 64 MiB, whose `data` is empty."""
