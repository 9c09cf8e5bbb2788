"""Versions of Claude Code that were run, and the words that their files use.

A kind that is not listed here is kept as `meta` and counted under `facts.unknown`.
"""

from __future__ import annotations

import msgspec

from ultracontext.agents.claude.evidence import RUNS
from ultracontext.formats import Compat, Reads, Writes
from ultracontext.formats.versions import Version


class Met(msgspec.Struct, frozen=True, kw_only=True):
    """One version that was run, and what proves it."""

    version: str
    seen: str
    """Day of the recordings."""
    recordings: int
    note: str


MET = (
    Met(
        version="2.1.332", seen="2026-11-30", recordings=22, note="native program, headless and TUI"
    ),
    Met(version="2.0.77", seen="2026-11-30", recordings=3, note="JavaScript on Node 20"),
    Met(version="1.0.128", seen="2026-11-30", recordings=4, note="JavaScript on Node 20"),
)

LOOSE = frozenset(
    {
        "agent-name", "ai-title", "api-request", "api-request-blob", "api-request-shape",
        "atis-latch", "cost-state", "custom-title", "file-history-snapshot", "last-prompt", "mode",
        "permission-mode", "queue-operation", "summary", "tools-used",
    }
)  # fmt: skip
"""Records outside the chain."""

CHAIN = frozenset({"assistant", "attachment", "progress", "system", "user"})
"""Records with `uuid` and `parentUuid`."""

SYSTEM = frozenset(
    {
        "api_error", "compact_boundary", "informational", "local_command", "stop_hook_summary",
        "turn_duration",
    }
)  # fmt: skip
"""`subtype` of system records."""

SETTING = frozenset(
    {
        "agent_listing_delta", "auto_mode", "date", "deferred_tools_delta", "environment", "model",
        "prompt_snapshot", "remote_session_change", "session_context", "skill_listing",
    }
)  # fmt: skip
"""Attachments that only describe the setting; each session has them, so they are `meta`."""

ATTACHMENTS = SETTING | {
    "file", "hook_blocking_error", "hook_success", "max_turns_reached", "queued_command",
}  # fmt: skip
"""All attachments met. `queued_command` is not in our recordings: public projects that read files
of 2.1 agree that a prompt typed while the agent works stands there and nowhere else (2026-11).
"""


def generation(version: Version) -> str:
    """1.0, 2.0 and 2.1 each read a session in their own way."""
    return ".".join(map(str, version.numbers[:2]))


COMPAT = Compat(
    reads=tuple(
        Reads(
            format="jsonl", versions=(met.version,),
            evidence=f"{met.recordings} recordings, {met.seen}",
        )
        for met in MET
    ),
    writes=(Writes(format="jsonl", first="1.0.0", note="one file that 1.0, 2.0 and 2.1 open"),),
    runs=RUNS,
    generation=generation,
)  # fmt: skip
