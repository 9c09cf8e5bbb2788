"""The last step over all messages: repeats out, calls and results paired, branches marked."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ultracontext.agents.claude.branches import PARENT, abandoned
from ultracontext.formats import pairing
from ultracontext.model import Message


def settled(messages: list[Message]) -> list[Message]:
    """The final list, in the order of the file."""
    kept = _once(messages)
    off = abandoned(kept)
    pairs = pairing.pairs(kept)
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
        tool = pairing.joined(message.kind, tool, other.tool)
    return replace(message, tool=tool, metadata=changed)
