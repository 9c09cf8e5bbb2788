"""How work goes on in Cursor: by a first prompt, not by a session of ours.

No native way is proven. `store.db` is content-addressed and a made-up one is likely to open, but
whether the service takes a root without the fields that real ones have is not known, and nothing
was run; transcripts are output only; `state.vscdb` belongs to a running IDE (FORMAT.md, part "What
a third party can write", November 2026).
"""

from __future__ import annotations

HANDOFF = (
    "no native way into Cursor is proven: cursor-agent begins a new session with a document that "
    "carries the history"
)


def opening(prompt: str) -> tuple[str, ...]:
    """`cursor-agent PROMPT`, in the workspace (public CLI reference, 2026)."""
    return ("cursor-agent", prompt)
