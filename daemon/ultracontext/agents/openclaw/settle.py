"""The last step over all messages: repeats out, the branch in order, calls and results paired."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Container
from typing import Any

from msgspec.structs import replace

from ultracontext.agents.openclaw.tree import Tree
from ultracontext.model import Message, Tool

ABANDONED = "abandoned"


def settled(messages: list[Message], gone: Container[str], tree: Tree) -> list[Message]:
    """The final list: the conversation in its branch's order, other branches where they came."""
    kept = [m for m in messages if m.id.partition(".")[0] not in gone]
    branch = {name: place for place, name in enumerate(tree.branch())}
    names = [tree.name_of(message.id) for message in kept]
    order = _order(names, branch)
    kept = [kept[place] for place in order]
    off = [names[p] is not None and names[p] not in branch for p in order]
    pairs = _pairs(kept)
    return [_finished(message, pairs.get(place), off[place]) for place, message in enumerate(kept)]


def _order(names: list[str | None], branch: dict[str, int]) -> list[int]:
    """Places of the messages: those of the branch change among themselves where two stores met."""
    slots = [place for place, name in enumerate(names) if name in branch]
    ranked = sorted(slots, key=lambda place: branch[names[place] or ""])
    order = list(range(len(names)))
    for slot, place in zip(slots, ranked, strict=True):
        order[slot] = place
    return order


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


def _finished(message: Message, other: Message | None, off: bool) -> Message:
    alone = other is None and message.kind == "tool_result"
    if other is None and not off and not alone:
        return message
    metadata: dict[str, Any] = message.metadata
    if off and message.kind != "meta":
        metadata = {**metadata, "branch": ABANDONED}
    tool = message.tool
    if alone and tool is not None and tool.call_id:
        metadata = {**metadata, "lost_call_id": tool.call_id}
        tool = replace(tool, call_id="")
    if tool is not None and other is not None and other.tool is not None:
        tool = _paired(message.kind, tool, other.tool)
    return replace(message, tool=tool, metadata=metadata)


def _paired(kind: str, tool: Tool, other: Tool) -> Tool:
    if kind == "tool_call":
        return replace(tool, output=other.output, is_error=other.is_error)
    return replace(tool, name=tool.name or other.name)
