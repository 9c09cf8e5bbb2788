"""The dashboard: one window on the daemon's socket and the local store."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from textual.app import App, SystemCommand
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.signal import Signal
from textual.worker import Worker

from ultracontext.errors import StoreError, TransportError, UltraContextError
from ultracontext.model import Message
from ultracontext.paths import Paths
from ultracontext.settings import Settings
from ultracontext_dashboard.feed import Feed
from ultracontext_dashboard.library import Entry, Reading, by_age
from ultracontext_dashboard.main import shell_words
from ultracontext_dashboard.process import run_json
from ultracontext_dashboard.text import one_line
from ultracontext_dashboard.themes import DARK, LIGHT, chosen

MOST_SESSIONS = 1000
REPAINT_SECONDS = 0.1
STATUS_SECONDS = 1.0
TICK_SECONDS = 1.0
LOOK_SECONDS = 5.0
"""How often the lists are looked at while no daemon tells of news."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the dashboard is started with."""

    paths: Paths
    settings: Settings
    env: Mapping[str, str]
    home: Path
    program: tuple[str, ...]
    """How to run `ultracontext`: the dashboard switches by it, in the person's own process."""
    folder: Path
    allow_switch: bool = True
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)


class Dashboard(App[int]):
    """Lives on the terminal; everything that it shows, others can ask for as well."""

    TITLE = "UltraContext"
    CSS_PATH = "dashboard.tcss"
    ENABLE_COMMAND_PALETTE = True
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c,ctrl+q", "quit", "Quit", show=False, priority=True),
        Binding("question_mark,f1", "help", "Help"),
        Binding("ctrl+l", "redraw", "Redraw", show=False),
    ]

    def __init__(self, surroundings: Surroundings) -> None:
        super().__init__()
        self.at = surroundings
        self.entries: dict[str, Entry] = {}
        self.status: dict[str, Any] = {}
        self.daemon_error = ""
        """Why the daemon cannot be asked; empty while it answers."""
        self.newer_daemon = ""
        self.store_error = ""
        self.loaded = False
        self.changed: Signal[None] = Signal(self, "changed")
        """Sessions changed; at most ten times a second."""
        self.health: Signal[None] = Signal(self, "health")
        """Status changed; about once a second."""
        self.grown: Signal[set[str]] = Signal(self, "grown")
        """Context ids of sessions that have new records."""
        self.reading = Reading(
            paths=surroundings.paths,
            settings=surroundings.settings,
            env=surroundings.env,
            home=surroundings.home,
        )
        self.feed = Feed(surroundings.paths.socket)
        self._dirty: set[str] = set()
        self._all_dirty = True
        self._news: Worker[None] | None = None
        self.register_theme(DARK)
        self.register_theme(LIGHT)

    def now(self) -> datetime:
        return self.at.clock()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """For Textual's own themes, which do not know ours."""
        return dict((DARK if self.current_theme.dark else LIGHT).variables)

    # ---- life --------------------------------------------------------------------------------
    def on_mount(self) -> None:
        self.theme = chosen(self.at.env)
        from ultracontext_dashboard.screens.home import Home

        self.push(Home())
        self.run_worker(self._follow(), name="follow", exclusive=False, exit_on_error=False)
        self.set_interval(TICK_SECONDS, self._tick)

    async def on_unmount(self) -> None:
        await asyncio.to_thread(self.reading.close)

    def get_system_commands(self, screen: Screen[Any]) -> Any:
        """What `ctrl+p` offers besides Textual's own."""
        yield from super().get_system_commands(screen)
        for name, text, action in (
            ("Search everything", "Full text over all sessions", "search_all"),
            ("Store and health", "Backlog, problems, masks, disk", "store"),
            ("Secrets", "Which secret was masked where", "secrets"),
            ("Settings", "What is set, and from where", "settings"),
            ("Log", "The daemon's log", "log"),
            ("Pause or continue capture", "As `ultracontext capture pause`", "pause"),
        ):
            yield SystemCommand(name, text, lambda a=action: self.run_worker(self.run_action(a)))

    # ---- news --------------------------------------------------------------------------------
    async def _follow(self) -> None:
        async with self.feed.connected(), asyncio.TaskGroup() as group:
            group.create_task(self._listen())
            group.create_task(self._ask_status())
            group.create_task(self._apply())

    async def _listen(self) -> None:
        async for event in self.feed.events():
            if event.kind == "committed":
                self._note(event.data)
            elif event.kind == "newer":
                self.newer_daemon = str(event.data.get("version", ""))
                self._all_dirty = True
            else:
                self.daemon_error = event.data.get("reason", "") if event.kind == "down" else ""
                self._all_dirty = True
                if event.kind != "down":
                    self.newer_daemon = ""
                self.health.publish(None)

    def _note(self, row: dict[str, Any]) -> None:
        context = str(row.get("context_id", ""))
        self._dirty.add(context)
        entry = self.entries.get(context)
        if entry is not None:
            entry.news.append((monotonic(), int(row.get("events", 0))))

    async def _ask_status(self) -> None:
        while True:
            try:
                self.status = await self.feed.status()
                self.daemon_error = ""
            except TransportError as error:
                self.status = {}
                self.daemon_error = error.message
            self.health.publish(None)
            await asyncio.sleep(STATUS_SECONDS)

    async def _apply(self) -> None:
        """Reads what changed, at most once in `REPAINT_SECONDS`."""
        last = 0.0
        while True:
            looked = bool(self.daemon_error) and monotonic() - last > LOOK_SECONDS
            if self._all_dirty or looked:
                self._all_dirty, last = False, monotonic()
                self._dirty.clear()
                await self._read_all()
            elif self._dirty:
                contexts, self._dirty = self._dirty, set()
                await self._read_news(contexts)
            else:
                await self._read_resting()
            await asyncio.sleep(REPAINT_SECONDS)

    async def _read_all(self) -> None:
        now = self.now()
        try:
            found = await self.reading.run(lambda: self.reading.everything(now, MOST_SESSIONS))
        except UltraContextError as error:
            self._failed(error)
            return
        self.store_error = ""
        before = self.entries
        for entry in found:
            if entry.context_id in before:
                old = before[entry.context_id]
                entry.news = old.news
                if (
                    old.known
                    and not entry.known
                    and old.row.get("updated_at") == entry.row.get("updated_at")
                ):
                    entry.doing, entry.known = old.doing, True
        self.entries = {entry.context_id: entry for entry in found}
        self.loaded = True
        self.changed.publish(None)

    async def _read_news(self, contexts: set[str]) -> None:
        now = self.now()
        try:
            found = await self.reading.run(lambda: self.reading.news(contexts, now))
        except UltraContextError as error:
            self._failed(error)
            return
        clock = monotonic()
        for row, doing in found:
            entry = self.entries.get(str(row["id"]))
            if entry is None:
                entry = self.entries[str(row["id"])] = Entry(row=row, doing=doing)
                entry.news.append((clock, 1))
            entry.row, entry.doing, entry.known = row, doing, True
        self.changed.publish(None)
        self.grown.publish(contexts)

    async def _read_resting(self) -> None:
        """The last words of a few sessions that were not read so far, newest first."""
        now = self.now()
        newest = islice((e for e in self.entries.values() if not e.known), 8)
        for entry in list(newest):
            entry.known = True
            with suppress(UltraContextError):
                entry.doing = await self.reading.run(
                    partial(self.reading.last_words, entry.row, now)
                )
            if self._dirty or self._all_dirty:
                break

    def _failed(self, error: UltraContextError) -> None:
        self.store_error = f"{error.message}. {error.hint}" if error.hint else error.message
        if isinstance(error, StoreError):
            self.run_worker(self.reading.run(self.reading.close_files), exit_on_error=False)
            self._all_dirty = error.code == "store-busy"
        self.loaded = True
        self.changed.publish(None)
        self.health.publish(None)

    def _tick(self) -> None:
        """Ages and states change by themselves."""
        now = self.now()
        for entry in self.entries.values():
            if entry.doing.state in ("running", "turn", "idle"):
                updated = entry.updated
                quiet = (now - updated).total_seconds() if updated is not None else 1e9
                if quiet >= 86400:
                    entry.doing = by_age(entry.row, now)
                elif quiet >= 1800 and entry.doing.state != "idle":
                    self._dirty.add(entry.context_id)
        self.changed.publish(None)

    # ---- what screens ask for ----------------------------------------------------------------
    async def messages(self, context_id: str, version: int | None = None) -> list[Message]:
        """A session's messages, read in the reading thread."""
        found: list[Message] = await self.reading.run(
            lambda: self.reading.messages(context_id, version)
        )
        return found

    def places_looked_at(self) -> list[tuple[str, str, bool]]:
        """(agent, folder, whether it is there) of all known agents."""
        return self.reading.sessions.places_looked_at()

    def open_switch(self, entry: Entry) -> None:
        from ultracontext_dashboard.screens.switch import Switch

        self.push(Switch(entry))

    def open_versions(self, entry: Entry, *, diff: bool = False) -> None:
        from ultracontext_dashboard.screens.versions import Versions

        self.push(Versions(entry, diff=diff))

    def fork(self, entry: Entry) -> None:
        """A fork of the session as it stands, in the store."""
        self._do(("context", "fork", entry.context_id), "forked")

    def restore(self, entry: Entry) -> None:
        """Writes the session back for its own agent."""
        if not self.at.allow_switch:
            self.say("writing is off here: start with --allow-switch", error=True)
            return
        self._do(("restore", entry.context_id), "restored")

    def _do(self, words: tuple[str, ...], done: str) -> None:
        async def work() -> None:
            try:
                found = await run_json([*self.at.program, *words, "--json"], self.at.env)
            except UltraContextError as error:
                self.say(f"{error.message}. {error.hint}".strip(), error=True)
                return
            where = found.get("path") or found.get("id") or ""
            self.say(f"{done}: {one_line(str(where))}")
            self._all_dirty = True

        self.run_worker(work(), exit_on_error=False)

    def launch(self, line: str) -> int:
        """Steps aside for a program in this terminal, and comes back with its exit code. Raises
        SuspendNotSupported where there is no terminal to lend."""
        with self.suspend():
            done = subprocess.run(shell_words(line), check=False, env=dict(self.at.env))  # noqa: S603
        self.refresh(layout=True)
        self._all_dirty = True
        return done.returncode

    def push(self, screen: Screen[Any]) -> None:
        """Opens a screen above this one."""
        self.call_later(self.push_screen, screen)

    # ---- actions -----------------------------------------------------------------------------
    def action_redraw(self) -> None:
        self._all_dirty = True
        self.refresh(layout=True)

    def say(self, text: str, *, error: bool = False) -> None:
        """A notice; brackets in it are brackets."""
        self.notify(text, severity="error" if error else "information", markup=False, timeout=4)

    async def action_pause(self) -> None:
        """Pauses capture, or goes on."""
        paused = bool((self.status.get("capture") or {}).get("paused"))
        try:
            await self.feed.post("/continue" if paused else "/pause")
        except TransportError as error:
            self.say(f"{error.message}. {error.hint}", error=True)
            return
        self.say("capture goes on" if paused else "capture is paused")

    def action_help(self) -> None:
        from ultracontext_dashboard.screens.help import Help

        self.push(Help())

    def action_store(self) -> None:
        from ultracontext_dashboard.screens.health import Health

        self.push(Health())

    def action_secrets(self) -> None:
        from ultracontext_dashboard.screens.secrets import Secrets

        self.push(Secrets())

    def action_settings(self) -> None:
        from ultracontext_dashboard.screens.settings import SettingsView

        self.push(SettingsView())

    def action_log(self) -> None:
        from ultracontext_dashboard.screens.log import LogView

        self.push(LogView())

    def action_search_all(self) -> None:
        from ultracontext_dashboard.screens.search import Search

        self.push(Search())
