"""Versions of Gemini CLI that were run, and the words that their files use.

A word that is not listing here is kept and counted under `facts.unknown`.
"""

from __future__ import annotations

import msgspec

from ultracontext.agents.gemini.evidence import RUNS
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
    Met(version="0.61.0", seen="2026-11-30", recordings=19, note="JSON Lines, headless and TUI"),
    Met(version="0.29.0", seen="2026-11-30", recordings=3, note="whole document, slug folders"),
    Met(version="0.24.5", seen="2026-11-30", recordings=3, note="whole document, hashed folders"),
)

MARK = "ultracontext"
"""Metadata field of a session that a switch wrote: where it comes from. The CLI ignores it."""

TURNS = frozenset({"user", "gemini"})
NOTICES = frozenset({"info", "error", "warning"})
"""Shown to the person, never sent to the model."""

SETTINGS = frozenset(
    {
        "activeExtensionName", "directories", "kind", "lastUpdated", "memoryScratchpad", "messages",
        "projectHash", "sessionId", "startTime", "summary", MARK,
    }
)  # fmt: skip
"""Metadata fields, in a line of their own or under `$set` (`activeExtensionName`: public source of
google-gemini/gemini-cli, `chatRecordingTypes.ts`, 2026; not in our recordings)."""


def generation(version: Version) -> str:
    """The format that a version writes and opens. JSON Lines came between 0.38.0 and 0.39.0, slugs
    between 0.24.5 and 0.29.0 (text search in the bundles)."""
    if version.numbers >= (0, 39):
        return "jsonl"
    return "json" if version.numbers >= (0, 29) else "json-hashed"


COMPAT = Compat(
    reads=(
        Reads(format="jsonl", versions=("0.61.0",), evidence="19 recordings, 2026-11-30"),
        Reads(format="json", versions=("0.29.0",), evidence="3 recordings, 2026-11-30"),
        Reads(format="json-hashed", versions=("0.24.5",), evidence="3 recordings, 2026-11-30"),
    ),
    writes=(
        Writes(format="jsonl", first="0.39.0"),
        Writes(format="json", first="0.29.0", last="0.38.99"),
        Writes(format="json-hashed", first="0.24.5", last="0.28.99", note="only with --force"),
    ),
    runs=RUNS,
    generation=generation,
)
