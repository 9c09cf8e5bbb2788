"""Versions of OpenClaw that were run, and the words that their records use.

A kind that is not listed here is kept as `meta` and counted under `facts.unknown`.
"""

from __future__ import annotations

import msgspec


class Met(msgspec.Struct, frozen=True, kw_only=True):
    """One version that was run, and what proves it."""

    version: str
    seen: str
    """Day of the recordings."""
    recordings: int
    note: str


MET = (
    Met(version="2026.7.35", seen="2026-11-30", recordings=11, note="files, Node 24"),
    Met(version="2026.9.6", seen="2026-11-30", recordings=3, note="SQLite, schema 23, Node 24"),
)

RECORDS = frozenset(
    {
        "branch_summary", "compaction", "custom", "custom_message", "label", "leaf", "message",
        "model_change", "reset", "session", "session_info", "thinking_level_change",
    }
)  # fmt: skip
"""`type` of a record. `leaf` and `reset` are known from the shipped code only."""

ROLES = frozenset(
    {
        "assistant", "bashExecution", "branchSummary", "compactionSummary", "custom", "hookMessage",
        "system", "toolResult", "user",
    }
)  # fmt: skip
"""`role` of a message."""
