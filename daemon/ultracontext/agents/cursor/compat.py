"""Forms of Cursor's stores that are read, and the words that their records use.

Nothing was run: Cursor publishes no schema. The recordings are synthetic, made from the sources
that FORMAT.md lists. A kind that is not listed here is kept as `meta` and counted under
`facts.unknown`.
"""

from __future__ import annotations

import msgspec

from ultracontext.agents.cursor.writer import HANDOFF
from ultracontext.formats.evidence import Compat, Reads


class Met(msgspec.Struct, frozen=True, kw_only=True):
    """One form of a store, and what tells of it."""

    version: str
    seen: str
    """Day of the material."""
    recordings: int
    note: str


MET = (
    Met(
        version="3.x", seen="2026-09", recordings=1, note="state.vscdb, headers in the global list"
    ),
    Met(
        version="0.4x-2.x",
        seen="2026-06",
        recordings=0,
        note="state.vscdb, workspace lists, inline",
    ),
    Met(version="2024", seen="2026-06", recordings=0, note="state.vscdb, chat tabs"),
    Met(version="cli 2026.09", seen="2026-09", recordings=1, note="store.db"),
    Met(
        version="transcripts", seen="2026-09", recordings=4, note="jsonl since 2026-02, txt before"
    ),
)

ROLES = frozenset({"assistant", "system", "tool", "user"})
"""`role` of a transcript line or a message of `store.db`."""

LINES = frozenset({"turn_ended"})
"""`type` of a transcript line without a role."""

PARTS = frozenset(
    {"image", "reasoning", "redacted-reasoning", "text", "tool-call", "tool-result", "tool_result",
     "tool_use"}
)  # fmt: skip
"""`type` of a part of a message's content."""

COMPAT = Compat(
    reads=(
        Reads(format="state.vscdb", versions=("3.x",), evidence="1 synthetic recording, 2026-09"),
        Reads(format="store.db", versions=("2026.09",), evidence="1 synthetic recording, 2026-09"),
        Reads(
            format="transcripts", versions=("2026.09",), evidence="4 synthetic recordings, 2026-09"
        ),
    ),
    generation=lambda version: "cli" if version.numbers >= (2025,) else "ide",
    handoff=HANDOFF,
)
