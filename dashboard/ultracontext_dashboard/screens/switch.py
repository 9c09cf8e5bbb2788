"""Switch: where a session can go on, what is lost on the way, and then the command.

The verdict, the evidence, the masks and the loss stand there before anything is written. All of it
is `ultracontext switch --json` and `ultracontext compat --json`, run in the person's own process.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from rich.text import Text
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from ultracontext.errors import UltraContextError
from ultracontext_dashboard.library import Entry
from ultracontext_dashboard.process import run_json
from ultracontext_dashboard.text import one_line

FIDELITIES = ("default", "faithful", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """One row of the choice."""

    agent: str
    version: str
    verdict: str
    reason: str


class Switch(ModalScreen[None]):
    """Choose a target, see the plan, write."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "back", "Back"),
        Binding("enter", "open", "Write and open", priority=True),
        Binding("w", "write", "Write only"),
        Binding("c", "copy", "Copy command"),
        Binding("u", "undo", "Undo"),
        Binding("f", "fidelity", "Fidelity"),
        Binding("l", "last", "Last turns"),
        Binding("F,upper_f", "force", "Force"),
    ]

    def __init__(self, entry: Entry) -> None:
        super().__init__()
        self._entry = entry
        self._targets: list[Target] = []
        self._fidelity = FIDELITIES[0]
        self._last = ""
        self._force = False
        self._written: dict[str, Any] | None = None
        self._planned: dict[str, Any] | None = None

    @property
    def dashboard(self) -> Any:
        return self.app

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog") as dialog:
            title = one_line(str(self._entry.row.get("title") or self._entry.context_id), 60)
            dialog.border_title = Text(f"Continue “{title}” in").plain.replace("[", "\\[")
            yield OptionList(id="targets", markup=False, compact=True)
            with Horizontal(id="options"):
                yield Static("turns ", id="turns-name", markup=False)
                yield Input(id="turns", placeholder="all", compact=True, type="integer")
            yield Static(id="plan", markup=False)
            yield Static(id="told", markup=False)
            yield Static(
                "enter write and open   w write only   c copy command   f fidelity   l turns"
                "   F force   u undo   esc back",
                id="switch-keys", markup=False,
            )  # fmt: skip

    def on_mount(self) -> None:
        self.query_one("#targets").focus()
        self.query_one("#plan", Static).update("looking at what is installed …")
        self._load()

    # ---- targets and plan --------------------------------------------------------------------
    @work(exclusive=True, exit_on_error=False, group="load")
    async def _load(self) -> None:
        at = self.dashboard.at
        try:
            found = await run_json([*at.program, "compat", "--json"], at.env)
        except UltraContextError as error:
            self._tell(f"{error.message}. {error.hint}", bad=True)
            return
        self._targets = targets(found, str(self._entry.row["agent"]))
        listed = self.query_one("#targets", OptionList)
        listed.clear_options()
        listed.add_options([Option(_target_line(t, self._entry)) for t in self._targets])
        if self._targets:
            listed.highlighted = 0

    def on_option_list_option_highlighted(self) -> None:
        self._plan()

    def on_option_list_option_selected(self) -> None:
        self.action_open()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._last = event.value.strip()
        self._plan()

    @property
    def _target(self) -> Target | None:
        index = self.query_one("#targets", OptionList).highlighted
        return self._targets[index] if index is not None and index < len(self._targets) else None

    def _command(self, *more: str) -> list[str] | None:
        target = self._target
        if target is None:
            return None
        command = [*self.dashboard.at.program, "switch", "--to", target.agent,
                   "--session", self._entry.context_id, "--json", "--no-launch"]  # fmt: skip
        if self._last.isdecimal() and int(self._last) > 0:
            command += ["--last", self._last]
        if self._fidelity != FIDELITIES[0]:
            command += ["--fidelity", self._fidelity]
        if self._force:
            command += ["--force"]
        if target.verdict == "handoff":
            command += ["--handoff"]
        return [*command, *more]

    @work(exclusive=True, exit_on_error=False, group="plan")
    async def _plan(self) -> None:
        command = self._command("--dry-run")
        shown = self.query_one("#plan", Static)
        self._planned = None
        if command is None:
            shown.update("No agent to continue in was found.")
            return
        shown.update("…")
        try:
            found = await run_json(command, self.dashboard.at.env)
        except UltraContextError as error:
            shown.update(Text(f"{error.message}. {error.hint}".strip(), style="bold red"))
            return
        self._planned = found
        shown.update(plan_text(found, self._fidelity, self._last, self._force))

    # ---- doing it ----------------------------------------------------------------------------
    def action_fidelity(self) -> None:
        self._fidelity = FIDELITIES[(FIDELITIES.index(self._fidelity) + 1) % len(FIDELITIES)]
        self._plan()

    def action_force(self) -> None:
        self._force = not self._force
        self._plan()

    def action_last(self) -> None:
        self.query_one("#turns", Input).focus()

    async def action_back(self) -> None:
        if self.query_one("#turns").has_focus:
            self.query_one("#targets").focus()
            return
        await self.dismiss()

    def action_open(self) -> None:
        if self.query_one("#turns").has_focus:
            self.query_one("#targets").focus()
            return
        self._write(launch=True)

    def action_write(self) -> None:
        self._write(launch=False)

    @work(exclusive=True, exit_on_error=False, group="write")
    async def _write(self, *, launch: bool) -> None:
        if not self.dashboard.at.allow_switch:
            self._tell("switching is off here: start with --allow-switch", bad=True)
            return
        if self._written is None:
            command = self._command("--yes")
            if command is None:
                return
            self._tell("writing …")
            try:
                self._written = await run_json(command, self.dashboard.at.env)
            except UltraContextError as error:
                self._tell(f"{error.message}. {error.hint}", bad=True)
                return
        line = str(self._written.get("command") or "")
        self._tell(f"written: {self._written.get('path')}\n{line}\nc copies the command, u undoes")
        if launch and line:
            self.dashboard.launch(line)

    def action_copy(self) -> None:
        found = self._written or self._planned
        if found and found.get("command"):
            self.app.copy_to_clipboard(str(found["command"]))
            self._tell("copied the command" + ("" if self._written else "; nothing written yet"))

    @work(exclusive=True, exit_on_error=False, group="write")
    async def action_undo(self) -> None:
        if self._written is None:
            self._tell("nothing was written here")
            return
        at = self.dashboard.at
        command = [*at.program, "switch", "undo", str(self._written.get("undo")), "--json"]
        try:
            await run_json([*command, "--yes"], at.env)
        except UltraContextError as error:
            self._tell(f"{error.message}. {error.hint}", bad=True)
            return
        self._written = None
        self._tell("undone: the agent's files are as before")

    def _tell(self, text: str, *, bad: bool = False) -> None:
        self.query_one("#told", Static).update(Text(text.strip(), style="bold red" if bad else ""))


