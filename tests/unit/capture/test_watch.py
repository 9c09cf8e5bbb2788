"""Hints: a refused watch falls back to polling and says so; a dead watcher is replaced."""

from __future__ import annotations

import logging
import threading
from pathlib import Path

import pytest
from capture_lab import Lab, lines, record

from ultracontext.capture.watch import Watcher


def watcher(hints: list[str], seen: threading.Event) -> Watcher:
    def hint(path: str) -> None:
        hints.append(path)
        seen.set()

    return Watcher(hint, lambda: None)


def test_write_is_hinted_and_reading_is_not(tmp_path: Path) -> None:
    hints: list[str] = []
    seen = threading.Event()
    made = watcher(hints, seen)
    made.start()
    try:
        made.watch({str(tmp_path): True})
        assert made.mode == "events"
        (tmp_path / "a").write_text("x")
        assert seen.wait(5)
        assert hints[0] == str(tmp_path / "a")
    finally:
        made.stop()


def test_limit_of_watches_means_polling_and_recovers_p35(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = watcher([], threading.Event())
    made.start()
    try:
        with monkeypatch.context() as patch:

            def refuse(*_args: object, **_more: object) -> None:
                raise OSError(28, "No space left on device")

            patch.setattr(made._observer, "schedule", refuse)
            made.watch({str(tmp_path): True})
            assert made.mode == "polling: No space left on device"
        made.watch({str(tmp_path): True})
        assert made.mode == "events"
    finally:
        made.stop()


def test_dead_watcher_is_replaced(tmp_path: Path) -> None:
    made = watcher([], threading.Event())
    made.start()
    try:
        made.watch({str(tmp_path): True})
        made._observer.stop()
        made._observer.join(5)
        made.watch({str(tmp_path): True})
        assert made.mode == "events"
        assert made._observer.is_alive()
    finally:
        made.stop()


def test_a_watcher_that_was_started_again_asks_for_one_sweep(tmp_path: Path) -> None:
    made = Watcher(lambda _: None, lambda: None)
    made.start()
    try:
        assert made.watch({str(tmp_path): True})
        assert not made.watch({str(tmp_path): True})
        for expected in (True, False, False):  # the one that ends again and again
            made._observer.stop()
            made._observer.join(5)
            assert made.watch({str(tmp_path): True}) is expected
        assert not made.watch({str(tmp_path): True})
    finally:
        made.stop()


def test_a_file_written_between_the_first_sweep_and_its_watch_is_found_at_once(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Watcher.watch

    def late(self: Watcher, folders: dict[str, bool]) -> bool:
        if not lab.sessions() and not (lab.logs / "a.log").exists():
            lab.write(lines([record(1)]))
        return place(self, folders)

    monkeypatch.setattr(Watcher, "watch", late)
    engine, stop, captured = lab.engine(sweep_seconds=600), threading.Event(), threading.Event()
    engine.listen(lambda _: captured.set())
    thread = threading.Thread(target=engine.run, args=(stop,))
    thread.start()
    try:
        assert captured.wait(10)
    finally:
        stop.set()
        thread.join(10)
    assert lab.texts() == ["text 1"]


def test_only_new_watches_ask_for_another_look(tmp_path: Path) -> None:
    made = watcher([], threading.Event())
    made.start()
    try:
        assert made.watch({str(tmp_path): True})
        assert not made.watch({str(tmp_path): True})
    finally:
        made.stop()


def test_overflow_of_the_queue_asks_for_a_sweep() -> None:
    swept = threading.Event()
    made = Watcher(lambda path: None, swept.set)
    made.start()
    try:
        logging.getLogger("watchdog.observers").warning("Inotify queue overflowed")
        assert swept.is_set()
    finally:
        made.stop()
    swept.clear()
    logging.getLogger("watchdog.observers").warning("Inotify queue overflowed")
    assert not swept.is_set()
