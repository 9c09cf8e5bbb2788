"""When the index thread looks, and when it lets capture go first."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from capture_lab import Lab, lines, record

from ultracontext.runtime.indexing import MOST_NEWS, Indexing
from ultracontext.search import Index
from ultracontext.store.base import ContextRow


class Counting:
    """A space that counts how often all its sessions were read."""

    def __init__(self, space: Any) -> None:
        self._space = space
        self.looks = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._space, name)

    def contexts(self, **asked: Any) -> Sequence[ContextRow]:
        self.looks += asked.get("limit") == 0
        rows: Sequence[ContextRow] = self._space.contexts(**asked)
        return rows


@contextmanager
def running(lab: Lab, space: Counting, busy: Callable[[], bool]) -> Iterator[Indexing]:
    found: Any = space
    indexing = Indexing(lab.folder / "index.db", found, lab.redactor, busy=busy)
    stop = threading.Event()
    thread = threading.Thread(target=indexing.run, args=(stop,))
    thread.start()
    try:
        yield indexing
    finally:
        stop.set()
        thread.join(10)


def until(true: Callable[[], Any]) -> bool:
    end = time.monotonic() + 10
    while time.monotonic() < end:
        if true():
            return True
        time.sleep(0.01)
    return False


def sessions(lab: Lab) -> int:
    index = Index(lab.folder / "index.db", write=False)
    try:
        return index.state().sessions
    finally:
        index.close()


def test_no_look_at_all_sessions_while_nothing_is_written(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("ultracontext.runtime.indexing.WHOLE_SECONDS", 0.01)
    monkeypatch.setattr("ultracontext.runtime.indexing.WHOLE_SHARE", 0.0)
    lab = Lab(tmp_path)
    lab.write(lines([record(1)]))
    lab.run()
    space = Counting(lab.space)
    with running(lab, space, lambda: False) as indexing:
        assert until(lambda: indexing.state().get("sessions") == 1)
        settled = space.looks
        time.sleep(0.3)
        assert space.looks <= settled + 1
        lab.write(lines([record(1, session="s2")]), "b.log")
        lab.run()  # nobody tells the index
        assert until(lambda: indexing.state().get("sessions") == 2)


def test_a_burst_waits_until_capture_is_done(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    busy = threading.Event()
    with running(lab, Counting(lab.space), busy.is_set) as indexing:
        assert until(lambda: indexing.state().get("sessions") == 0)
        busy.set()
        for n in range(MOST_NEWS + 1):
            lab.write(lines([record(n, session=f"s{n}")]), f"{n}.log")
        lab.run()
        indexing.tell({str(row.context_id) for row in lab.space.contexts(limit=0)})
        time.sleep(0.3)
        assert sessions(lab) == 0
        busy.clear()
        assert until(lambda: sessions(lab) == MOST_NEWS + 1)


def test_told_sessions_are_indexed_at_once(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    space = Counting(lab.space)
    with running(lab, space, lambda: False) as indexing:
        assert until(lambda: indexing.state().get("sessions") == 0)
        lab.write(lines([record(1)]))
        lab.run()
        indexing.tell({str(row.context_id) for row in lab.space.contexts(limit=0)})
        assert until(lambda: sessions(lab) == 1)
