"""Store and health: what is captured, what is behind, what is wrong and what to do."""

from __future__ import annotations

import asyncio
import shutil
from collections import Counter, deque
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from time import monotonic
from typing import Any, ClassVar

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text
from textual.binding import Binding, BindingType

from ultracontext_dashboard import words
from ultracontext_dashboard.library import moment
from ultracontext_dashboard.screens.page import Page
from ultracontext_dashboard.text import one_line, tilde

WINDOW_SECONDS = 60.0
DAYS = 14
MOST_KINDS = 12


class Health(Page):
    """Refreshed each second from the daemon's status and the rows of the list."""

    KEYS: ClassVar[str] = "p pause   w sweep now   L log   , settings   esc back   ? help"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "app.pause", "Pause"),
        Binding("w", "sweep", "Sweep"),
        Binding("L,upper_l", "app.log", "Log"),
        Binding("comma", "app.settings", "Settings"),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._events: deque[tuple[float, int]] = deque(maxlen=120)

    async def content(self) -> RenderableType:
        status = self.dashboard.status
        parts: list[RenderableType] = [Text("")]
        parts += _problems(status, self.dashboard.daemon_error, self.dashboard.store_error)
        free = await asyncio.to_thread(free_bytes, self.dashboard.at.paths.store_file)
        parts += [_capture(status, self._rate(status), free, self.dashboard.at.home), Text("")]
        parts += [_agents(self.dashboard), Text("")]
        parts += [await self._masks(), Text("")]
        parts += [_keeping(self.dashboard)]
        return Group(*parts)

    def _rate(self, status: dict[str, Any]) -> float:
        """Events a second over the last minute."""
        events = (status.get("capture") or {}).get("events")
        if not isinstance(events, int):
            return 0.0
        now = monotonic()
        self._events.append((now, events))
        old = next(
            (pair for pair in self._events if now - pair[0] <= WINDOW_SECONDS), (now, events)
        )
        return max(0.0, (events - old[1]) / max(1.0, now - old[0]))

    async def _masks(self) -> RenderableType:
        found = await self.dashboard.reading.run(self.dashboard.reading.sessions.secrets)
        return masks_table(found, self.dashboard.now())

    async def action_sweep(self) -> None:
        from ultracontext.errors import TransportError

        try:
            await self.dashboard.feed.post("/sweep")
        except TransportError as error:
            self.dashboard.say(f"{error.message}. {error.hint}", error=True)
            return
        self.dashboard.say("looking at all files now")


def masks_table(secrets: Sequence[dict[str, Any]], now: datetime) -> RenderableType:
    """Masks by kind, and on which of the last `DAYS` days its secrets were last met."""
    kinds: Counter[str] = Counter()
    days: dict[str, list[int]] = {}
    for row in secrets:
        kinds[row["kind"]] += row["count"]
        bars = days.setdefault(row["kind"], [0] * DAYS)
        for when in row.get("met") or [row["until"]]:
            ago = (now - when).days
            if 0 <= ago < DAYS:
                bars[DAYS - 1 - ago] += 1
    table = Table.grid(padding=(0, 2))
    table.add_column(width=22)
    table.add_column(justify="right", width=8)
    table.add_column()
    table.add_row(
        Text("Masks by kind", style="bold"),
        Text(f"{sum(kinds.values()):,}"),
        Text(f"secrets met, {DAYS} days", style="dim"),
    )
    for kind, count in kinds.most_common(MOST_KINDS):
        table.add_row(
            Text(f"  {kind}"), Text(f"{count:,}"), Text(words.spark(days[kind]), style="green")
        )
    if len(kinds) > MOST_KINDS:
        table.add_row(Text(f"  and {len(kinds) - MOST_KINDS} more kinds"), Text(""), Text(""))
    return table


def _problems(status: dict[str, Any], daemon: str, store: str) -> list[RenderableType]:
    lines: list[RenderableType] = []
    if daemon:
        lines.append(Text(f"! {daemon}. Start it by `ultracontext daemon start`", style="bold red"))
    if store:
        lines.append(Text(f"! {store}", style="bold red"))
    for problem in status.get("problems") or []:
        lines.append(Text(f"! {one_line(str(problem.get('message', '')))}", style="bold red"))
        if problem.get("hint"):
            lines.append(Text(f"  {one_line(str(problem['hint']))}"))
    return [*lines, Text("")] if lines else [Text("● no problems", style="bold green"), Text("")]


