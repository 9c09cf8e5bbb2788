"""Versions of Codex whose files were met, with evidence."""

from __future__ import annotations

from dataclasses import dataclass

from ultracontext.agents.codex.evidence import RUNS
from ultracontext.formats import Compat, Reads, Writes
from ultracontext.formats.versions import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was seen of one version."""

    version: str
    date: str
    """Day of the recording, as the recording machine had it."""
    style: str
    """`legacy` or `paginated`: which events the version writes into a new file."""
    recordings: tuple[str, ...]
    """Folders in tests/fixtures/codex."""
    news: str


EVIDENCE = (
    Evidence(
        version="0.45.0",
        date="2026-11-30",
        style="legacy",
        recordings=("v045-chat-wire",),
        news="user_message has `kind`; <user_instructions>; no model_provider.",
    ),
    Evidence(
        version="0.77.0",
        date="2026-11-30",
        style="legacy",
        recordings=("v077-multi-turn", "v077-tools", "v077-tui-compact"),
        news="AGENTS.md as a user item; apply_patch as custom tool; compacted without a history.",
    ),
    Evidence(
        version="0.125.0",
        date="2026-11-30",
        style="legacy",
        recordings=("v0125-tools", "v0125-resumed-by-v0171"),
        news="Turn events; developer messages; exec_command; replacement_history; forked_from_id.",
    ),
    Evidence(
        version="0.171.0",
        date="2026-11-30",
        style="paginated",
        recordings=(
            "code-mode-exec-tool",
            "compaction-auto",
            "image-attachment",
            "multi-turn",
            "plain-chat",
            "resumed-and-forked",
            "secret-in-prompt",
            "tools-shell-and-patch",
            "tui-manual-compact",
            "tui-multi-turn-named",
            "unicode-emoji-cjk",
        ),
        news="Ordinals; item_completed; labelled parts; history_base.",
    ),
)
"""Oldest first. Versions between these are read by the same rules; older files without an envelope
(before September 2025) are read from knowledge of the source, not of a recording."""


def generation(version: Version) -> str:
    """Since 0.100 a home has an index; what opens a legacy file of one opens that of all later."""
    return "indexed" if version.numbers >= (0, 100) else "files"


COMPAT = Compat(
    reads=tuple(
        Reads(
            format=f"rollout, {seen.style}", versions=(seen.version,),
            evidence=f"{len(seen.recordings)} recordings, {seen.date}",
        )
        for seen in EVIDENCE
    ),
    writes=(
        Writes(format="rollout", first="0.45.0", note="legacy style, which all versions open"),
    ),
    runs=RUNS,
    generation=generation,
)  # fmt: skip
