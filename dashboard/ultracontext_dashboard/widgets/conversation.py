"""A session's messages: drawn only where they are seen, following the tail while at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message as Event
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ultracontext.model import Message
from ultracontext_dashboard.blocks import Block, Palette, plain, render

LOADED = 300
"""Messages drawn at first, and as many more at each time that the top is reached."""


def without_paired(messages: Sequence[Message]) -> list[Message]:
    """The messages that are drawn: no bookkeeping, and no result that stands with its call."""
    held = {
        m.tool.call_id
        for m in messages
        if m.kind == "tool_call" and m.tool is not None and m.tool.output is not None
    }
    return [
        m
        for m in messages
        if m.kind != "meta"
        and not (m.kind == "tool_result" and m.tool is not None and m.tool.call_id in held)
    ]


class Conversation(ScrollView, can_focus=True):
    """Messages of one session."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "conversation--user", "conversation--agent", "conversation--dim", "conversation--tool",
        "conversation--good", "conversation--bad", "conversation--mask", "conversation--added",
        "conversation--removed", "conversation--found", "conversation--cursor",
    }  # fmt: skip
    DEFAULT_CSS = """
    Conversation {
        overflow-x: hidden;
        & > .conversation--user { color: $accent; text-style: bold; }
        & > .conversation--agent { color: $primary; text-style: bold; }
        & > .conversation--dim { color: $muted; }
        & > .conversation--tool { color: $secondary; text-style: bold; }
        & > .conversation--good { color: $success; }
        & > .conversation--bad { color: $error; }
        & > .conversation--mask { color: $warning; text-style: reverse; }
        & > .conversation--added { color: $success; }
        & > .conversation--removed { color: $error; }
        & > .conversation--found { text-style: reverse bold; }
        & > .conversation--cursor { color: $accent; text-style: bold; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("j", "turn(1)", "Next turn", show=False),
        Binding("k", "turn(-1)", "Turn before", show=False),
        Binding("enter,space", "fold", "Fold", show=False),
        Binding("home", "top", "Top", show=False),
        Binding("end,t", "tail", "Tail", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
    ]

    missed: reactive[int] = reactive(0)
    """Messages that came while the end was out of sight."""

    @dataclass
    class Moved(Event):
        """The cursor went to another message, or more messages were missed."""

        index: int

    def __init__(self, *, id: str | None = None, interactive: bool = True) -> None:
        super().__init__(id=id)
        self.can_focus = interactive
        self._messages: list[Message] = []
        self._first = 0
        self._cursor = 0
        self._open: set[str] = set()
        self._tops: list[int] = []
        self._strips: list[list[Strip]] = []
        self._lines: list[tuple[int, int]] = []
        self._cache: dict[tuple[object, ...], list[Strip]] = {}
        self._width = 0
        self._tail = True
        self._find = ""

    # ---- content -----------------------------------------------------------------------------
    @property
    def count(self) -> int:
        return len(self._messages)

    @property
    def cursor(self) -> int:
        return self._cursor

    @property
    def current(self) -> Message | None:
        return self._messages[self._cursor] if self._messages else None

    @property
    def at_tail(self) -> bool:
        return self._tail

    def show(self, messages: Sequence[Message], *, fresh: bool = False) -> None:
        """Puts the session's messages in; `fresh` for another session: begins at its end."""
        shown = without_paired(messages)
        came = max(0, len(shown) - len(self._messages))
        if fresh:
            self._tail, self._open, self._cache, self.missed = True, set(), {}, 0
            self._first = max(0, len(shown) - LOADED)
        self._messages = shown
        if self._tail:
            self._cursor = max(0, len(shown) - 1)
        else:
            self._cursor = min(self._cursor, max(0, len(shown) - 1))
            self.missed += 0 if fresh else came
        self._first = min(self._first, max(0, len(shown) - 1))
        self._draw()
        if self._tail:
            self._to_end()
        self.post_message(self.Moved(self._cursor))

    def search(self, text: str) -> int:
        """Marks a text; how many messages hold it."""
        self._find = text.casefold()
        self._draw()
        if not self._find:
            return 0
        return sum(self._find in plain(m).casefold() for m in self._messages)

    def next_hit(self, step: int) -> bool:
        """Goes to the next message that holds what was searched for, around the end."""
        if not self._find or not self._messages:
            return False
        count = len(self._messages)
        for n in range(1, count + 1):
            index = (self._cursor + step * n) % count
            if self._find in plain(self._messages[index]).casefold():
                self._tail = False
                self._go(index)
                return True
        return False

    # ---- moving ------------------------------------------------------------------------------
    def action_move(self, step: int) -> None:
        self._tail = self._tail and step > 0
        index = self._cursor + step
        if 0 <= index < len(self._messages):
            self._go(index)

    def action_turn(self, step: int) -> None:
        index = self._cursor + step
        while 0 <= index < len(self._messages):
            if self._messages[index].kind == "user":
                self._tail = False
                self._go(index)
                return
            index += step
        if step > 0:
            self.action_tail()

    def action_fold(self) -> None:
        message = self.current
        if message is not None:
            self._open ^= {message.id}
            self._tail = False
            self._draw()
            self._go(self._cursor)

    def action_top(self) -> None:
        self._first, self._tail = 0, False
        self._draw()
        self._go(0)

    def action_tail(self) -> None:
        self._tail, self.missed = True, 0
        self._cursor = max(0, len(self._messages) - 1)
        self._to_end()
        self.refresh()
        self.post_message(self.Moved(self._cursor))

    def action_page(self, direction: int) -> None:
        height = max(1, self.scrollable_content_region.height - 2)
        self.scroll_relative(y=direction * height, animate=False, force=True)
        self._tail = False
        row = self.scroll_offset.y + (height if direction > 0 else 0)
        row = max(0, min(row + direction * 0, len(self._lines) - 1))
        if self._lines:
            self._cursor = self._first + self._lines[row][0]
            if direction > 0 and self.scroll_offset.y >= self.max_scroll_y:
                self.action_tail()
            elif direction < 0 and self.scroll_offset.y <= 0:
                self._load_more()
        self.refresh()
        self.post_message(self.Moved(self._cursor))

    def _go(self, index: int) -> None:
        self._cursor = index
        while index < self._first:
            self._load_more()
        if index == len(self._messages) - 1:
            self._tail, self.missed = True, 0
            self._to_end()
        else:
            self._show_block(index)
        self.refresh()
        self.post_message(self.Moved(index))

    def _load_more(self) -> None:
        """Draws messages above those drawn, keeping what is seen where it is."""
        if not self._first:
            return
        before = len(self._lines)
        self._first = max(0, self._first - LOADED)
        self._draw()
        self.scroll_to(
            y=self.scroll_offset.y + len(self._lines) - before, animate=False, force=True
        )

    def _show_block(self, index: int) -> None:
        place = index - self._first
        if 0 <= place < len(self._tops):
            height = min(len(self._strips[place]), self.scrollable_content_region.height)
            self.scroll_to_region(
                Region(0, self._tops[place], 1, max(1, height)), animate=False, force=True
            )

    def _to_end(self) -> None:
        self.scroll_to(y=max(0, self.virtual_size.height), animate=False, force=True)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._tail = False
        if self.scroll_offset.y <= 1:
            self._load_more()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        if self.scroll_offset.y >= self.max_scroll_y - 3:
            self._tail, self.missed = True, 0
            self.post_message(self.Moved(self._cursor))

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.scroll_offset.y
        if self.can_focus and 0 <= row < len(self._lines):
            place, part = self._lines[row]
            self._cursor = self._first + place
            kind = self._messages[self._cursor].kind
            if part == 0 and kind in ("tool_call", "tool_result"):
                self.action_fold()
            self.refresh()
            self.post_message(self.Moved(self._cursor))

    def on_resize(self) -> None:
        if self.scrollable_content_region.width != self._width:
            self._draw()
            if self._tail:
                self._to_end()
            else:
                self._show_block(self._cursor)

    # ---- drawing -----------------------------------------------------------------------------
    def _draw(self) -> None:
        self._width = self.scrollable_content_region.width
        palette = self._palette()
        self._tops, self._strips, self._lines = [], [], []
        before: Message | None = None
        for place, message in enumerate(self._messages[self._first :]):
            heading = before is None or before.kind != message.kind or message.kind == "user"
            block = Block(message=message, open=message.id in self._open, heading=heading)
            strips = self._block(block, palette)
            self._tops.append(len(self._lines))
            self._strips.append(strips)
            self._lines += [(place, part) for part in range(len(strips))]
            before = message
        if len(self._cache) > 4 * LOADED + 2 * len(self._strips):
            self._cache.clear()
        self.virtual_size = Size(self._width, len(self._lines))
        self.refresh()

    def _block(self, block: Block, palette: Palette) -> list[Strip]:
        message = block.message
        tool = message.tool
        done = tool is not None and (tool.output is not None or tool.is_error is not None)
        key = (message.id, len(message.text), done, block.open, block.heading, self._width,
               self._find, self.app.theme)  # fmt: skip
        found = self._cache.get(key)
        if found is None:
            found = render(block, self._width, self.app.console, palette, found=self._find)
            self._cache[key] = found
        return found

    def _palette(self) -> Palette:
        def style(name: str) -> object:
            return self.get_component_rich_style(f"conversation--{name}", partial=True)

        names = ("user", "agent", "dim", "tool", "good", "bad", "mask", "added", "removed", "found")
        return Palette(**{name: style(name) for name in names})  # type: ignore[arg-type]

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        if not 0 <= row < len(self._lines):
            return Strip.blank(width, self.rich_style)
        place, part = self._lines[row]
        strip = self._strips[place][part].apply_style(self.rich_style)
        if self.has_focus and place + self._first == self._cursor:
            from rich.segment import Segment

            mark = self.get_component_rich_style("conversation--cursor", partial=True)
            strip = Strip([Segment("▌", self.rich_style + mark), *strip.crop(1)])
        return strip.adjust_cell_length(width, self.rich_style)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._cache.clear()
        if self._messages:
            self._draw()
