"""The last step over all messages: repeats out, marks on, calls and results paired."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from msgspec.structs import replace

from ultracontext.agents.gemini.timeline import Entry, Timeline
from ultracontext.model import Message, Tool


def settled(messages: list[Message], timeline: Timeline) -> list[Message]:
    """The final list, each message of the agent's once, at the place of its first record."""
    by_id: dict[str, Message] = {}
    strangers: dict[Entry | None, list[Message]] = defaultdict(list)
    last: Entry | None = None
    for message in messages:
        owner = timeline.owner(message.id)
        if owner is None:
            strangers[last].append(message)
        else:
            by_id[message.id] = message
            last = owner
    kept = list(strangers[None])
    for entry in timeline.order():
        marks = _marks(entry, timeline)
        kept += [_marked(by_id[name], marks) for name in entry.ids if name in by_id]
        if entry in strangers:
            kept += strangers[entry]
    return _paired(kept)


def _marks(entry: Entry, timeline: Timeline) -> dict[str, Any]:
    if not entry.turn:
        return {}
    marks: dict[str, Any] = {}
    if entry.undone and entry.in_log:
        marks["undone"] = True
        if entry in timeline.put_back:
            marks["put_back"] = True
    if entry.deleted:
        marks["deleted"] = True
    if entry.compacted:
        marks["compacted"] = True
    return marks


def _marked(message: Message, marks: dict[str, Any]) -> Message:
    if not marks:
        return message
    metadata = {**message.metadata, **marks}
    if "put_back" in marks:
        return replace(message, kind="meta", metadata=metadata)
    return replace(message, metadata=metadata)


def _paired(messages: list[Message]) -> list[Message]:
    """Calls get their results' outputs, results their calls' names."""
    waiting: dict[str, list[int]] = defaultdict(list)
    for place, message in enumerate(messages):
        tool = message.tool
        if tool is None:
            continue
        key = tool.call_id or f"\0{tool.name}"
        if message.kind == "tool_call":
            if tool.call_id:
                waiting[key].clear()
            waiting[key].append(place)
        elif waiting[key]:
            call = waiting[key].pop(0)
            _pair(messages, call, place, tool)
    return messages


def _pair(messages: list[Message], call: int, place: int, result: Tool) -> None:
    asked = messages[call]
    if asked.tool is None:
        return
    tool = replace(asked.tool, output=result.output, is_error=result.is_error)
    messages[call] = replace(asked, tool=tool)
    if result.name != asked.tool.name:
        named = replace(result, name=asked.tool.name)
        messages[place] = replace(messages[place], tool=named)
