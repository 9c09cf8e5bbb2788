"""What stands in a user message but was not typed.

`<session_context>`, `<hook_context>`, `<state_snapshot>` and the loop warning: runs of 0.61.0.
The older opening and the editor's context: public source of google-gemini/gemini-cli
(`ideContext.ts`, 2025 and 2026) and shared chats, not in our recordings.
"""

from __future__ import annotations

CONTEXT = "session_context"
SUMMARY = "compact_summary"

_OPENINGS = {
    "<session_context>": CONTEXT,
    "<hook_context>": "hook_context",
    "<state_snapshot>": SUMMARY,
    "This is the Gemini CLI. We are setting up the context for our chat": CONTEXT,
    "Here is the user's editor context as a JSON object.": "ide_context",
    "Here is a summary of changes in the user's editor context": "ide_context",
    "System: Potential loop detected.": "loop_warning",
}
_FIRST = tuple(_OPENINGS)

ACKNOWLEDGED = ("Got it. Thanks for the additional context!", "Got it. Thanks for the context!")
"""The answer that the program itself puts after a summary or a context."""


def injected(text: str) -> str | None:
    """What a text is that the program put in; None for a typed one."""
    begin = text.lstrip()
    if not begin.startswith(_FIRST):
        return None
    return next(kind for opening, kind in _OPENINGS.items() if begin.startswith(opening))


def acknowledged(text: str) -> bool:
    """Whether an answer is the program's own after a summary or a context."""
    return text.strip() in ACKNOWLEDGED
