"""What of a conversation the model gets now: all but what was removed or left by a compaction."""

from __future__ import annotations

from ultracontext.agents.cursor.lanes import DELETED, SUPERSEDED
from ultracontext.model import Message


def live(messages: list[Message]) -> list[Message]:
    """Of the settled messages those that the model would get."""
    return [
        message
        for message in messages
        if message.kind != "meta"
        and DELETED not in message.metadata
        and SUPERSEDED not in message.metadata
    ]
