"""Home: the live list, and beside it, where there is room, the selected session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from time import monotonic
from typing import Any, ClassVar

from rich.style import Style
from rich.text import Text
from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import Screen
from textual.widgets import Input, Static

from ultracontext.errors import UltraContextError
from ultracontext_dashboard import words
from ultracontext_dashboard.arrange import SORTS, View, arrange, project_of
from ultracontext_dashboard.library import Entry
from ultracontext_dashboard.text import one_line
from ultracontext_dashboard.widgets.conversation import Conversation
from ultracontext_dashboard.widgets.session_list import SessionList
from ultracontext_dashboard.widgets.top import Keys, Top

WIDE = 110
LEAST = (60, 20)
PREVIEWED = 60
"""Messages of the preview."""


class Home(Screen[None]):
    """The first screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "filter", "Filter"),
        Binding("escape", "clear", "Clear", show=False),
        Binding("s", "switch", "Switch"),
        Binding("f", "fork", "Fork"),
        Binding("r", "restore", "Restore"),
        Binding("g", "group", "Group"),
        Binding("o", "sort", "Sort"),
        Binding("z", "lines", "Lines", show=False),
        Binding("left", "agent(-1)", "Agent", show=False),
        Binding("right", "agent(1)", "Agent", show=False),
        Binding("plus,space", "unfold", "Sub-agents", show=False),
        Binding("p", "app.pause", "Pause", show=False),
        Binding("S,upper_s", "app.store", "Store"),
        Binding("ctrl+f", "app.search_all", "Search"),
        Binding("x", "app.secrets", "Secrets", show=False),
        Binding("comma", "app.settings", "Settings", show=False),
        Binding("L,upper_l", "app.log", "Log", show=False),
        Binding("y", "copy", "Copy id", show=False),
        Binding("q", "app.quit", "Quit", show=False),
    ]
    KEYS: ClassVar[str] = (
        "enter open   s switch   f fork   / filter   g group   o sort   r restore"
        "   S store   ctrl+f search   ? help   ctrl+p commands"
    )

    def __init__(self) -> None:
        super().__init__()
        self.view = View()
        self._shown: str | None = None
        self._lines_wanted: bool | None = None

    @property
    def dashboard(self) -> Any:
        return self.app

    def compose(self) -> ComposeResult:
        yield Top(id="top", classes="whole")
        with Horizontal(id="body", classes="whole"):
            with Vertical(id="list-side"):
                yield Static(id="tabs")
                yield Input(id="filter", placeholder="agent, project, text", compact=True)
                yield SessionList(id="sessions")
                yield Static(id="empty", markup=False)
            with Vertical(id="preview"):
                yield Static(id="preview-head", markup=False)
                yield Conversation(id="preview-text", interactive=False)
        yield Keys(self.KEYS, id="keys", classes="whole")
        yield Static(id="too-small", markup=False)

    def on_mount(self) -> None:
        self.dashboard.changed.subscribe(self, lambda _: self._refresh())
        self.dashboard.grown.subscribe(self, self._grown)
        self.query_one(SessionList).focus()
        self._refresh()

    def on_resize(self, event: events.Resize) -> None:
        width, height = event.size
        self.set_class(width >= WIDE, "wide")
        small = width < LEAST[0] or height < LEAST[1]
        self.set_class(small, "small")
        self.query_one("#too-small", Static).update(
            f"The dashboard needs {LEAST[0]}x{LEAST[1]},\nhere are {width}x{height}."
        )
        room = height >= 30 and width >= 80
        wanted = room if self._lines_wanted is None else self._lines_wanted
        self.query_one(SessionList).two_lines = wanted
        self._refresh()

    # ---- the list ----------------------------------------------------------------------------
    def _refresh(self) -> None:
        if not self.is_mounted:
            return
        entries: Mapping[str, Entry] = self.dashboard.entries
        now = self.dashboard.now()
        lines = arrange(entries, self.view)
        self.query_one(SessionList).show(lines, now, monotonic())
        self.query_one("#tabs", Static).update(self._tabs(entries), layout=False)
        self.set_class(self.dashboard.loaded and not lines, "nothing")
        if self.dashboard.loaded and not lines:
            self.query_one("#empty", Static).update(self._nothing(entries))

    def _tabs(self, entries: Mapping[str, Entry]) -> Text:
        shown = Text(" ", no_wrap=True, overflow="ellipsis")
        for number, name in enumerate((None, *self._agents(entries))):
            click = Style.from_meta({"@click": f"screen.agent_at({number})"})
            chosen = Style(reverse=name == self.view.agent)
            shown.append(f" {one_line(name or 'all', 20)} ", chosen + click)
        if self.view.sort != "activity":
            shown.append(f"  by {self.view.sort}", "italic")
        if self.view.text and not self.query_one("#filter").has_class("shown"):
            shown.append(f"  / {one_line(self.view.text, 40)}", "italic")
        if self.dashboard.store_error:
            shown.append(f"  {one_line(self.dashboard.store_error, 200)}", "bold red")
        return shown

    def _agents(self, entries: Mapping[str, Entry]) -> list[str]:
        return sorted({str(entry.row["agent"]) for entry in entries.values()})

    def _nothing(self, entries: Mapping[str, Entry]) -> Text:
        if entries:
            return Text("Nothing matches. Escape shows all.")
        from ultracontext_dashboard.screens.first import first_words

        return first_words(
            self.dashboard.places_looked_at(),
            self.dashboard.daemon_error,
            home=self.dashboard.at.home,
        )

    # ---- the preview -------------------------------------------------------------------------
    def on_session_list_selected(self, event: SessionList.Selected) -> None:
        self._preview(event.entry)

    def on_session_list_opened(self, event: SessionList.Opened) -> None:
        from ultracontext_dashboard.screens.session import SessionScreen

        self.dashboard.push(SessionScreen(event.entry.context_id))

    def on_session_list_toggled(self, event: SessionList.Toggled) -> None:
        self._toggle(event.entry)

    def _grown(self, contexts: set[str]) -> None:
        entry = self.query_one(SessionList).selected
        if entry is not None and entry.context_id in contexts:
            self._preview(entry)

    def _preview(self, entry: Entry | None) -> None:
        if entry is None or not self.has_class("wide"):
            return
        self._read_preview(entry.context_id)

    @work(exclusive=True, exit_on_error=False, group="preview")
    async def _read_preview(self, context_id: str) -> None:
        try:
            messages = await self.dashboard.messages(context_id)
        except UltraContextError as error:
            self.query_one("#preview-head", Static).update(Text(error.message))
            return
        entry = self.dashboard.entries.get(context_id)
        if entry is None:
            return
        fresh, self._shown = self._shown != context_id, context_id
        self.query_one("#preview-head", Static).update(heading(entry, self.dashboard.now()))
        self.query_one("#preview-text", Conversation).show(messages[-PREVIEWED:], fresh=fresh)

    # ---- actions -----------------------------------------------------------------------------
    def action_filter(self) -> None:
        field = self.query_one("#filter", Input)
        field.add_class("shown")
        field.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.view = replace(self.view, text=event.value)
        self._refresh()

    def on_input_submitted(self) -> None:
        self.query_one("#filter").remove_class("shown")
        self.query_one(SessionList).focus()
        self._refresh()

    def action_clear(self) -> None:
        field = self.query_one("#filter", Input)
        field.value = ""
        field.remove_class("shown")
        self.view = replace(self.view, text="", agent=None)
        self.query_one(SessionList).focus()
        self._refresh()

    def action_agent(self, step: int) -> None:
        names: list[str | None] = [None, *self._agents(self.dashboard.entries)]
        at = names.index(self.view.agent) if self.view.agent in names else 0
        self.view = replace(self.view, agent=names[(at + step) % len(names)])
        self._refresh()

    def action_agent_at(self, number: int) -> None:
        """The tab that was clicked."""
        names: list[str | None] = [None, *self._agents(self.dashboard.entries)]
        if number < len(names):
            self.view = replace(self.view, agent=names[number])
            self._refresh()

    def action_group(self) -> None:
        self.view = replace(self.view, grouped=not self.view.grouped)
        self._refresh()

    def action_sort(self) -> None:
        at = SORTS.index(self.view.sort)
        self.view = replace(self.view, sort=SORTS[(at + 1) % len(SORTS)])
        self._refresh()

    def action_lines(self) -> None:
        listed = self.query_one(SessionList)
        listed.two_lines = self._lines_wanted = not listed.two_lines

    def action_unfold(self) -> None:
        entry = self.query_one(SessionList).selected
        if entry is not None:
            self._toggle(entry)

    def _toggle(self, entry: Entry) -> None:
        self.view = replace(self.view, unfolded=self.view.unfolded ^ {entry.context_id})
        self._refresh()

    def action_copy(self) -> None:
        entry = self.query_one(SessionList).selected
        if entry is not None:
            self.app.copy_to_clipboard(entry.context_id)
            self.dashboard.say(f"copied {entry.context_id}")

    def action_switch(self) -> None:
        entry = self.query_one(SessionList).selected
        if entry is not None:
            self.dashboard.open_switch(entry)

    def action_fork(self) -> None:
        entry = self.query_one(SessionList).selected
        if entry is not None:
            self.dashboard.fork(entry)

    def action_restore(self) -> None:
        entry = self.query_one(SessionList).selected
        if entry is not None:
            self.dashboard.restore(entry)


def heading(entry: Entry, now: datetime) -> Text:
    """Title and facts of a session, in two lines."""
    row = entry.row
    shown = Text(no_wrap=True, overflow="ellipsis")
    shown.append(one_line(str(row.get("title") or "(no title)")), "bold")
    facts = [
        words.state_words(entry.doing, now),
        f"{row['agent']} {row.get('agent_version') or ''}".strip(),
        one_line(project_of(row)),
        one_line(str(row.get("git_branch") or "")),
        f"{row.get('messages') or 0} messages",
        f"{words.count_text(row.get('tokens') or 0)} tokens" if row.get("tokens") else "",
    ]
    shown.append("\n" + " · ".join(fact for fact in facts if fact), "dim")
    return shown
