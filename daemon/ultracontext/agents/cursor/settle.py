"""The last step over all messages: stores joined, marks set, calls and results paired."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

from msgspec.structs import replace

from ultracontext.model import Message, Tool


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
    pairs = _pairs(kept)
    return [_finished(m, pairs.get(place), marks.get(m.id)) for place, m in enumerate(kept)]


def _pairs(messages: list[Message]) -> dict[int, Message]:
    """Place of a call → its result, and the other way round. Without ids they pair by name."""
    calls: dict[tuple[str, str], deque[int]] = defaultdict(deque)
    for place, message in enumerate(messages):
        if message.kind == "tool_call" and message.tool is not None:
            calls[_key(message.tool)].append(place)
    pairs: dict[int, Message] = {}
    for place, message in enumerate(messages):
        if message.kind == "tool_result" and message.tool is not None:
            waiting = calls.get(_key(message.tool))
            if waiting:
                call = waiting.popleft()
                pairs[call] = message
                pairs[place] = messages[call]
    return pairs


def _key(tool: Tool) -> tuple[str, str]:
    return (tool.call_id, "") if tool.call_id else ("", tool.name)


def _finished(message: Message, other: Message | None, mark: str | None) -> Message:
    metadata: dict[str, Any] = message.metadata
    tool = message.tool
    if mark is not None:
        metadata = {**metadata, mark: True}
    if tool is not None and other is not None and other.tool is not None:
        tool = _paired(message.kind, tool, other.tool)
    elif tool is not None and message.kind == "tool_result" and tool.call_id:
        metadata = {**metadata, "lost_call_id": tool.call_id}
        tool = replace(tool, call_id="")
    if metadata is message.metadata and tool is message.tool:
        return message
    return replace(message, tool=tool, metadata=metadata)


def _paired(kind: str, tool: Tool, other: Tool) -> Tool:
    if kind == "tool_call":
        return replace(tool, output=other.output, is_error=other.is_error)
    return replace(tool, name=other.name)
