"""How fast the dashboard is, through Textual's pilot: `python tests/benchmarks/bench_dashboard.py`.

1,000 sessions in the list and 200 commits a second from the daemon. Measured: key to screen (a key
is pressed until the frame with its effect was composed), event to screen (a commit is told until
the frame with it was composed), repaints of the list a second, memory over 100,000 commits. The
store is left out: rows come from memory, since reading has its own benchmark (bench_store)."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ultracontext.paths import resolve_paths
from ultracontext.settings import load_settings
from ultracontext_dashboard.app import Dashboard, Surroundings
from ultracontext_dashboard.feed import Feed, FeedEvent
from ultracontext_dashboard.library import Doing, Entry
from ultracontext_dashboard.widgets.session_list import SessionList

NOW = datetime.now(UTC)
AGENTS = ("claude", "codex", "gemini", "openclaw", "cursor")


KEYS = (
    ("down", "list", "action_move"), ("down", "list", "action_move"), ("z", "home", "action_lines"),
    ("up", "list", "action_move"), ("g", "home", "action_group"), ("o", "home", "action_sort"),
)  # fmt: skip
"""Key, who acts on it, by which method."""


class Told(Feed):
    """A daemon that tells `rate` commits a second, spread over `busy` sessions."""

    def __init__(self, rate: float, busy: int) -> None:
        super().__init__(Path("-"))
        self.rate, self.busy, self.count, self.limit = rate, busy, 0, 0
        self.marked: dict[str, float] = {}
        """Context id -> when a commit of it was told that is not on the screen yet."""

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Feed]:
        yield self

    async def status(self) -> dict[str, Any]:
        return {"capture": {"events": self.count, "masked": 1}, "daemon": {}, "problems": []}

    async def events(self) -> AsyncIterator[FeedEvent]:
        yield FeedEvent(kind="up", data={})
        while True:
            if self.count < self.limit:
                await asyncio.sleep(0.01)
                for _ in range(max(1, int(self.rate / 100))):
                    context = name(self.count % self.busy)
                    self.marked.setdefault(context, time.perf_counter())
                    yield FeedEvent(kind="committed", data={"context_id": context, "events": 1})
                    self.count += 1
            else:
                await asyncio.sleep(0.02)


def name(number: int) -> str:
    return f"ctx_{number:024d}"


def row(number: int, more: int = 0) -> dict[str, Any]:
    when = NOW - timedelta(seconds=30 * number) + timedelta(milliseconds=more)
    return {
        "id": name(number), "agent": AGENTS[number % 5], "title": f"Session {number} [x] 日本語",
        "project_path": f"/home/dev/p{number % 20}", "messages": 10 + more, "tokens": 1000 + more,
        "updated_at": when.isoformat(), "started_at": NOW.isoformat(), "git_branch": "main",
        "parent_id": name(number - 1) if number % 10 == 9 else None,
        "relation": "subagent" if number % 10 == 9 else None,
    }  # fmt: skip


class Rows:
    """Answers what `Reading` would read."""

    def __init__(self, count: int) -> None:
        self.count, self.seen = count, 0

    def everything(self, _now: datetime, _limit: int) -> list[Entry]:
        doing = Doing(state="idle", words="the last words")
        return [Entry(row=row(n), doing=doing, known=True) for n in range(self.count)]

    def news(self, contexts: set[str], _now: datetime) -> list[tuple[dict[str, Any], Doing]]:
        self.seen += 1
        doing = Doing(state="running", tool="Bash", brief="pytest", tool_since=NOW)
        return [(row(int(c.removeprefix("ctx_")), self.seen), doing) for c in contexts]


async def measure(seconds: float, rate: float, flood: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        env = {"HOME": folder, "ULTRACONTEXT_HOME": f"{folder}/uc"}
        paths = resolve_paths(env, Path(folder))
        app = Dashboard(
            Surroundings(
                paths=paths, settings=load_settings(paths.config_file, env, flags={}), env=env,
                home=Path(folder), program=("false",), folder=Path(folder),
            )
        )  # fmt: skip
        feed, rows = Told(rate, 50), Rows(1000)
        app.feed = feed
        app.reading.everything = rows.everything  # type: ignore[method-assign,assignment]
        app.reading.news = rows.news  # type: ignore[method-assign,assignment]
        app.reading.messages = lambda *_: []  # type: ignore[method-assign]
        async with app.run_test(size=(140, 40)) as pilot:
            while not app.loaded:
                await pilot.pause(0.05)
            found = await live(app, feed, seconds)
            found["memory_growth_kb"] = await flooded(app, feed, flood)
            return found


async def live(app: Dashboard, feed: Told, seconds: float) -> dict[str, Any]:
    listed = app.screen.query_one(SessionList)
    draws: list[float] = []
    lag: list[float] = []
    show = listed.show

    def shown(*given: Any) -> None:
        show(*given)
        done, feed.marked = feed.marked, {}
        held = {k: v for k, v in done.items() if k in app._dirty}
        feed.marked |= held
        draws.append(time.perf_counter())
        drawn = [v for k, v in done.items() if k not in held]
        app.call_after_refresh(lambda: lag.extend(time.perf_counter() - v for v in drawn))

    listed.show = shown  # type: ignore[method-assign,assignment]
    feed.limit = 1 << 60
    keys: list[float] = []
    spent, begun = time.process_time(), time.perf_counter()
    while time.perf_counter() - begun < seconds:
        for key, owner, action in KEYS:
            where = listed if owner == "list" else app.screen
            keys.append(await pressed(app, key, where, action))
            await asyncio.sleep(0.05)
    wall = time.perf_counter() - begun
    cpu = (time.process_time() - spent) / wall
    feed.limit = 0
    listed.show = show  # type: ignore[method-assign]
    per_second: dict[int, int] = {}
    for when in draws:
        per_second[int(when)] = per_second.get(int(when), 0) + 1
    return {
        "keys": len(keys), "key_p50_ms": ms(keys, 50), "key_p99_ms": ms(keys, 99),
        "events": feed.count, "event_p50_ms": ms(lag, 50), "event_p99_ms": ms(lag, 99),
        "updates_per_second": round(statistics.mean(per_second.values()), 1),
        "most_updates_per_second": max(per_second.values()),
        "events_per_second": round(feed.count / wall), "cpu_share": round(cpu, 2),
    }  # fmt: skip


async def pressed(app: Dashboard, key: str, where: Any, action: str) -> float:
    """Seconds from the key until the frame after its action was composed."""
    done = asyncio.Event()
    original = getattr(where, action)

    def acted(*given: Any) -> None:
        original(*given)
        where.call_after_refresh(done.set)

    setattr(where, action, acted)
    begun = time.perf_counter()
    app.simulate_key(key)
    async with asyncio.timeout(20):
        await done.wait()
    setattr(where, action, original)
    return time.perf_counter() - begun


async def flooded(app: Dashboard, feed: Told, flood: int) -> int:
    """Growth in kB over `flood` commits, after as many as warm up."""
    feed.rate = 10_000
    await told(feed, flood // 5)
    before = memory_kb()
    await told(feed, flood)
    return memory_kb() - before


async def told(feed: Told, count: int) -> None:
    """Has so many commits told, and lets them be drawn."""
    feed.limit = feed.count + count
    async with asyncio.timeout(100):
        while feed.count < feed.limit:  # noqa: ASYNC110 - the feed counts, nobody waits for it
            await asyncio.sleep(0.05)
    await asyncio.sleep(0.5)


def memory_kb() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") // 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def ms(values: list[float], percent: int) -> float:
    ordered = sorted(values)
    if not ordered:
        return float("nan")
    return round(1000 * ordered[min(len(ordered) - 1, len(ordered) * percent // 100)], 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rate", type=float, default=200.0)
    parser.add_argument("--flood", type=int, default=100_000)
    given = parser.parse_args()
    print(json.dumps(asyncio.run(measure(given.seconds, given.rate, given.flood)), indent=1))


if __name__ == "__main__":
    main()
