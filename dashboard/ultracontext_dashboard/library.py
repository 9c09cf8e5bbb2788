"""The sessions that the dashboard knows: rows of the list, and what each is doing.

Reading happens in one thread of its own (`Reading`); what it finds is applied on the event loop, so
that the app never waits for a disk.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from ultracontext.errors import NotFoundError
from ultracontext.model import Message
from ultracontext.paths import Paths
from ultracontext.sdk.sessions import LocalSessions, OpenSession
from ultracontext.settings import Settings

FOLLOWED = 64
"""Sessions whose records are followed one by one: those with news within `RECENT`."""
RECENT = timedelta(minutes=30)
READ_AT_MOST = 3000
"""Messages of a resting session that is read for its last words."""
SPARK_SECONDS = 30
"""Time that one bar of the sparkline stands for."""
SPARKS = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Doing:
    """What a session is doing, as of its newest record."""

    state: str
    tool: str = ""
    brief: str = ""
    tool_since: datetime | None = None
    more_calls: int = 0
    words: str = ""
    words_role: str = ""


@dataclass(slots=True)
class Entry:
    """One session of the list."""

    row: dict[str, Any]
    doing: Doing
    known: bool = False
    """Whether its records were read for `doing`."""
    news: deque[tuple[float, int]] = field(default_factory=lambda: deque(maxlen=256))
    """(when, events) of the commits that came while the dashboard was open."""

    @property
    def context_id(self) -> str:
        return str(self.row["id"])

    @property
    def updated(self) -> datetime | None:
        return moment(self.row.get("updated_at") or self.row.get("started_at"))

    def spark(self, now: float) -> list[int]:
        """Events in each of the last `SPARKS` slices of time, oldest first."""
        bars = [0] * SPARKS
        for when, events in self.news:
            age = int((now - when) // SPARK_SECONDS)
            if 0 <= age < SPARKS:
                bars[SPARKS - 1 - age] += events
        return bars


class Reading:
    """The store, read in one thread."""

    def __init__(
        self, *, paths: Paths, settings: Settings, env: Mapping[str, str], home: Path
    ) -> None:
        self.sessions = LocalSessions(paths=paths, settings=settings, env=env, home=home)
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reading")
        self._open: dict[str, OpenSession] = {}

    def close(self) -> None:
        """Waits for what is being read."""
        self._pool.submit(self.sessions.close)
        self._pool.shutdown(wait=True, cancel_futures=False)

    async def run(self, work: Callable[[], Any]) -> Any:
        """Runs blocking work in the reading thread."""
        import asyncio

        return await asyncio.get_running_loop().run_in_executor(self._pool, work)

    # all below runs in that thread
    def everything(self, now: datetime, limit: int) -> list[Entry]:
        """All rows; the newest are read far enough to tell what they are doing."""
        rows = self.sessions.rows(limit=limit)
        entries = [Entry(row=row, doing=by_age(row, now)) for row in rows]
        recent = [e for e in entries if e.updated is not None and now - e.updated < RECENT]
        for entry in recent[:FOLLOWED]:
            entry.doing, entry.known = self.doing(entry.row, now), True
        return entries

    def news(self, contexts: Iterable[str], now: datetime) -> list[tuple[dict[str, Any], Doing]]:
        """Fresh rows of sessions that grew, and what they are doing."""
        found = []
        for context_id in contexts:
            row = self.sessions.row(context_id)
            if row is not None:
                found.append((row, self.doing(row, now)))
        return found

    def last_words(self, row: Mapping[str, Any], now: datetime) -> Doing:
        """The same of a session that rests; it is not kept open."""
        if (row.get("messages") or 0) > READ_AT_MOST:
            return by_age(row, now)
        try:
            session = self.sessions.open(str(row["id"]))
            session.advance()
        except NotFoundError:
            return by_age(row, now)
        return told(session, row, now)

    def doing(self, row: Mapping[str, Any], now: datetime) -> Doing:
        """Reads what is new of a session."""
        try:
            session = self.opened(str(row["id"]))
            session.advance()
        except NotFoundError:
            return by_age(row, now)
        return told(session, row, now)

    def messages(self, context_id: str, version: int | None = None) -> list[Message]:
        """A session's messages, settled; of an earlier version as they were. NotFoundError."""
        if version is not None:
            return self.sessions.as_of(context_id, version)
        session = self.opened(context_id)
        session.advance()
        return session.messages()

    def opened(self, context_id: str) -> OpenSession:
        """The session, kept open while it is among the last `FOLLOWED` asked for."""
        session = self._open.pop(context_id, None) or self.sessions.open(context_id)
        self._open[context_id] = session
        while len(self._open) > FOLLOWED:
            self._open.pop(next(iter(self._open)))
        return session

    def close_files(self) -> None:
        """Lets go of the store, so that the next call finds one that was replaced."""
        self._open.clear()
        self.sessions.close()


def told(session: OpenSession, row: Mapping[str, Any], now: datetime) -> Doing:
    activity = session.activity
    call = activity.open_call
    state = activity.state(now, gone=row.get("place") == "gone")
    return Doing(
        state=state,
        tool=call.name if call else "",
        brief=call.brief if call else "",
        tool_since=call.since if call else None,
        more_calls=max(0, activity.open_calls - 1),
        words=activity.words,
        words_role=activity.last_role,
    )


def by_age(row: Mapping[str, Any], now: datetime) -> Doing:
    """What the list alone tells: nothing that happened long ago is running."""
    updated = moment(row.get("updated_at") or row.get("started_at"))
    fresh = updated is not None and now - updated < timedelta(days=1)
    return Doing(state="idle" if fresh and row.get("place") != "gone" else "ended")


def moment(text: object) -> datetime | None:
    """A time of the list as an aware datetime."""
    return _moment(text) if isinstance(text, str) and text else None


@lru_cache(maxsize=8192)
def _moment(text: str) -> datetime | None:
    """The list asks for the same times at each repaint."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