def targets(compat: dict[str, Any], source: str) -> list[Target]:
    """What can be chosen: an installed agent once, with the verdict for its version."""
    found = []
    pairs = [pair for pair in compat.get("pairs", []) if pair.get("source") == source]
    for agent in compat.get("agents", []):
        name = str(agent.get("agent"))
        pair: dict[str, Any] = next((p for p in pairs if p.get("target") == name), {})
        installed = agent.get("installed")
        version = installed.get("version") if isinstance(installed, dict) else installed
        of_pair = (agent.get("from") or {}).get(source) or {}
        verdict = str(
            of_pair.get("verdict") or agent.get("verdict") or pair.get("verdict") or "untested"
        )
        reason = str(pair.get("reason") or _evidence(pair) or "")
        if name == source:
            reason = reason or "same agent: a clean copy of the session"
        if not version and verdict != "handoff":
            reason = "not installed here"
        found.append(Target(agent=name, version=str(version or ""), verdict=verdict, reason=reason))
    order = {"tested": 0, "expected": 1, "handoff": 2, "untested": 3, "refused": 4}
    return sorted(found, key=lambda t: (not t.version, order.get(t.verdict, 5), t.agent == source))


def _evidence(pair: dict[str, Any]) -> str:
    for one in pair.get("evidence") or []:
        return f"real program, {one.get('version')}, {one.get('date')}"
    return ""


def _target_line(target: Target, entry: Entry) -> Text:
    line = Text(no_wrap=True, overflow="ellipsis")
    line.append(f"{target.agent} {target.version}".ljust(26))
    styles = {"tested": "green", "expected": "green", "refused": "red", "untested": "yellow"}
    line.append(target.verdict.ljust(10), styles.get(target.verdict, ""))
    return line.append(one_line(target.reason), "dim")


def plan_text(found: dict[str, Any], fidelity: str, last: str, force: bool) -> Text:
    """Options, counts and losses of a dry run."""
    shown = Text()
    chosen = [f"turns {last or 'all'}", f"fidelity {fidelity}", "force" if force else ""]
    shown.append("   ".join(c for c in chosen if c) + "\n", "dim")
    shown.append(f"{found.get('messages', 0)} messages, {found.get('tool_calls', 0)} tool calls")
    shown.append(f" → {one_line(str(found.get('path') or 'a document'))}\n")
    losses = [f"{loss['count']} {loss['kind']}" for loss in found.get("losses") or []]
    shown.append("lost: " + (", ".join(losses).replace("_", " ") or "nothing"))
    return shown
