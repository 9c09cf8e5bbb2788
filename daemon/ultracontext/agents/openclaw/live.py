"""What of a session the model gets now (FORMAT.md section 5, runs of 2026.7.35 and 2026.9.6).

The branch of the leaf; of that, after a compaction its summary, what it kept from
`first_kept_entry_id` on, and what came later; after a reset only what came later.
"""

from __future__ import annotations

from ultracontext.agents.openclaw.settle import ABANDONED
from ultracontext.model import Message

COMPACTIONS = frozenset({"compaction", "compactionSummary"})
UNSENT = frozenset({"error", "reset"})


def live(messages: list[Message]) -> list[Message]:
    """Of the settled messages those that the model would get."""
    branch = [m for m in messages if m.kind != "meta" and m.metadata.get("branch") != ABANDONED]
    places = (n for n in reversed(range(len(branch))) if _bounds(branch[n]))
    last = next(places, None)
    if last is None:
        return _sent(branch)
    if branch[last].event_type == "reset":
        return _sent(branch[last + 1 :])
    kept = branch[last].metadata.get("first_kept_entry_id")
    first = next((n for n, m in enumerate(branch[:last]) if _names(m, kept)), last)
    return _sent([branch[last], *branch[first:last], *branch[last + 1 :]])


def _bounds(message: Message) -> bool:
    return message.event_type == "reset" or message.event_type in COMPACTIONS


def _names(message: Message, entry: object) -> bool:
    return entry is not None and message.metadata.get("entry_id") == entry


def _sent(messages: list[Message]) -> list[Message]:
    return [message for message in messages if message.event_type not in UNSENT]
