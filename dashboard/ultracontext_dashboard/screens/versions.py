"""The versions of a session: pick one to read it as it was, or see what changed in it."""

from __future__ import annotations

import json
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ultracontext.errors import UltraContextError
from ultracontext_dashboard.library import Entry
from ultracontext_dashboard.process import run_json
from ultracontext_dashboard.text import clean, one_line
from ultracontext_dashboard.widgets.top import Keys

SHOWN_LINES = 8


class Versions(ModalScreen[None]):
    """A list of heads, newest first."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Back"),
        Binding("d", "diff", "Diff"),
    ]

    def __init__(self, entry: Entry, *, diff: bool = False) -> None:
        super().__init__()
        self._entry = entry
        self._diff_first = diff
        self._versions: list[dict[str, Any]] = []

    @property
    def dashboard(self) -> Any:
        return self.app

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = "Versions"
            yield OptionList(id="versions", markup=False, compact=True)
            with VerticalScroll(id="diff-box"):
                yield Static(id="diff", markup=False)
            yield Keys(
                "enter read as it was   d what changed   esc back", id="switch-keys", wrap=True
            )

    def on_mount(self) -> None:
        self.query_one("#versions").focus()
        self._load()

    @work(exclusive=True, exit_on_error=False, group="load")
    async def _load(self) -> None:
        at = self.dashboard.at
        command = [*at.program, "context", "log", self._entry.context_id, "--json"]
        try:
            found = await run_json(command, at.env, seconds=20)
        except UltraContextError as error:
            self.query_one("#diff", Static).update(
                Text(f"{error.message}. {error.hint}", style="bold red")
            )
            return
        rows = found if isinstance(found, list) else found.get("versions", [])
        self._versions = sorted(rows, key=lambda row: -int(row.get("version", 0)))
        listed = self.query_one("#versions", OptionList)
        listed.clear_options()
        listed.add_options([Option(_line(row)) for row in self._versions])
        if self._versions:
            listed.highlighted = 0
            if self._diff_first:
                self.action_diff()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        from ultracontext_dashboard.screens.session import SessionScreen

        version = int(self._versions[event.option_index].get("version", 0))
        _ = self.dismiss()  # not awaited: it would wait for itself
        self.dashboard.push(SessionScreen(self._entry.context_id, version=version))

    @work(exclusive=True, exit_on_error=False, group="diff")
    async def action_diff(self) -> None:
        index = self.query_one("#versions", OptionList).highlighted
        if index is None or index >= len(self._versions):
            return
        version = int(self._versions[index].get("version", 0))
        shown = self.query_one("#diff", Static)
        if version == 0:
            shown.update("version 0 is the beginning")
            return
        at = self.dashboard.at
        command = [*at.program, "context", "diff", self._entry.context_id,
                   str(version - 1), str(version), "--json"]  # fmt: skip
        try:
            shown.update(diff_text(await run_json(command, at.env, seconds=20)))
        except UltraContextError as error:
            shown.update(Text(f"{error.message}. {error.hint}", style="bold red"))


def _line(row: dict[str, Any]) -> Text:
    told = f"v{row.get('version')}  {one_line(str(row.get('operation')))}"
    affected = row.get("affected")
    count = len(affected) if isinstance(affected, list) else affected
    told += f" {count}" if count else ""
    messages = row.get("messages")
    size = f"{messages:,} messages" if isinstance(messages, int) else ""
    when = str(row.get("at") or row.get("created_at") or "")[:19].replace("T", " ")
    return Text(f"{told:<22} {size:<16} {one_line(when)}", no_wrap=True)


def diff_text(found: Any) -> Text:
    """Added, removed and changed messages of one step."""
    shown = Text()
    for row in _rows(found, "removed"):
        _side(shown, "-", row, "red")
    for pair in _rows(found, "changed"):
        _side(shown, "-", pair.get("before", pair), "red")
        _side(shown, "+", pair.get("after", pair), "green")
    for row in _rows(found, "added"):
        _side(shown, "+", row, "green")
    return shown if shown.plain else Text("nothing changed but the version's own metadata")


def _rows(found: Any, name: str) -> list[dict[str, Any]]:
    rows = found.get(name) if isinstance(found, dict) else None
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _side(shown: Text, sign: str, row: Any, style: str) -> None:
    text = said(row)
    lines = clean(text).split("\n")
    for line in lines[:SHOWN_LINES]:
        shown.append(f"{sign} {one_line(line, 300)}\n", style)
    if len(lines) > SHOWN_LINES:
        shown.append(f"  … {len(lines) - SHOWN_LINES} more lines\n", "dim")


def said(row: Any) -> str:
    """`user: text` of a message of the API, which may hold anything."""
    if not isinstance(row, dict):
        return str(row)
    content = row.get("content", row.get("text"))
    if isinstance(content, dict):
        content = content.get("text", content)
    if not isinstance(content, str):
        content = json.dumps(content if content is not None else row, ensure_ascii=False)
    role = row.get("role")
    return f"{role}: {content}" if role else content
