"""What of a session the model gets now (FORMAT.md sections 3 and 4, runs of 0.61.0).

What was undone, deleted or compacted is left out; so are notices, thoughts, and prompts that begin
with `/` or `?`, which a resume does not send.
"""

from __future__ import annotations

from ultracontext.agents.gemini.compat import NOTICES
from ultracontext.agents.gemini.guard import GUARDED
from ultracontext.model import Message

SUMMARY, ACKNOWLEDGED = "compact_summary", "compact_acknowledged"
DROPPED = ("undone", "deleted", "compacted")


def live(messages: list[Message]) -> list[Message]:
    """Of the settled messages those that the model would get, a summary before what it kept."""
    held = [message for message in messages if _holds(message)]
    last = max((n for n, m in enumerate(held) if m.event_type == SUMMARY), default=None)
    if last is None:
        return held
    context = [m for m in held[:last] if m.kind == "system"]
    kept = [m for m in held[:last] if m.kind != "system"]
    end = last + 1 + sum(m.event_type == ACKNOWLEDGED for m in held[last + 1 : last + 2])
    return [*context, *held[last:end], *kept, *held[end:]]


def _holds(message: Message) -> bool:
    if any(mark in message.metadata for mark in DROPPED):
        return False
    return is_sent(message) or (message.kind == "system" and message.event_type not in NOTICES)


def is_sent(message: Message) -> bool:
    """Whether a message alone makes a session one that can be resumed."""
    if message.kind == "user":
        return GUARDED in message.metadata or not message.text.lstrip().startswith(("/", "?"))
    return message.kind in ("assistant", "tool_call", "tool_result")
