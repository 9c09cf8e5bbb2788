"""Switch: where a session can go on, what is lost on the way, and then the command.

The verdict, the evidence, the masks and the loss stand there before anything is written. All of it
is `ultracontext switch --json` and `ultracontext compat --json`, run in the person's own process.
"""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import Any, ClassVar

from rich.text import Text
from textual import events, work
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ultracontext.errors import UltraContextError
from ultracontext_dashboard import words
from ultracontext_dashboard.library import Entry
from ultracontext_dashboard.process import run_json
from ultracontext_dashboard.switching import (
    FIDELITIES,
    Choice,
    Target,
    option_line,
    plan_text,
    target_line,
    targets,
)
from ultracontext_dashboard.text import one_line
from ultracontext_dashboard.widgets.top import Keys

PAUSE_SECONDS = 0.3
"""After the last key in a field, before a plan is made."""
WRITE_SECONDS = 1800.0
KEYS = (
    "enter write and open   w write only   c copy command   u undo   l turns   d folder"
    "   f fidelity   h handoff   F force   esc back"
)

HINTS = {
    "no-cwd": "d names the folder to go on in",
    "untested": "F forces it, for a version that nobody tried",
    "refused": "",
    "handoff": "h makes a document in place of a session",
}
"""By code of the command's error: the keys here in place of its options."""


