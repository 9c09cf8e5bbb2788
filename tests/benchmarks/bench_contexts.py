"""What a write costs in a large context against a small one, at the store.

    bench_contexts.py [sqlite|postgres]…

Each figure is the median of 300 calls, large and small taken in turns. Also: a fork of 100,000
messages, and windows of a context of 100,000 against the whole.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
import random

from context_writer import message, to
from postgres import running

from ultracontext.model import ContextId, MessageId
from ultracontext.store import Fork, SpaceStore, Update, open_store

LARGE, SMALL, CALLS = 100_000, 100, 300
BODY = "All work and no play. " * 10


def now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def opened(kind: str) -> Iterator[SpaceStore]:
    with tempfile.TemporaryDirectory() as folder:
        if kind == "sqlite":
            store = open_store(f"sqlite://{folder}/store.db", migrate=True)
            yield store.within("bench")
            store.close()
            return
        with running() as cluster:
            store = open_store(cluster.url(cluster.fresh()), migrate=True)
            yield store.within("bench")
            store.close()


def filled(space: SpaceStore, count: int) -> ContextId:
    name = space.create(now=now()).context_id
    for start in range(0, count, 1000):
        texts = [f"{n} {BODY}" for n in range(start, min(count, start + 1000))]
        space.append_messages(name, [message(text) for text in texts], now=now())
    space.remove(name, list(range(0, count, 7)), now=now())
    return name


def fresh_ids(space: SpaceStore, name: ContextId) -> list[MessageId]:
    """Messages to edit, each once, spread over the context."""
    if space.context(name).messages < 1000:  # so many have to be there; they count as small
        made = space.append_messages(name, [message(BODY) for _ in range(CALLS + 30)], now=now())
        return [found.message.message_id for found in made.messages]
    total = space.context(name).messages
    picked = [
        m.message_id for start in range(0, total, total // 20)
        for m in space.read(name, first=start, at=min(total - 1, start + 19)).messages
    ]  # fmt: skip
    random.Random(2).shuffle(picked)
    return picked


def measure(work: Callable[[ContextId], None], names: dict[str, ContextId]) -> dict[str, float]:
    times: dict[str, list[float]] = {size: [] for size in names}
    for number in range(CALLS + 30):
        for size in sorted(names, reverse=bool(number % 2)):
            started = time.perf_counter()
            work(names[size])
            if number >= 30:
                times[size].append(time.perf_counter() - started)
    return {size: statistics.median(found) * 1e6 for size, found in times.items()}


def report(kind: str, what: str, found: dict[str, float], limit: float) -> None:
    ratio = found["large"] / found["small"]
    print(
        f"{kind:9} {what:14} small {found['small']:8.0f} µs  large {found['large']:8.0f} µs"
        f"  {ratio:5.2f} x  (at most {limit})"
    )


def run(kind: str) -> None:
    chance = random.Random(1)
    with opened(kind) as space:
        names = {"large": filled(space, LARGE), "small": filled(space, SMALL)}
        ids = {name: fresh_ids(space, name) for name in names.values()}

        def append(name: ContextId) -> None:
            space.append_messages(name, [message(BODY)], now=now())

        def by_id(name: ContextId) -> None:
            space.edit(name, [to(ids[name].pop(), BODY)], now=now())

        def by_index(name: ContextId) -> None:
            index = chance.randrange(space_of[name])
            space.edit(name, [Update(index=index, changes=b'{"role":"user"}')], now=now())

        space_of = {name: space.context(name).messages for name in names.values()}
        report(kind, "append", measure(append, names), 1.2)
        report(kind, "edit by id", measure(by_id, names), 1.2)
        report(kind, "edit by index", measure(by_index, names), 3)
        fork = time.perf_counter()
        copy = space.create(origin=Fork(source=names["large"]), now=now())
        fork = time.perf_counter() - fork
        total = space.context(copy.context_id).messages
        print(f"{kind:9} fork           {total} messages in {fork:.2f} s")
        windows: list[tuple[str, dict[str, Any]]] = [
            ("last 20", {"last": 20}),
            ("middle 20", {"first": total // 2, "at": total // 2 + 19}),
            ("whole", {}),
        ]
        for what, where in windows:
            started = time.perf_counter()
            count = len(list(space.read(names["large"], **where).messages))
            spent = (time.perf_counter() - started) * 1e3
            print(f"{kind:9} read {what:9} {count:6} messages in {spent:8.1f} ms")


if __name__ == "__main__":
    for wanted in sys.argv[1:] or ["sqlite", "postgres"]:
        run(wanted)
