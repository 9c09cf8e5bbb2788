"""What of a session is sent to the model now.

After a compaction nothing before its last boundary is sent, but for the messages that the boundary
names as preserved: they go behind the summary (runs of 2.1.332). `system` records, errors in an
answer's place, and branches that were left are never sent.
"""

from __future__ import annotations

from ultracontext.model import Message

BOUNDARY, SUMMARY = "compact_boundary", "compact_summary"


def live(messages: list[Message]) -> list[Message]:
    """Of the settled messages those that the model would get."""
    boundary = _last_boundary(messages)
    if boundary is None:
        return [message for message in messages if _sent(message)]
    kept = frozenset(messages[boundary].metadata.get("preserved") or ())
    preserved = [m for m in messages[:boundary] if m.metadata.get("uuid") in kept and _sent(m)]
    after = [m for m in messages[boundary + 1 :] if _sent(m) and m.metadata.get("uuid") not in kept]
    place = next((n for n, m in enumerate(after) if m.event_type == SUMMARY), -1) + 1
    return [*after[:place], *preserved, *after[place:]]


def _last_boundary(messages: list[Message]) -> int | None:
    places = (n for n in reversed(range(len(messages))) if messages[n].event_type == BOUNDARY)
    return next((n for n in places if "branch" not in messages[n].metadata), None)


def _sent(message: Message) -> bool:
    if message.kind == "meta" or message.metadata.get("branch") == "abandoned":
        return False
    if message.kind != "system":
        return True
    unsent = message.event_type == BOUNDARY or message.event_type.startswith("system/")
    return not unsent and "error" not in message.metadata
