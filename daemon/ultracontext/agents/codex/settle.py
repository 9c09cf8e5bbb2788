"""The final list of messages: each text once, calls with results, undone turns marked."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

from msgspec.structs import replace

from ultracontext.agents.codex.events import UNDO
from ultracontext.agents.codex.items import MESSAGE
from ultracontext.agents.codex.line import ASSUMED, ROLES, TWIN, Dict
from ultracontext.agents.codex.tools import output_text, whole_output
from ultracontext.model import Message, Tool

CALL = "call:"
PROMPT_EVENTS = ("event_msg/user_message", "event_msg/item_completed/UserMessage")


def settled(messages: list[Message], *, delegated: bool = False) -> list[Message]:
    """Messages of a whole thread as `feed` gave them → what is shown. Needs nothing but the list.

    `delegated`: a sub-agent's thread, whose prompts were written by its parent.
    """
    merged, runs = _merge(messages)
    _demote(merged, messages)
    shown = _pair(list(merged.values()), runs)
    _mark_summaries(shown)
    _mark_undone(shown)
    if delegated:
        for index, message in enumerate(shown):
            if message.kind == "user":
                shown[index] = _with(message, delegated=True)
    return shown


def _with(message: Message, **metadata: Any) -> Message:
    return replace(message, metadata={**message.metadata, **metadata})


def _kind(message: Message, kind: Any) -> Message:
    return replace(message, kind=kind, role=ROLES[kind])


def _merge(messages: list[Message]) -> tuple[dict[str, Message], dict[str, list[Message]]]:
    """Messages by id without their repetitions, and the events of calls by call id."""
    merged: dict[str, Message] = {}
    runs: dict[str, list[Message]] = defaultdict(list)
    late: list[tuple[str, Message]] = []
    for message in messages:
        of = message.metadata.get(TWIN)
        if type(of) is not str:
            merged[message.id] = message
        elif of.startswith(CALL):
            runs[of[len(CALL) :]].append(message)
        else:
            late.append((of, message))
    for of, twin in late:
        first = merged.get(of)
        if first is None:  # the first is not in this list: the repetition stands for it
            merged[twin.id] = _alone(twin)
        else:
            merged[of] = _joined(first, twin)
    return merged, runs


def _alone(twin: Message) -> Message:
    metadata = {key: value for key, value in twin.metadata.items() if key != TWIN}
    return replace(twin, metadata=metadata)


def _joined(first: Message, twin: Message) -> Message:
    """The first occurrence, with what the better witness says."""
    extra: Dict = {key: value for key, value in twin.metadata.items() if key not in (TWIN, ASSUMED)}
    if twin.tool is not None and first.tool is not None:
        return _joined_call(first, twin)
    if not twin.event_type.startswith("event_msg/") or first.kind == "reasoning":
        kept = {**extra, **first.metadata}
        kept.pop(ASSUMED, None)
        return replace(first, metadata=kept)
    kind = "user" if first.kind in ("user", "system") else first.kind
    metadata = {**first.metadata, **extra}
    metadata.pop(ASSUMED, None)
    text = twin.text if twin.text.strip() else first.text
    event_type = MESSAGE if kind == "user" else first.event_type
    return replace(_kind(first, kind), text=text, event_type=event_type, metadata=metadata)


def _joined_call(first: Message, twin: Message) -> Message:
    """An event came before its item: the item names the call, the event may know more output."""
    a, b = first.tool, twin.tool
    if a is None or b is None or not twin.text:
        return first
    if first.kind == "tool_result":
        output = whole_output(b.output, a.output)
        error = b.is_error if b.is_error is not None else a.is_error
        tool = Tool(name=b.name or a.name, call_id=b.call_id, output=output, is_error=error)
        text = output_text(output)
    else:
        tool, text = Tool(name=b.name, call_id=b.call_id, input=b.input), twin.text
    metadata = {key: value for key, value in first.metadata.items() if key != "nested"}
    return replace(first, tool=tool, text=text, event_type=twin.event_type, metadata=metadata)


def _demote(merged: dict[str, Message], messages: list[Message]) -> None:
    """Items that only look typed are the program's own once an event has shown a prompt."""
    evident = False
    for message in messages:
        if message.event_type.startswith(PROMPT_EVENTS):
            evident = True
            continue
        now = merged.get(message.id)
        if now is None or ASSUMED not in now.metadata:
            continue
        metadata = {key: value for key, value in now.metadata.items() if key != ASSUMED}
        now = replace(now, metadata=metadata)
        merged[message.id] = _kind(now, "system") if evident else now


def _pair(shown: list[Message], runs: dict[str, list[Message]]) -> list[Message]:
    """Calls get their outputs, in the order in which both stand where an id is used twice."""
    results: dict[str, deque[int]] = defaultdict(deque)
    for index, message in enumerate(shown):
        if message.kind == "tool_result" and message.tool is not None and message.tool.call_id:
            results[message.tool.call_id].append(index)
    for index, message in enumerate(shown):
        if message.kind != "tool_call" or message.tool is None:
            continue
        call_id = message.tool.call_id
        told = runs.pop(call_id, []) if call_id else []
        mine = results.get(call_id)
        result = shown[mine[0]] if mine else None
        if mine and result is not None:
            result = shown[mine.popleft()] = _result(result, message.tool.name, told)
            shown[index] = _called(message, result.tool, told)
        elif told:
            shown[index] = _called(message, told[-1].tool, told)
    return shown


def _result(result: Message, name: str, told: list[Message]) -> Message:
    tool = result.tool
    if tool is None:
        return result
    output, error = tool.output, tool.is_error
    for event in told:
        if event.tool is not None:
            output = whole_output(output, event.tool.output)
            error = event.tool.is_error if error is None else error
    text = result.text if output is tool.output else output_text(output)
    tool = Tool(name=tool.name or name, call_id=tool.call_id, output=output, is_error=error)
    return replace(result, tool=tool, text=text)


def _called(call: Message, answer: Tool | None, told: list[Message]) -> Message:
    if call.tool is None or answer is None:
        return call
    metadata = dict(call.metadata)
    for event in told:
        metadata.update({k: v for k, v in event.metadata.items() if k != TWIN})
    tool = replace(call.tool, output=answer.output, is_error=answer.is_error)
    return replace(call, tool=tool, metadata=metadata)


def _mark_summaries(shown: list[Message]) -> None:
    """An answer without an event, right before a compaction that holds it, was for the program."""
    last: int | None = None
    for index, message in enumerate(shown):
        if message.kind == "assistant":
            last = index if message.event_type == MESSAGE else None
        elif message.event_type == "compacted" and last is not None:
            answer = shown[last]
            if answer.text.strip() and message.text.rstrip().endswith(answer.text.strip()):
                shown[last] = replace(
                    _kind(answer, "system"), event_type=f"{MESSAGE}/compaction_output"
                )
            last = None


def _mark_undone(shown: list[Message]) -> None:
    """`thread_rolled_back` undoes the last turns; a turn begins with a prompt."""
    prompts: list[int] = []
    for index, message in enumerate(shown):
        if message.kind == "user":
            prompts.append(index)
        elif message.event_type == f"event_msg/{UNDO}":
            turns = message.metadata.get("turns")
            if type(turns) is not int or turns < 1 or not prompts:
                continue
            start = prompts[-turns] if turns <= len(prompts) else prompts[0]
            del prompts[-turns:]
            for undone in range(start, index):
                if shown[undone].kind != "meta" and "undone" not in shown[undone].metadata:
                    shown[undone] = _with(shown[undone], undone=True)
