"""Each screen with all that moves pinned: the clock, the daemon's status, what programs answer.

Snapshots and the pictures of the README are made of these."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Any
from unittest.mock import patch

from tests.dashboard.conftest import NOW, session_id
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from ultracontext.model import captured_context_id
from ultracontext_dashboard.app import Dashboard
from ultracontext_dashboard.feed import Feed, FeedEvent
from ultracontext_dashboard.screens.page import Page
from ultracontext_dashboard.screens.session import SessionScreen
from ultracontext_dashboard.widgets.conversation import Conversation

STATUS: dict[str, Any] = {
    "daemon": {"running": True, "pid": 4711, "version": "0.1.0", "uptime_seconds": 3745.1,
               "memory_bytes": 69550080, "clients": 1},
    "capture": {"paused": False, "watcher": "events", "backlog_bytes": 0, "backlog_seconds": 0.0,
                "sources": 36, "active": 3, "events": 89, "duplicates": 0, "masked": 128,
                "skipped": {}},
    "redaction": {"enabled": True, "rules": 441, "behind": 0},
    "remote": {"url": None, "lag_events": 0, "lag_seconds": 0.0, "error": None},
    "dedup": {"rows": 1876, "hits": 12},
    "store": {"path": "-", "bytes": 1843096},
    "problems": [],
}  # fmt: skip
SECRETS: list[dict[str, Any]] = [
    {"kind": kind, "fingerprint": digest, "sessions": sessions, "count": count, "contexts": [],
     "since": NOW - timedelta(days=days), "until": NOW - timedelta(hours=days),
     "met": [NOW - timedelta(hours=23 * n) for n in range(days)]}
    for kind, digest, sessions, count, days in (
        ("github-token", "37ed3e20", 3, 70, 9), ("aws-pair", "ea207716", 2, 12, 4),
        ("openai-key", "a80f400d", 1, 46, 1),
    )
]  # fmt: skip
LOG = """\
{"timestamp": "2026-11-30T18:57:35.120Z", "level": "info", "logger": "runtime.daemon", \
"event": "started", "version": "0.1.0"}
{"timestamp": "2026-11-30T19:02:11.004Z", "level": "warning", "logger": "capture.tail", \
"event": "file-replaced", "agent": "claude", "position": 4096}
{"timestamp": "2026-11-30T19:24:19.810Z", "level": "error", "logger": "replicate.push", \
"event": "refused", "code": "unauthorized", "attempt": 3}
"""


class PinnedFeed(Feed):
    """A daemon that is well and silent."""

    def __init__(self) -> None:
        super().__init__(Path("-"))

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Feed]:
        yield self

    async def status(self) -> dict[str, Any]:
        return STATUS

    async def events(self) -> AsyncIterator[FeedEvent]:
        yield FeedEvent(kind="up", data={})
        await asyncio.Event().wait()


@contextmanager
def pinned(app: Dashboard) -> Iterator[None]:
    """Nothing on the screen depends on this machine or on the time."""
    app.feed = PinnedFeed()
    logs = app.at.paths.logs_dir
    logs.mkdir(parents=True, exist_ok=True)
    for path in logs.iterdir():
        path.unlink()
    (logs / "daemon.log").write_text(LOG)
    health = "ultracontext_dashboard.screens.health.free_bytes"
    with (
        patch.object(app.reading.sessions, "secrets", lambda: SECRETS),
        patch(health, lambda _: 52_000_000_000),
    ):
        yield


Act = Callable[[Pilot[int], Dashboard], Awaitable[None]]


async def until(pilot: Pilot[int], met: Callable[[], bool], seconds: float = 15.0) -> None:
    """Waits for what a scene is about; AssertionError when it does not come."""
    end = monotonic() + seconds
    while not met():
        assert monotonic() < end, "it did not come"
        await pilot.pause(0.05)


async def settled(pilot: Pilot[int], app: Dashboard) -> None:
    """The list stands, the words of resting sessions are read, some bars of activity are there."""
    await until(pilot, lambda: app.loaded and all(e.known for e in app.entries.values()))
    entry = app.entries.get(captured_context_id("claude", session_id(1)))
    if entry is not None:
        clock = monotonic()
        entry.news.extend((clock - 30 * n - 10, (2, 5, 9, 4, 1, 3)[n]) for n in range(5, -1, -1))
        if app.screen.has_class("wide"):
            talk = app.screen.query_one(Conversation)
            await until(pilot, lambda: talk.count > 0)
    app.changed.publish(None)
    app.health.publish(None)
    await pilot.pause(0.2)


def pressing(*keys: str, met: Callable[[Dashboard], bool] | None = None) -> Act:
    async def act(pilot: Pilot[int], app: Dashboard) -> None:
        await settled(pilot, app)
        await pilot.press(*keys)
        await pilot.pause(0.2)
        await until(pilot, lambda: ready(app) and (met is None or met(app)))
        for field in app.screen.query(Input):
            field.cursor_blink = False
        await pilot.pause(0.2)

    return act


def ready(app: Dashboard) -> bool:
    """Whether a page has been filled and a session been read."""
    screen = app.screen
    if isinstance(screen, Page):
        return bool(str(screen.query_one("#text", Static).render()).strip())
    if isinstance(screen, SessionScreen):
        return screen.query_one(Conversation).count > 0
    return True


def _shows(name: str, text: str) -> Callable[[Dashboard], bool]:
    return lambda app: text in str(app.screen.query_one(name, Static).render())


SCENES: dict[str, Act] = {
    "home": pressing(),
    "grouped": pressing("g", "z"),
    "session": pressing("enter", "up", "enter"),
    "switch": pressing("s", met=_shows("#plan", "3 masks")),
    "versions": pressing("enter", "d", met=_shows("#diff", "take this")),
    "health": pressing("S"),
    "search": pressing(
        "ctrl+f", *"retry", met=lambda app: app.screen.query_one(OptionList).option_count == 2
    ),
    "secrets": pressing("x"),
    "settings": pressing("comma"),
    "log": pressing("L"),
    "help": pressing("question_mark"),
}
