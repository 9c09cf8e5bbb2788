"""The slow look through a whole file."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from ultracontext.errors import StoreError
from ultracontext.store import open_store
from ultracontext.store.sqlite import soundness
from ultracontext.store.sqlite.soundness import Soundness

PAGE = 4096


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A store with rows in it, all in the file."""
    path = tmp_path / "store.db"
    open_store(path, migrate=True).close()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE filler (name TEXT, body TEXT)")
        rows = ((f"name {n}", "x" * 700) for n in range(500))
        connection.executemany("INSERT INTO filler VALUES (?, ?)", rows)
        connection.execute("CREATE INDEX filler_names ON filler (name)")
    connection.close()
    return path


def spoil(path: Path, kind: int) -> None:
    """A page of one kind (0x0d rows, 0x0a index entries) of the table above."""
    data = path.read_bytes()
    pages = [n for n in range(PAGE, len(data), PAGE) if data[n] == kind]
    place = next(n for n in pages if b"name 4" in data[n : n + PAGE])
    with path.open("r+b") as file:
        file.seek(place)
        file.write(bytes([kind]) + b"\xff" * 300)


def test_a_sound_store_is_sound(store: Path) -> None:
    assert Soundness(store, lambda: False).sound() is True


@pytest.mark.parametrize("kind", [0x0D, 0x0A])
def test_a_spoilt_page_is_found(kind: int, store: Path) -> None:
    spoil(store, kind)
    assert Soundness(store, lambda: False).sound() is False
    opened = open_store(store)
    try:
        assert not opened.damaged
        assert opened.sound(lambda: False) is False
        assert opened.damaged
    finally:
        opened.close()


def test_a_file_that_is_no_database_is_damaged(store: Path) -> None:
    store.write_bytes(b"something else " * 1000)
    assert Soundness(store, lambda: False).sound() is False


def test_it_ends_when_told_to_and_knows_nothing(store: Path) -> None:
    asked = iter([False, False, True])
    assert Soundness(store, lambda: next(asked, True), share=0.99, steps=10).sound() is None


def test_it_gives_way_to_a_log_that_waits_for_it(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soundness, "LOG_BYTES", 0)
    grown = threading.Event()
    writer = sqlite3.connect(store, check_same_thread=False)

    def grow() -> bool:
        if not grown.is_set():
            grown.set()
            writer.execute("INSERT INTO filler VALUES ('new', ?)", ("y" * 100_000,))
            writer.commit()
        return False

    assert Soundness(store, grow, share=0.99, steps=10).sound() is None
    writer.close()


def test_it_takes_its_share_only(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    assert Soundness(store, lambda: False, share=0.1, steps=100).sound() is True
    assert len(slept) > 3
    assert all(0 <= seconds <= 1.0 for seconds in slept)
    assert sum(slept) > 0


def test_a_missing_file_is_no_damage(tmp_path: Path) -> None:
    with pytest.raises(StoreError) as caught:
        Soundness(tmp_path / "store.db", lambda: False).sound()
    assert caught.value.code == "store-open"


def test_a_statement_that_meets_damage_is_remembered(store: Path) -> None:
    opened = open_store(store)
    try:
        store_file = store.read_bytes()
        assert not opened.damaged
        store.write_bytes(b"no store" * (len(store_file) // 8))
        with pytest.raises(StoreError) as caught:
            opened.within("local").dedup_status()
        assert caught.value.code == "store-corrupt"
        assert opened.damaged
    finally:
        opened.close()
