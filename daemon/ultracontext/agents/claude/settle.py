"""The last step over all messages: repeats out, calls and results paired, branches marked."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

from msgspec.structs import replace

from ultracontext.agents.claude.branches import PARENT, abandoned
from ultracontext.model import Message, Tool


def settled(messages: list[Message]) -> list[Message]:
    """The final list, in the order of the file."""
    kept = _once(messages)
    off = abandoned(kept)
    pairs = _pairs(kept)
    return [_finished(message, pairs.get(place), off) for place, message in enumerate(kept)]


def _once(messages: list[Message]) -> list[Message]:
    """Without records that come again under the same uuid: the first counts."""
    seen: set[str] = set()
    owner: dict[str, str] = {}
    kept = []
    for message in messages:
        if message.id in seen:
            continue
        uuid = message.metadata.get("uuid")
        base = message.id.partition(".")[0]
        if uuid is not None and owner.setdefault(uuid, base) != base:
            continue
        seen.add(message.id)
        kept.append(message)
    return kept


def _pairs(messages: list[Message]) -> dict[int, Message]:
    """Place of a call → its result, and the other way round. An id used again pairs in order."""
    calls: dict[str, deque[int]] = defaultdict(deque)
    for place, message in enumerate(messages):
        if message.kind == "tool_call" and message.tool is not None and message.tool.call_id:
            calls[message.tool.call_id].append(place)
    pairs: dict[int, Message] = {}
    for place, message in enumerate(messages):
        if message.kind == "tool_result" and message.tool is not None:
            waiting = calls.get(message.tool.call_id)
            if waiting:
                call = waiting.popleft()
                pairs[call] = message
                pairs[place] = messages[call]
    return pairs


def _finished(message: Message, other: Message | None, off: set[str]) -> Message:
    metadata = message.metadata
    left = bool(off) and metadata.get("uuid") in off
    if other is None and not left and PARENT not in metadata:
        return message
    changed: dict[str, Any] = {key: value for key, value in metadata.items() if key != PARENT}
    if left:
        changed["branch"] = "abandoned"
    tool = message.tool
    if tool is not None and other is not None and other.tool is not None:
        if message.kind == "tool_call" and "subagent" in other.metadata:
            changed["subagent"] = other.metadata["subagent"]
        tool = _paired(message.kind, tool, other.tool)
    return replace(message, tool=tool, metadata=changed)


def _paired(kind: str, tool: Tool, other: Tool) -> Tool:
    if kind == "tool_call":
        return replace(tool, output=other.output, is_error=other.is_error)
    return replace(tool, name=other.name)
