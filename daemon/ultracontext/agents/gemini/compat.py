"""Versions of Gemini CLI that were run, and the words that their files use.

A word that is not listing here is kept and counted under `facts.unknown`.
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
    Met(version="0.61.0", seen="2026-11-30", recordings=19, note="JSON Lines, headless and TUI"),
    Met(version="0.29.0", seen="2026-11-30", recordings=3, note="whole document, slug folders"),
    Met(version="0.24.5", seen="2026-11-30", recordings=3, note="whole document, hashed folders"),
)

TURNS = frozenset({"user", "gemini"})
NOTICES = frozenset({"info", "error", "warning"})
"""Shown to the person, never sent to the model."""

SETTINGS = frozenset(
    {
        "activeExtensionName", "directories", "kind", "lastUpdated", "memoryScratchpad", "messages",
        "projectHash", "sessionId", "startTime", "summary",
    }
)  # fmt: skip
"""Metadata fields, in a line of their own or under `$set` (`activeExtensionName`: public source of
google-gemini/gemini-cli, `chatRecordingTypes.ts`, 2026; not in our recordings)."""
