"""The last step over all messages: repeats out, the branch in order, calls and results paired."""

from __future__ import annotations

from collections.abc import Container
from typing import Any

from msgspec.structs import replace

from ultracontext.agents.openclaw.tree import Tree
from ultracontext.formats import pairing
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
    pairs = pairing.pairs(kept)
    return [_finished(message, pairs.get(place), off[place]) for place, message in enumerate(kept)]


def _order(names: list[str | None], branch: dict[str, int]) -> list[int]:
    """Places of the messages: those of the branch change among themselves where two stores met."""
    slots = [place for place, name in enumerate(names) if name in branch]
    ranked = sorted(slots, key=lambda place: branch[names[place] or ""])
    order = list(range(len(names)))
    for slot, place in zip(slots, ranked, strict=True):
        order[slot] = place
    return order


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
        tool = _joined(message.kind, tool, other.tool)
    return replace(message, tool=tool, metadata=metadata)


def _joined(kind: str, tool: Tool, other: Tool) -> Tool:
    """A result that names its tool keeps that name."""
    found = pairing.joined(kind, tool, other)
    return replace(found, name=tool.name) if kind != "tool_call" and tool.name else found
