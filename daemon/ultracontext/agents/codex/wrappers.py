"""Texts that Codex puts into the conversation itself, told from what a person typed.

0.171 labels each part of an item (`content_item_kinds`); before, only the form of the text tells.
A label or form is never the last word: where the screen's event says that a text was typed, it was.
Forms: FORMAT.md section 2 [E]; those marked S are read in openai/codex, codex-rs/core/src/
contextual_user_message.rs and model_visible_context.rs (2025 and 2026), not run.
"""

from __future__ import annotations

import re

TYPED_LABELS = frozenset({"user.text", "user.image", "user.audio"})
OPEN_LABELS = frozenset(
    {"", "unknown", "images.preparation_error", "images.unsupported", "audio.unsupported"}
)
"""Labels that do not tell."""

_KNOWN_TAGS = frozenset(
    {
        "user_instructions",
        "environment_context",
        "turn_aborted",
        "permissions instructions",
        "skills_instructions",
        "collaboration_mode",
        "model_switch",
        "tools",
        "personality_spec",
        # S:
        "skill",
        "user_shell_command",
        "subagent_notification",
        "subagents",
        "plugins",
        "user_action",
        "hook_prompt",
        "js_repl_instructions",
        "skills_section",
        "child_agents_instructions",
    }
)

_TAG = re.compile(r"\s*<([A-Za-z][A-Za-z0-9_.-]*(?: instructions)?)(?:\s[^<>]*)?>")

_BEGINNINGS = (
    ("# AGENTS.md instructions", "agents_md"),
    ("Another language model started to solve this problem", "compaction_summary"),
    ("You were originally given instructions from a user", "compaction_summary"),  # 0.45
    ("Warning: apply_patch was requested via ", "warning"),  # S
    ("Warning: The maximum number of unified exec processes", "warning"),  # S
)


def wrapper_name(text: str) -> str | None:
    """What the program put in with this text, None when a person may have typed it.

    Besides the known tags, a text that is one element with an underscore in its name counts.
    """
    start = text.lstrip()[:60]
    if not start.startswith(("<", "#", "A", "Y", "W")):
        return None
    match = _TAG.match(text)
    if match is not None:
        tag = match.group(1).lower()
        closed = "_" in tag and text.rstrip().lower().endswith(f"</{tag}>")
        return tag.replace(" ", "_") if closed or tag in _KNOWN_TAGS else None
    for beginning, name in _BEGINNINGS:
        if start.startswith(beginning):
            return name
    return None


def developer_name(text: str) -> str:
    """What a developer message is about."""
    match = _TAG.match(text)
    return match.group(1).lower().replace(" ", "_") if match else "developer"


def is_media_tag(text: str) -> bool:
    """`<image name=[Image #1] path="…">` and `</image>`, which stand around an attachment."""
    bare = text.strip()
    return bare in ("<image>", "</image>", "<audio>", "</audio>") or (
        bare.startswith(("<image ", "<audio ")) and bare.endswith(">") and len(bare) < 5000
    )
