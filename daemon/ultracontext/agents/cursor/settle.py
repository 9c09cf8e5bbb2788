"""The last step over all messages: stores joined, marks set, calls and results paired."""

from __future__ import annotations

from collections import deque
from typing import Any

from msgspec.structs import replace

from ultracontext.formats import pairing
from ultracontext.model import Message


def settled(
    messages: list[Message], order: list[str], marks: dict[str, str], dropped: set[str]
) -> list[Message]:
    """The final list. Messages that `order` does not know stay where they came."""
    by_id = {message.id: message for message in messages if message.id not in dropped}
    waiting = deque(name for name in order if name in by_id)
    known = set(waiting)
    kept: list[Message] = []
    for name, message in by_id.items():
        kept.append(by_id[waiting.popleft()] if name in known else message)
    pairs = pairing.pairs(kept, pairing.by_call_id_or_name)
    return [_finished(m, pairs.get(place), marks.get(m.id)) for place, m in enumerate(kept)]


def _finished(message: Message, other: Message | None, mark: str | None) -> Message:
    metadata: dict[str, Any] = message.metadata
    tool = message.tool
    if mark is not None:
        metadata = {**metadata, mark: True}
    if tool is not None and other is not None and other.tool is not None:
        tool = pairing.joined(message.kind, tool, other.tool)
    elif tool is not None and message.kind == "tool_result" and tool.call_id:
        metadata = {**metadata, "lost_call_id": tool.call_id}
        tool = replace(tool, call_id="")
    if metadata is message.metadata and tool is message.tool:
        return message
    return replace(message, tool=tool, metadata=metadata)
