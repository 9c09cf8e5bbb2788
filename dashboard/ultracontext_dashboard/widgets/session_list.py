"""The live list of sessions: one or two lines each, drawn only where they are seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from ultracontext_dashboard import words
from ultracontext_dashboard.arrange import Line, project_of
from ultracontext_dashboard.library import Entry
from ultracontext_dashboard.text import fit, one_line

STATE_WIDTH = 8
AGENT_WIDTH = 9
AGE_WIDTH = 10
COUNTED = 78
"""Cells from which on messages and tokens are told as well."""
MARK = "▌"
"""Before the selected row: sixteen colours may not tell its background."""


class SessionList(ScrollView, can_focus=True):
    """Rows of `arrange.Line`; keeps what is selected by its id while rows move."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "session-list--cursor", "session-list--dim", "session-list--running",
        "session-list--turn", "session-list--ended", "session-list--trouble",
        "session-list--group", "session-list--agent",
    }  # fmt: skip
    DEFAULT_CSS = """
    SessionList {
        overflow-x: hidden;
        scrollbar-gutter: stable;
        & > .session-list--cursor { background: $row; }
        & > .session-list--dim { color: $muted; }
        & > .session-list--running { color: $success; text-style: bold; }
        & > .session-list--turn { color: $warning; text-style: bold; }
        & > .session-list--ended { color: $muted; }
        & > .session-list--trouble { color: $error; text-style: bold; }
        & > .session-list--group { color: $accent; text-style: bold; }
        & > .session-list--agent { color: $secondary; }
        &:focus > .session-list--cursor { background: $row-focus; }
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "edge(-1)", "First", show=False),
        Binding("end", "edge(1)", "Last", show=False),
        Binding("enter", "open", "Open", show=False),
    ]

    two_lines: reactive[bool] = reactive(True)

    @dataclass
    class Selected(Message):
        """Another session is selected; None when the list is empty."""

        entry: Entry | None

    @dataclass
    class Opened(Message):
        """A session was chosen by enter or a click on the selected row."""

        entry: Entry

    @dataclass
    class Toggled(Message):
        """A fold mark was clicked."""

        entry: Entry

    def __init__(self, *, id: str | None = None) -> None:  # Textual's name
        super().__init__(id=id)
        self._lines: Sequence[Line] = ()
        self._key: str | None = None
        self._index = 0
        self._tops: list[int] = []
        self._rows: list[tuple[int, int]] = []
        self._now = datetime.now(UTC)
        self._clock = monotonic()

    # ---- content -----------------------------------------------------------------------------
    @property
    def selected(self) -> Entry | None:
        return self._lines[self._index].entry if self._lines else None

    def show(self, lines: Sequence[Line], now: datetime, clock: float) -> None:
        """Puts rows in; the selected session stays selected, or else the row that takes its
        place."""
        before = self.selected
        self._lines, self._now, self._clock = lines, now, clock
        self._index = self._find(self._key)
        self._measure()
        after = self.selected
        if (before and before.context_id) != (after and after.context_id):
            self._select(self._index)
        self.refresh()

    def select(self, context_id: str) -> bool:
        """Moves to a session; whether it is in the list."""
        for index, line in enumerate(self._lines):
            if line.key == context_id:
                self._select(index)
                return True
        return False

    def _find(self, key: str | None) -> int:
        for index, line in enumerate(self._lines):
            if line.key == key:
                return index
        index = min(self._index, max(0, len(self._lines) - 1))
        while index < len(self._lines) - 1 and self._lines[index].entry is None:
            index += 1
        return index

    def _measure(self) -> None:
        self._tops, self._rows = [], []
        for index, line in enumerate(self._lines):
            self._tops.append(len(self._rows))
            height = 2 if self.two_lines and line.entry is not None else 1
            self._rows += [(index, part) for part in range(height)]
        self.virtual_size = Size(self.scrollable_content_region.width, len(self._rows))

    def watch_two_lines(self) -> None:
        self._measure()
        self._scroll_to_cursor()
        self.refresh()

    # ---- moving ------------------------------------------------------------------------------
    def action_move(self, step: int) -> None:
        index = self._index + step
        while 0 <= index < len(self._lines) and self._lines[index].entry is None:
            index += step
        if 0 <= index < len(self._lines):
            self._select(index)

    def action_page(self, direction: int) -> None:
        page = max(1, self.scrollable_content_region.height // (2 if self.two_lines else 1) - 1)
        for _ in range(page):
            self.action_move(direction)

    def action_edge(self, direction: int) -> None:
        if self._lines:
            self._index = 0 if direction < 0 else len(self._lines) - 1
            if self._lines[self._index].entry is None:
                self.action_move(1)
            self._select(self._index)

    def action_open(self) -> None:
        if self.selected is not None:
            self.post_message(self.Opened(self.selected))

    def _select(self, index: int) -> None:
        self._index = index
        entry = self.selected
        self._key = self._lines[index].key if self._lines else None
        self._scroll_to_cursor()
        self.refresh()
        self.post_message(self.Selected(entry))

    def _scroll_to_cursor(self) -> None:
        if not self._tops:
            return
        height = 2 if self.two_lines else 1
        region = Region(0, self._tops[self._index], 1, height)
        self.scroll_to_region(region, animate=False, force=True)

    def on_click(self, event: events.Click) -> None:
        row = event.y + self.scroll_offset.y
        if not 0 <= row < len(self._rows):
            return
        index = self._rows[row][0]
        line = self._lines[index]
        if line.entry is None:
            return
        if index == self._index and event.chain > 1:
            self.post_message(self.Opened(line.entry))
        elif line.folded and event.x >= self.scrollable_content_region.width - AGE_WIDTH - 6:
            self.post_message(self.Toggled(line.entry))
        else:
            self._select(index)

    def on_resize(self) -> None:
        self._measure()
        self._scroll_to_cursor()

    # ---- drawing -----------------------------------------------------------------------------
    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        row = y + self.scroll_offset.y
        if not 0 <= row < len(self._rows):
            return Strip.blank(width, self.rich_style)
        index, part = self._rows[row]
        line = self._lines[index]
        base = self.rich_style
        if index == self._index:
            base += self.get_component_rich_style("session-list--cursor", partial=True)
        if line.entry is None:
            segments = [
                Segment(fit(f" {one_line(line.group)}", width), base + self._style("group"))
            ]
        elif part == 0:
            segments = self._first(line, line.entry, width, base)
        else:
            segments = self._second(line.entry, width, base)
        strip = Strip(segments, width)
        if index == self._index:
            mark = Segment(MARK, base + self._style("agent"))
            strip = Strip([mark, *strip.crop(1)], width)
        return strip

    def _style(self, name: str) -> Style:
        return self.get_component_rich_style(f"session-list--{name}", partial=True)

    def _first(self, line: Line, entry: Entry, width: int, base: Style) -> list[Segment]:
        state = entry.doing.state
        styles: Mapping[str, str] = {"running": "running", "turn": "turn", "ended": "ended"}
        sign = f" {words.SIGNS[state]} {words.SHORT[state]}"
        out = [Segment(fit(sign, STATE_WIDTH + 1), base + self._style(styles.get(state, "dim")))]
        used = STATE_WIDTH + 1
        agent = fit(one_line(str(entry.row["agent"])), AGENT_WIDTH - 1) + " "
        out.append(Segment(agent, base + self._style("agent")))
        used += AGENT_WIDTH
        tail = "" if self.two_lines else self._facts(entry, width)
        fold = f"+{line.folded} " if line.folded else ""
        expires = _expires(entry, self._now)
        tail = f" {expires}{fold}{tail} " if (expires or fold or tail) else " "
        room = max(0, width - used - len(tail) - (1 if expires else 0))
        project_width = min(max(10, room // 4), 24) if room >= 30 else 0
        if project_width:
            out.append(Segment(fit(one_line(project_of(entry.row)), project_width - 1) + " ", base))
        lead = ("  " * (line.depth - 1) + "└ " + f"{line.origin}: ") if line.depth else ""
        title = one_line(str(entry.row.get("title") or "(no title)"))
        out.append(Segment(fit(lead + title, room - project_width), base + Style(bold=True)))
        out.append(Segment(tail, base + self._style("dim")))
        return out

    def _second(self, entry: Entry, width: int, base: Style) -> list[Segment]:
        doing = entry.doing
        spark = words.spark(entry.spark(self._clock))
        indent = STATE_WIDTH + 1
        dim = base + self._style("dim")
        tail = f" {self._facts(entry, width)} "
        room = max(0, width - indent - len(spark) - 1 - len(tail))
        return [
            Segment(" " * indent, dim),
            Segment(spark + " ", base + self._style("running")),
            Segment(fit(_what(doing, self._now), room), dim),
            Segment(tail, dim),
        ]

    def _facts(self, entry: Entry, width: int) -> str:
        """Messages, tokens and age, as many as there is room for."""
        facts = fit(words.age(entry.updated, self._now), AGE_WIDTH, right=True)
        if width >= COUNTED:
            tokens, messages = entry.row.get("tokens") or 0, entry.row.get("messages") or 0
            told = f"{words.count_text(tokens)} tok" if tokens else ""
            facts = f"{words.count_text(messages):>6} msg {told:>10} {facts}"
        return facts


def _what(doing: object, now: datetime) -> str:
    """The open call, or the last words."""
    from ultracontext_dashboard.library import Doing

    if not isinstance(doing, Doing):
        return ""
    if doing.state == "running" and doing.tool:
        more = f" (+{doing.more_calls})" if doing.more_calls else ""
        brief = one_line(doing.brief)
        if brief.startswith(doing.tool):
            brief = brief[len(doing.tool) :].strip("() ")
        asks = ""
        if doing.tool_since is not None:
            seconds = (now - doing.tool_since).total_seconds()
            if seconds >= words.ASKS_AFTER_SECONDS:
                asks = f"running or asks, {words.span(seconds)} · "
        return f"{asks}▸ {one_line(doing.tool)}  {brief}{more}"
    said = one_line(doing.words)
    return f"“{said}”" if said else ""


def _expires(entry: Entry, now: datetime) -> str:
    from ultracontext_dashboard.library import moment

    when = moment(entry.row.get("expires_at"))
    if when is None or (when - now).total_seconds() > 3 * 86400 or entry.row.get("place") == "gone":
        return ""
    return "⏳"
