"""One message of a session as lines on screen.

Everything that comes from a session is plain text to Rich: no markup is read from it, links are not
made, and what could steer a terminal is replaced before.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.markdown import Markdown
from rich.padding import Padding
from rich.rule import Rule
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.strip import Strip

from ultracontext.model import Message
from ultracontext_dashboard.library import moment
from ultracontext_dashboard.text import MASK, clean, fit, one_line, short_lines, with_masks

NAMES = {"user": "you", "assistant": "agent", "reasoning": "thinking", "system": "context"}
FOLDED_LINES = 8
OPEN_LINES = 400
MARKDOWN_LIMIT = 20_000
"""Characters of an answer that are read as markdown; longer ones are shown as they are."""
BRIEF = ("command", "cmd", "file_path", "path", "pattern", "query", "url", "description", "prompt")


@dataclass(frozen=True, slots=True, kw_only=True)
class Palette:
    """Styles of the parts of a block."""

    user: Style
    agent: Style
    dim: Style
    tool: Style
    good: Style
    bad: Style
    mask: Style
    added: Style
    removed: Style
    found: Style


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A message, and how it is shown."""

    message: Message
    open: bool = False
    heading: bool = True
    """Whether the speaker is named: left out when the message before is by the same one."""


def render(
    block: Block, width: int, console: Console, palette: Palette, *, found: str = ""
) -> list[Strip]:
    """The block's lines, each exactly `width` cells."""
    options = console.options.update(width=max(8, width - 1), height=None, highlight=False)
    lines = console.render_lines(
        _renderable(block, options.max_width, palette), options, pad=True, new_lines=False
    )
    return [Strip([Segment(" "), *_marked(line, palette, found)]) for line in lines]


def plain(message: Message) -> str:
    """What is searched and copied."""
    if message.tool is None or message.kind not in ("tool_call", "tool_result"):
        return message.text
    parts = [message.text, _value(message.tool.input), _value(message.tool.output)]
    return "\n".join(part for part in dict.fromkeys(parts) if part)


def is_boundary(message: Message) -> bool:
    """A compaction or rewind, drawn as a line across."""
    kind = message.event_type
    return message.kind == "system" and ("compact" in kind or "rewind" in kind or "fork" in kind)


def _marked(line: list[Segment], palette: Palette, found: str) -> Iterator[Segment]:
    """Masks and search hits stand out in whatever is drawn, also within markdown."""
    for segment in line:
        if segment.control:
            continue
        text = segment.text
        if "[redacted:" not in text and not (found and found in text.casefold()):
            yield segment
            continue
        shown = Text(text, style=segment.style or "", end="")
        for hit in MASK.finditer(text):
            shown.stylize(palette.mask, hit.start(), hit.end())
        folded, at = text.casefold(), -1
        if found and len(folded) == len(text):
            while (at := folded.find(found, at + 1)) >= 0:
                shown.stylize(palette.found, at, at + len(found))
        yield from (s for s in shown.render(_plain_console()) if s.text)


_CONSOLE: list[Console] = []


def _plain_console() -> Console:
    if not _CONSOLE:
        _CONSOLE.append(Console(color_system="truecolor", force_terminal=True))
    return _CONSOLE[0]


def _renderable(block: Block, width: int, palette: Palette) -> RenderableType:
    message = block.message
    if is_boundary(message):
        return _boundary(block, palette)
    if message.kind == "tool_call":
        return _call(block, width, palette)
    if message.kind == "tool_result":
        return _result(block, width, palette)
    parts: list[RenderableType] = []
    if block.heading:
        parts += [Text(""), _heading(message, palette)]
    parts.append(_body(block, palette))
    return Group(*parts)


def _heading(message: Message, palette: Palette) -> Text:
    style = {"user": palette.user, "assistant": palette.agent}.get(message.kind, palette.dim)
    name = NAMES.get(message.kind, message.kind)
    if message.kind == "system":
        name = f"context · {one_line(message.event_type, 60)}"
    when = moment(message.timestamp)
    stamp = f" · {_clock(when)}" if when is not None else ""
    return Text(name, style=style).append(stamp, palette.dim)


def _body(block: Block, palette: Palette) -> RenderableType:
    message = block.message
    text = message.text
    if message.kind == "assistant" and len(text) <= MARKDOWN_LIMIT and not _is_long_line(text):
        return Markdown(clean(text), hyperlinks=False, code_theme="ansi_dark")
    style = palette.dim if message.kind in ("reasoning", "system", "meta") else Style()
    if message.kind in ("system", "meta", "reasoning") and not block.open:
        return _lines(text, FOLDED_LINES, style, palette)
    return _lines(text, OPEN_LINES if block.open else 200, style, palette)


def _is_long_line(text: str) -> bool:
    return any(len(line) > 2000 for line in text.split("\n"))


def _lines(text: str, most: int, style: Style, palette: Palette) -> Text:
    lines, left = short_lines(text, most)
    shown = with_masks("\n".join(lines), "", "")
    shown.style = style
    if left:
        shown.append(f"\n… {left:,} more lines", palette.dim)
    return shown


