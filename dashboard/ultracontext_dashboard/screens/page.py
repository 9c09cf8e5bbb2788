"""A page of text that refreshes itself, with a way back. The simple screens are made of it."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.console import RenderableType
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from ultracontext.errors import UltraContextError
from ultracontext_dashboard.widgets.top import Keys, Top


class Page(Screen[None]):
    """Override `content`; it runs on the event loop and may await the reading thread."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,backspace", "back", "Back"),
        Binding("j", "scroll(1)", show=False),
        Binding("k", "scroll(-1)", show=False),
        Binding("ctrl+r", "again", "Refresh", show=False),
    ]
    KEYS: ClassVar[str] = "esc back   ctrl+r refresh   ? help"
    EVERY_SECONDS: ClassVar[float] = 1.0

    def __init__(self) -> None:
        super().__init__()
        self._last: str = ""

    @property
    def dashboard(self) -> Any:
        return self.app

    def compose(self) -> ComposeResult:
        yield Top(id="top")
        with VerticalScroll(classes="page", id="page"):
            yield Static(id="text", markup=False)
        yield Keys(self.KEYS, id="keys")

    def on_mount(self) -> None:
        self.query_one("#page").focus()
        self.action_again()
        if self.EVERY_SECONDS:
            self.set_interval(self.EVERY_SECONDS, self.action_again)

    def action_again(self) -> None:
        """Makes the content anew, unless that is going on."""
        self.run_worker(self._fill(), exclusive=True, group="fill", exit_on_error=False)

    async def _fill(self) -> None:
        try:
            shown = await self.content()
        except UltraContextError as error:
            shown = Text(f"{error.message}. {error.hint}".strip(), style="bold red")
        if self.is_mounted:
            self.query_one("#text", Static).update(shown)

    async def content(self) -> RenderableType:
        """What the page shows."""
        raise NotImplementedError

    def action_scroll(self, step: int) -> None:
        self.query_one("#page").scroll_relative(y=step, animate=False)

    def action_back(self) -> None:
        _ = self.dismiss()  # not awaited: it would wait for itself
