"""What capture tells the outside."""

from __future__ import annotations

from typing import Any

import msgspec

from ultracontext.model import ContextId


class SourceError(msgspec.Struct, frozen=True, kw_only=True):
    """One source or record that could not be taken as it is."""

    agent: str
    path: str
    """Masked."""
    position: int
    code: str
    """`damaged`, `unreadable`, `redaction`, `too-large`, `store-full` …"""


class Summary(msgspec.Struct, kw_only=True):
    """The answer of `daemon run --once`."""

    sessions: int = 0
    """Sessions that got events in this run."""
    events: int = 0
    duplicates: int = 0
    bytes: int = 0
    files: int = 0
    """Files looked into in this run (known and unchanged ones are not)."""
    masked: int = 0
    skipped: dict[str, int] = {}
    waiting: int = 0
    """Sessions held back: paused, or of a project that is not known yet while a rule names one."""
    errors: list[SourceError] = []
    seconds: float = 0.0


class Committed(msgspec.Struct, frozen=True, kw_only=True):
    """One session's share of a commit, told to listeners after it is durable."""

    context_id: ContextId
    agent: str
    session_id: str
    events: int
    kinds: tuple[str, ...] = ()
    """Kinds of the new nodes, in order, at most 100."""
    at: str = ""
    """When it was stored, ISO 8601 UTC."""


class CaptureStatus(msgspec.Struct, kw_only=True):
    paused: bool = False
    paused_projects: list[str] = []
    waiting: int = 0
    """Sessions that wait: paused, or of a project that is not known yet while a rule names one."""
    watcher: str = "events"
    """`events` (watchdog) or `polling: <reason>`."""
    backlog_bytes: int = 0
    backlog_seconds: float = 0.0
    """Age of the oldest byte that is written but not stored, 0 when there is none."""
    sources: int = 0
    active: int = 0
    events: int = 0
    """Since this daemon started."""
    duplicates: int = 0
    masked: int = 0
    skipped: dict[str, int] = {}
    last_sweep_at: str | None = None
    problems: list[dict[str, Any]] = []
    """`{"code", "message", "hint"}` each."""