def _boundary(block: Block, palette: Palette) -> RenderableType:
    told = one_line(block.message.event_type, 60).replace("_", " ")
    rule = Rule(
        Text(f" {told}: what stands above is in the store, not in the model "), style=palette.dim
    )
    if not block.open:
        return Group(Text(""), rule)
    return Group(Text(""), rule, _lines(block.message.text, OPEN_LINES, palette.dim, palette))


# ---- tools -------------------------------------------------------------------------------------
def _call(block: Block, width: int, palette: Palette) -> RenderableType:
    tool = block.message.tool
    name = one_line(tool.name if tool else "") or "tool"
    sign = "▾" if block.open else "▸"
    end, end_style = _outcome(block.message, palette)
    head = Text(no_wrap=True, overflow="ellipsis")
    head.append(f" {sign} {name}", palette.tool)
    room = width - head.cell_len - len(end) - 4
    brief = _brief(block.message)
    head.append("  " + fit(brief, max(0, room)), Style())
    head.append("  " + end, end_style)
    if not block.open:
        return head
    parts: list[RenderableType] = [head]
    changes = list(_diff(tool.input if tool else None, palette))
    if changes:
        parts.append(Padding(Text("\n").join(changes), (0, 0, 0, 5)))
    elif tool is not None and tool.input is not None:
        parts.append(_indented(_value(tool.input), palette, Style()))
    if tool is not None and tool.output is not None:
        parts.append(_indented(_value(tool.output), palette, palette.dim))
    return Group(*parts)


def _result(block: Block, width: int, palette: Palette) -> RenderableType:
    tool = block.message.tool
    output = _value(tool.output) if tool is not None else block.message.text
    head = Text(no_wrap=True, overflow="ellipsis")
    head.append(f" {'▾' if block.open else '▸'} result  ", palette.dim)
    head.append(fit(one_line(output), max(0, width - 12)), palette.dim)
    if not block.open:
        return head
    return Group(head, _indented(output, palette, palette.dim))


def _indented(text: str, palette: Palette, style: Style) -> Padding:
    return Padding(_lines(text, OPEN_LINES, style, palette), (0, 0, 0, 5))


def _outcome(message: Message, palette: Palette) -> tuple[str, Style]:
    tool = message.tool
    if tool is None or (tool.output is None and tool.is_error is None):
        return "…", palette.dim
    if tool.is_error:
        return "✗", palette.bad
    added, removed = changed_lines(tool.input)
    if added or removed:
        return f"+{added} -{removed}", palette.good
    return "✓", palette.good


def _brief(message: Message) -> str:
    given = message.tool.input if message.tool is not None else None
    if isinstance(given, dict):
        for key in BRIEF:
            if isinstance(given.get(key), str):
                return one_line(given[key])
        return one_line(json.dumps(given, ensure_ascii=False)) if given else ""
    return one_line(given if isinstance(given, str) else message.text)


def edits(given: Any) -> list[tuple[str, str]]:
    """(old, new) texts of a call that edits a file; empty for other calls."""
    if not isinstance(given, dict):
        return []
    found = given.get("edits") if isinstance(given.get("edits"), list) else [given]
    pairs = []
    for one in found or []:
        if not isinstance(one, dict):
            continue
        old = one.get("old_string", one.get("oldText", one.get("old_str")))
        new = one.get("new_string", one.get("newText", one.get("new_str")))
        if isinstance(old, str) and isinstance(new, str):
            pairs.append((old, new))
    return pairs


def changed_lines(given: Any) -> tuple[int, int]:
    """Lines that a call adds and removes."""
    added = removed = 0
    for line in _diff_lines(given):
        added += line.startswith("+")
        removed += line.startswith("-")
    return added, removed


def _diff_lines(given: Any) -> Iterator[str]:
    for old, new in edits(given):
        if len(old) + len(new) > 200_000:
            continue
        lines = difflib.unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=2)
        for number, line in enumerate(lines):
            if number > 1:
                yield line
    patch = _patch(given)
    if patch is not None:
        yield from (
            line for line in patch.split("\n") if not line.startswith(("+++", "---", "*** "))
        )


def _patch(given: Any) -> str | None:
    text = given
    if isinstance(given, dict):
        text = given.get("patch", given.get("input"))
    if isinstance(text, str) and text.lstrip().startswith(("*** Begin Patch", "--- ", "diff ")):
        return text[:200_000]
    return None


def _diff(given: Any, palette: Palette) -> Iterator[Text]:
    for number, line in enumerate(_diff_lines(given)):
        if number >= OPEN_LINES:
            yield Text("…", style=palette.dim)
            return
        style = {"+": palette.added, "-": palette.removed, "@": palette.dim}.get(line[:1], Style())
        yield Text(clean(line), style=style)


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(value) == 1:
        only = next(iter(value.values()))
        if isinstance(only, str):
            return only
    return json.dumps(value, ensure_ascii=False, indent=1)


def _clock(when: datetime) -> str:
    return when.astimezone().strftime("%H:%M")


__all__ = [
    "Block", "ConsoleOptions", "Palette", "changed_lines", "edits", "is_boundary", "plain", "render"
]  # fmt: skip
