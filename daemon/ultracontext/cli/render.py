"""A session for people: text for the terminal, markdown for everywhere else."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any

from ultracontext.cli.commands.status import local
from ultracontext.cli.output import one_line, visible

if TYPE_CHECKING:
    from ultracontext.model import Message
    from ultracontext.store.base import ContextRow

WIDTH = 80
SHORT_LINES = 12
SHORT_CHARACTERS = 2000
NAMES = {"user": "You", "reasoning": "Thinking", "system": "Context"}


def text(row: ContextRow, found: Any, width: int | None) -> Iterator[str]:
    """Blocks of plain text; tool inputs and outputs are cut to a few lines."""
    yield from _head(row, found)
    yield from text_since(row, found, width, frozenset())


def text_since(
    row: ContextRow, found: Any, width: int | None, told: Container[str]
) -> Iterator[str]:
    """The messages that were not told yet, by their ids."""
    for message, heading in _shown(row, found, told):
        yield ""
        yield _rule(heading, message.timestamp, width)
        if message.kind == "tool_call":
            yield from _call(message)
        elif message.kind == "tool_result":
            yield _short(_output(message), "  ")
        else:
            yield visible(message.text)


def markdown(row: ContextRow, found: Any, width: int | None) -> Iterator[str]:
    """The whole session as markdown; tool inputs and outputs are whole, in code blocks."""
    yield f"# {one_line(found.facts.title or row.session_id)}"
    yield ""
    yield " · ".join(_facts(row, found))
    yield from markdown_since(row, found, width, frozenset())


def markdown_since(
    row: ContextRow, found: Any, width: int | None, told: Container[str]
) -> Iterator[str]:
    """The messages that were not told yet, by their ids."""
    del width
    for message, heading in _shown(row, found, told):
        yield ""
        yield f"## {heading}"
        yield ""
        if message.kind == "tool_call":
            yield _fenced(_value(_tool(message).input))
            if _tool(message).output is not None:
                yield ""
                yield _fenced(_value(_tool(message).output))
        elif message.kind == "tool_result":
            yield _fenced(_output(message))
        else:
            yield visible(message.text)


def _head(row: ContextRow, found: Any) -> Iterator[str]:
    yield one_line(found.facts.title or "(no title)")
    yield " · ".join(_facts(row, found))
    yield f"id {row.context_id} · session {one_line(row.session_id)}"


def _facts(row: ContextRow, found: Any) -> list[str]:
    facts = found.facts
    times = " to ".join(
        dict.fromkeys(t for t in map(local, (facts.started_at, facts.updated_at)) if t)
    )
    parts = [row.agent, facts.project_path, facts.model, times, f"{facts.messages} messages"]
    if facts.parent_session:
        parts.append(f"{facts.relation or 'child'} of {facts.parent_session}")
    return [one_line(part) for part in parts if part]


def _shown(row: ContextRow, found: Any, told: Container[str]) -> Iterator[tuple[Message, str]]:
    """Messages with their headings, without bookkeeping and results that their call carries."""
    answered = {
        m.tool.call_id
        for m in found.messages
        if m.kind == "tool_call" and m.tool is not None and m.tool.output is not None
        if m.id not in told
    }
    for message in found.messages:
        if message.id in told:
            continue
        call = message.tool.call_id if message.tool is not None else ""
        if message.kind == "meta" or (message.kind == "tool_result" and call and call in answered):
            continue
        yield message, _heading(row, message) + _marks(message)


def _heading(row: ContextRow, message: Message) -> str:
    if message.kind in ("tool_call", "tool_result"):
        word = "Tool" if message.kind == "tool_call" else "Result"
        name = one_line(message.tool.name) if message.tool is not None else ""
        return f"{word} {name}".rstrip()
    if message.kind == "assistant":
        return row.agent.capitalize()
    return NAMES.get(message.kind, message.kind)


def _marks(message: Message) -> str:
    """`(sidechain)`, `(undone)`: what the reader says of the message with a plain yes."""
    marks = [key for key, value in message.metadata.items() if value is True]
    return f" ({', '.join(one_line(m) for m in marks)})" if marks else ""


def _rule(heading: str, timestamp: str | None, width: int | None) -> str:
    clock = local(timestamp, "%H:%M:%S")
    words = f"── {heading}" + (f" · {clock}" if clock else "") + " "
    return words + "─" * max(2, min(width or WIDTH, WIDTH) - len(words))


def _tool(message: Message) -> Any:
    return message.tool


def _call(message: Message) -> Iterator[str]:
    tool = _tool(message)
    if tool is None:
        yield visible(message.text)
        return
    yield _short(_value(tool.input), "  ")
    if tool.output is not None:
        mark = "  failed:" if tool.is_error else "  →"
        yield mark
        yield _short(_value(tool.output), "  ")


def _output(message: Message) -> str:
    if message.tool is not None and message.tool.output is not None:
        return _value(message.tool.output)
    return message.text


def _value(value: Any) -> str:
    """A tool's input or output as a person reads it."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(value) <= 8 and all(_scalar(v) for v in value.values()):
        return "\n".join(f"{key}: {item}" for key, item in value.items())
    if value is None:
        return ""
    try:
        return json.dumps(value, ensure_ascii=False, indent=1, default=str)
    except (ValueError, RecursionError):
        return "(nested too deep to show)"


def _scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _short(body: str, indent: str) -> str:
    cut = body[:SHORT_CHARACTERS].rstrip("\n")
    lines = cut.split("\n")
    shown = [indent + visible(line) for line in lines[:SHORT_LINES]]
    if len(lines) > SHORT_LINES or len(body) > SHORT_CHARACTERS:
        more = body.count("\n") + 1 - SHORT_LINES
        shown.append(f"{indent}… {more} more lines" if more > 0 else f"{indent}…")
    return "\n".join(shown)


def _fenced(body: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{visible(body).rstrip()}\n{fence}"
