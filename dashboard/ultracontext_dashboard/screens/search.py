"""Search over everything, with snippets."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ultracontext.errors import UltraContextError
from ultracontext_dashboard import words
from ultracontext_dashboard.library import moment
from ultracontext_dashboard.process import run_json
from ultracontext_dashboard.text import one_line
from ultracontext_dashboard.widgets.top import Keys, Top

MOST = 50
PAUSE_SECONDS = 0.25
"""After the last key, before a search begins."""


class Search(Screen[None]):
    """Words are AND, quotes make a phrase, `x*` is a prefix."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("down", "list", "Hits", show=False),
    ]

    @property
    def dashboard(self) -> Any:
        return self.app

    def compose(self) -> ComposeResult:
        yield Top(id="top")
        yield Input(id="query", placeholder='words, "a phrase", prefix*', compact=True)
        yield Static(id="told", markup=False)
        yield OptionList(id="hits", markup=False)
        yield Keys("enter open   down hits   esc back", id="keys")

    def on_mount(self) -> None:
        self.query_one("#query").focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._search(event.value)

    def on_input_submitted(self) -> None:
        self.action_list()

    def action_list(self) -> None:
        self.query_one("#hits").focus()

    def action_back(self) -> None:
        _ = self.dismiss()  # not awaited: it would wait for itself

    @work(exclusive=True, exit_on_error=False, group="search")
    async def _search(self, query: str) -> None:
        import asyncio

        hits = self.query_one("#hits", OptionList)
        told = self.query_one("#told", Static)
        if not query.strip():
            hits.clear_options()
            told.update("")
            return
        await asyncio.sleep(PAUSE_SECONDS)
        at = self.dashboard.at
        command = [*at.program, "search", "--json", "--limit", str(MOST), "--", query]
        try:
            found = await run_json(command, at.env, seconds=20)
        except UltraContextError as error:
            told.update(Text(f"{error.message}. {error.hint}".strip(), style="bold red"))
            return
        hits.clear_options()
        hits.add_options([Option(_hit(row, self.dashboard.now()), id=None) for row in found])
        self._found = found
        told.update(f"{len(found)} hits" if len(found) < MOST else f"the best {MOST} hits")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        from ultracontext_dashboard.screens.session import SessionScreen

        row = self._found[event.option_index]
        self.dashboard.push(SessionScreen(str(row["context_id"])))


def _hit(row: dict[str, Any], now: Any) -> Text:
    when = words.age(moment(row.get("timestamp")), now)
    project = str(row.get("project_path") or "").rpartition("/")[2]
    shown = Text(no_wrap=True, overflow="ellipsis")
    shown.append(f"{row.get('agent')} ", "bold")
    shown.append(f"{one_line(project)} · {row.get('role')} · {when}\n", "dim")
    shown.append("  " + one_line(str(row.get("snippet") or "")))
    return shown