class Switch(ModalScreen[None]):
    """Choose a target, see the plan, write."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("enter", "open", "Write and open", priority=True),
        Binding("w", "write", "Write only"),
        Binding("c", "copy", "Copy command"),
        Binding("u", "undo", "Undo"),
        Binding("f", "fidelity", "Fidelity"),
        Binding("h", "handoff", "Handoff"),
        Binding("l", "field('turns')", "Last turns"),
        Binding("d", "field('folder')", "Folder"),
        Binding("F,upper_f", "force", "Force"),
    ]

    def __init__(self, entry: Entry) -> None:
        super().__init__()
        self._entry = entry
        self._targets: list[Target] = []
        self._fidelity = FIDELITIES[0]
        self._handoff = self._force = False
        self._planned: tuple[Choice, Any] | None = None
        self._written: tuple[Choice, Any] | None = None
        self._busy = ""
        """What is being written; the dialog stays until it ends."""
        self._since = 0.0

    @property
    def dashboard(self) -> Any:
        return self.app

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            title = one_line(str(self._entry.row.get("title") or self._entry.context_id), 60)
            dialog.border_title = f"Continue “{title}” in".replace("[", "\\[")
            yield OptionList(id="targets", markup=False, compact=True)
            with Horizontal(id="options"):
                yield Static("turns ", classes="name", markup=False)
                yield Input(id="turns", placeholder="all", compact=True, type="integer")
                yield Static(" in ", classes="name", markup=False)
                yield Input(id="folder", placeholder="the session's folder", compact=True)
            yield Static(id="chosen", markup=False)
            yield Static(id="plan", markup=False)
            yield Static(id="told", markup=False)
            yield Keys(KEYS, id="switch-keys", wrap=True)

    def on_mount(self) -> None:
        self.query_one("#targets").focus()
        self.query_one("#plan", Static).update("looking at what is installed …")
        self.set_interval(0.5, self._progress)
        self._load()

    def on_resize(self, event: events.Resize) -> None:
        self.set_class(event.size.height < 24, "low")

    # ---- targets and plan --------------------------------------------------------------------
    @work(exclusive=True, exit_on_error=False, group="load")
    async def _load(self) -> None:
        at = self.dashboard.at
        shown = self.query_one("#plan", Static)
        try:
            found = await run_json([*at.program, "compat", "--json"], at.env)
        except UltraContextError as error:
            shown.update(_fault(error))
            return
        self._targets = targets(found, str(self._entry.row["agent"]))
        listed = self.query_one("#targets", OptionList)
        listed.clear_options()
        listed.add_options([Option(target_line(target)) for target in self._targets])
        if self._targets:
            listed.highlighted = 0
        else:
            shown.update("No agent to continue in is known.")

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        listed = self.query_one("#targets", OptionList)
        for index, target in enumerate(self._targets):
            line = target_line(target, chosen=index == event.option_index)
            listed.replace_option_prompt_at_index(index, line)
        self._plan()

    def on_input_changed(self) -> None:
        self._plan(PAUSE_SECONDS)

    @property
    def choice(self) -> Choice | None:
        """As it stands on the screen."""
        index = self.query_one("#targets", OptionList).highlighted
        if index is None or index >= len(self._targets):
            return None
        return Choice(
            target=self._targets[index],
            context_id=self._entry.context_id,
            last=self.query_one("#turns", Input).value.strip(),
            folder=self.query_one("#folder", Input).value.strip(),
            fidelity=self._fidelity,
            handoff=self._handoff,
            force=self._force,
        )

    @work(exclusive=True, exit_on_error=False, group="plan")
    async def _plan(self, pause: float = 0.0) -> None:
        choice = self.choice
        if choice is None:
            return
        self._planned = None
        self.query_one("#chosen", Static).update(option_line(choice))
        shown = self.query_one("#plan", Static)
        shown.update("making the plan …")
        await asyncio.sleep(pause)
        at = self.dashboard.at
        try:
            found = await run_json([*at.program, *choice.words("--dry-run")], at.env)
        except UltraContextError as error:
            shown.update(_fault(error))
            return
        self._planned = (choice, found)
        shown.update(plan_text(found, self.query_one(".dialog").size.width - 2))

    # ---- options -----------------------------------------------------------------------------
    def action_fidelity(self) -> None:
        self._fidelity = FIDELITIES[(FIDELITIES.index(self._fidelity) + 1) % len(FIDELITIES)]
        self._plan()

    def action_force(self) -> None:
        self._force = not self._force
        self._plan()

    def action_handoff(self) -> None:
        self._handoff = not self._handoff
        self._plan()

    def action_field(self, name: str) -> None:
        self.query_one(f"#{name}").focus()

    def _left_field(self) -> bool:
        """Goes from a field back to the list, if one has the focus."""
        if not isinstance(self.focused, Input):
            return False
        self.query_one("#targets").focus()
        return True

    def action_back(self) -> None:
        if self._left_field():
            return
        if self._busy:
            self._tell(f"{self._busy}: wait until it ends", bad=True)
            return
        _ = self.dismiss()  # not awaited: it would wait for itself

    # ---- doing it ----------------------------------------------------------------------------
    def action_open(self) -> None:
        if not self._left_field():
            self._write(launch=True)

    def action_write(self) -> None:
        self._write(launch=False)

    @work(exit_on_error=False, group="write")
    async def _write(self, *, launch: bool) -> None:
        choice = self.choice
        if self._busy or choice is None:
            return
        if not self.dashboard.at.allow_switch:
            self._tell("switching is off here: start with --allow-switch", bad=True)
            return
        if self._written is None or self._written[0] != choice:
            if self._planned is None or self._planned[0] != choice:
                self._tell("there is no plan yet: nothing was written", bad=True)
                return
            found = await self._run("writing", choice.words("--yes"), WRITE_SECONDS)
            if found is None:
                return
            self._written = (choice, found)
        line = str(self._written[1].get("command") or "")
        path = one_line(str(self._written[1].get("path") or ""))
        self._tell(f"written: {path}\n{one_line(line)}\nc copies the command, u undoes")
        if launch and line:
            self._launch(line)

    def _launch(self, line: str) -> None:
        try:
            code = self.dashboard.launch(line)
        except SuspendNotSupported:
            self._tell("written; a program cannot be opened from here: c copies the command")
            return
        if code:
            self._tell(f"the program ended with exit code {code}\n{one_line(line)}", bad=True)

    async def _run(self, doing: str, command: list[str], seconds: float) -> Any:
        """The command's answer; None when it failed, which is told."""
        at = self.dashboard.at
        self._busy, self._since = doing, monotonic()
        self._tell(f"{doing} …")
        try:
            return await run_json([*at.program, *command], at.env, seconds=seconds)
        except UltraContextError as error:
            self._tell(f"{error.message}. {error.hint}", bad=True)
            return None
        finally:
            self._busy = ""

    def _progress(self) -> None:
        if self._busy and monotonic() - self._since >= 1:
            self._tell(f"{self._busy} … {words.span(monotonic() - self._since)}")

    def action_copy(self) -> None:
        found = self._written or self._planned
        if found and found[1].get("command"):
            self.app.copy_to_clipboard(str(found[1]["command"]))
            self._tell("copied the command" + ("" if self._written else "; nothing written yet"))

    @work(exit_on_error=False, group="write")
    async def action_undo(self) -> None:
        if self._busy:
            return
        if self._written is None:
            self._tell("nothing was written here")
            return
        ident = str(self._written[1].get("undo"))
        if await self._run("undoing", ["switch", "undo", ident, "--json"], WRITE_SECONDS) is None:
            return
        self._written = None
        self._tell("undone: the agent's files are as before")

    def _tell(self, text: str, *, bad: bool = False) -> None:
        if self.is_mounted:
            self.query_one("#told", Static).update(Text(text.strip(), "bold red" if bad else ""))


def _fault(error: UltraContextError) -> Text:
    hint = HINTS.get(error.code, error.hint) or error.hint
    return Text(f"{one_line(error.message)}. {one_line(hint)}".strip(), style="bold red")
