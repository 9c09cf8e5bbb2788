"""Settings of capture, and how far a run is."""

from __future__ import annotations

from dataclasses import dataclass, field

from ultracontext.capture.rules import Rules


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureOptions:
    """Settings of capture, in seconds and bytes."""

    backfill: str = "all"
    """`all`, `new`, or a duration such as `24h`: what of the files that lie there at the first
    start."""
    dedup_ttl_seconds: float = 30 * 86400.0
    sweep_seconds: float = 30.0
    poll_seconds: float = 0.25
    fast_poll_seconds: float = 0.05
    batch_events: int = 500
    batch_bytes: int = 4 << 20
    batch_seconds: float = 0.2
    watch: bool = True
    rules: Rules = field(default_factory=Rules)
    """Which sessions are captured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How far a run is."""

    bytes_done: int
    bytes_total: int
    events: int
    files_done: int
    files_total: int
