"""Which tool result answers which call, over all messages of a session."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable

from msgspec.structs import replace

from ultracontext.model import Message, Tool


def by_call_id(tool: Tool) -> Hashable | None:
    return tool.call_id or None


def by_call_id_or_name(tool: Tool) -> Hashable | None:
    """For agents that may leave the id out."""
    return (tool.call_id, "") if tool.call_id else ("", tool.name)


def pairs(
    messages: list[Message], key: Callable[[Tool], Hashable | None] = by_call_id
) -> dict[int, Message]:
    """Place of a call → its result, and the other way round. A key used again pairs in order;
    None pairs with nothing."""
    calls: dict[Hashable, deque[int]] = defaultdict(deque)
    for place, message in enumerate(messages):
        if message.kind == "tool_call" and message.tool is not None:
            name = key(message.tool)
            if name is not None:
                calls[name].append(place)
    found: dict[int, Message] = {}
    for place, message in enumerate(messages):
        if message.kind == "tool_result" and message.tool is not None:
            waiting = calls.get(key(message.tool))
            if waiting:
                call = waiting.popleft()
                found[call] = message
                found[place] = messages[call]
    return found


def joined(kind: str, tool: Tool, other: Tool) -> Tool:
    """A call with its result's output, a result with its call's name."""
    if kind == "tool_call":
        return replace(tool, output=other.output, is_error=other.is_error)
    return replace(tool, name=other.name or tool.name)