def free_bytes(path: Path) -> int | None:
    """Room on the disk that holds the store; None where that cannot be told."""
    try:
        return shutil.disk_usage(path.parent).free
    except OSError:
        return None


WATCHERS = {"events": "the system tells of changes", "polling": "files are looked at in turn"}


def _capture(status: dict[str, Any], rate: float, free: int | None, home: object) -> RenderableType:
    capture = status.get("capture") or {}
    daemon = status.get("daemon") or {}
    store = status.get("store") or {}
    remote = status.get("remote") or {}
    dedup = status.get("dedup") or {}
    table = Table.grid(padding=(0, 2))
    table.add_column(width=9)
    table.add_column(ratio=1)
    told = f"{words.bytes_text(capture.get('backlog_bytes') or 0)}, "
    told += words.span(capture.get("backlog_seconds") or 0)
    up = words.span(daemon.get("uptime_seconds") or 0)
    memory = words.bytes_text(daemon.get("memory_bytes") or 0)
    stored = f"{capture.get('events', 0):,} stored, {rate:.1f} a second"
    lag = f"{remote.get('lag_events') or 0:,} events, {words.span(remote.get('lag_seconds') or 0)}"
    skipped = [f"{name} {count:,}" for name, count in (capture.get("skipped") or {}).items()]
    size = words.bytes_text(store.get("bytes") or 0)
    room = f", {words.bytes_text(free)} free on its disk" if free is not None else ""
    watcher = str(capture.get("watcher") or "-")
    mode = f"{watcher}: {WATCHERS[watcher]}" if watcher in WATCHERS else watcher
    trouble = f", {one_line(str(remote['error']))}" if remote.get("error") else ""
    version = daemon.get("version", "-")
    rows = [
        ("daemon", f"pid {daemon.get('pid', '-')}, version {version}, up {up}, {memory}"),
        ("capture", "paused" if capture.get("paused") else mode),
        ("backlog", told),
        ("events", f"{stored}, {capture.get('duplicates', 0):,} read again"),
        ("sources", f"{capture.get('sources', 0):,}, {capture.get('active', 0)} active"),
        ("skipped", ", ".join(skipped) or "nothing"),
        ("store", f"{size} in {tilde(store.get('path') or '-', home)}{room}"),
        ("dedup", f"{dedup.get('rows', 0):,} rows, {dedup.get('hits', 0):,} hits"),
        ("remote", f"{remote['url']}, lag {lag}{trouble}" if remote.get("url") else "here only"),
    ]
    for name, text in rows:
        table.add_row(Text(name, style="bold"), Text(one_line(str(text))))
    return table


def _agents(dashboard: Any) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for width in (9, 8, 8, 10):
        table.add_column(width=width)
    table.add_column(ratio=1)
    heads = ("Agent", "Sessions", "Messages", "Last event", "Versions met")
    tested = dashboard.reading.sessions.tested_versions()
    table.add_row(*(Text(name, style="bold") for name in heads))
    now = dashboard.now()
    for agent in sorted({str(e.row["agent"]) for e in dashboard.entries.values()}):
        own = [e for e in dashboard.entries.values() if e.row["agent"] == agent]
        newest = max((e.updated for e in own if e.updated is not None), default=None)
        versions = sorted({str(e.row["agent_version"]) for e in own if e.row.get("agent_version")})
        table.add_row(
            Text(agent),
            Text(f"{len(own):,}"),
            Text(f"{sum(e.row.get('messages') or 0 for e in own):,}"),
            Text(words.age(newest, now)),
            versions_met(versions, tested.get(agent, ())),
        )
    return table


def versions_met(met: Sequence[str], tested: Sequence[str]) -> Text:
    """The newest last; those that were never tried stand out."""
    shown = Text()
    for number, version in enumerate(met[-6:]):
        new = version not in tested
        shown.append(", " if number else "")
        shown.append(one_line(version, 30) + (" new to us" if new else ""), "yellow" if new else "")
    return shown


def _keeping(dashboard: Any) -> Text:
    """What the agents are about to delete, and what only we have."""
    now = dashboard.now()
    soon = gone = 0
    for entry in dashboard.entries.values():
        when = moment(entry.row.get("expires_at"))
        if entry.row.get("place") == "gone":
            gone += 1
        elif when is not None and (when - now).total_seconds() <= 3 * 86400:
            soon += 1
    held = f"{soon} sessions will be deleted by their agent within 3 days; we hold them."
    only = f"{gone} are gone from their agent's folder; only we have them."
    return Text(f"{held}\n{only}")
