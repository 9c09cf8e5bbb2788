"""Versions of OpenClaw that were run, and the words that their records use.

A kind that is not listed here is kept as `meta` and counted under `facts.unknown`.
"""

from __future__ import annotations

import msgspec

from ultracontext.agents.openclaw.evidence import RUNS
from ultracontext.formats.evidence import Compat, Reads, Writes
from ultracontext.formats.versions import Version


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

MARK = "ultracontext"
"""`customType` of the record by which a switch says where its session comes from; not sent."""

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


def in_sqlite(version: Version) -> bool:
    """2026.8 and later, and the pre-releases of 2026.7.2. The line 2026.7.33 and later, published
    after them, still keeps files: the number alone does not order this."""
    return version.numbers >= (2026, 8) or (version.numbers == (2026, 7, 2) and not version.final)


def generation(version: Version) -> str:
    return "sqlite" if in_sqlite(version) else "files"


COMPAT = Compat(
    reads=(
        Reads(format="files", versions=("2026.7.35",), evidence="11 recordings, 2026-11-30"),
        Reads(format="sqlite", versions=("2026.9.6",), evidence="3 recordings, 2026-11-30"),
    ),
    writes=(
        Writes(format="files", first="2026.7.1", last="2026.7.99"),
        Writes(format="sqlite", first="2026.8.1", note="taken in by its own doctor"),
    ),
    runs=RUNS,
    generation=generation,
)
