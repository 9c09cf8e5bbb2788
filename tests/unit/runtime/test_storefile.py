"""Whether the store's file is still the one that was opened."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ultracontext.runtime.storefile import GONE, REPLACED, StoreFile


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    path.write_bytes(b"store")
    path.with_name("store.db-wal").write_bytes(b"log")
    path.with_name("store.db-shm").write_bytes(b"index of the log")
    return path


def names(store: Path) -> list[str]:
    return sorted(path.name for path in store.parent.iterdir())


def test_the_same_file_is_no_change(store: Path) -> None:
    held = StoreFile(store)
    store.write_bytes(b"other content")
    assert held.change() is None


def test_a_removed_file_is_gone_and_its_log_goes_too(store: Path) -> None:
    held = StoreFile(store)
    store.unlink()
    assert held.change() == GONE
    held.clear_leftovers()
    assert names(store) == []


def test_a_folder_that_is_gone_takes_the_file_along(store: Path) -> None:
    held = StoreFile(store)
    shutil.rmtree(store.parent)
    assert held.change() == GONE
    held.clear_leftovers()


def test_another_file_keeps_the_log_that_came_with_it(store: Path, tmp_path: Path) -> None:
    held = StoreFile(store)
    for suffix in ("", "-wal"):
        other = tmp_path / f"other{suffix}"
        other.write_bytes(b"other")
        other.replace(tmp_path / f"store.db{suffix}")
    assert held.change() == REPLACED
    held.clear_leftovers()
    assert "store.db-wal" in names(store)


def test_a_log_that_was_made_later_is_known(store: Path, tmp_path: Path) -> None:
    log = store.with_name("store.db-wal")
    log.unlink()
    held = StoreFile(store)
    log.write_bytes(b"made by the first commit")
    assert held.change() is None
    (tmp_path / "other").write_bytes(b"other")
    (tmp_path / "other").replace(store)
    assert held.change() == REPLACED
    held.clear_leftovers()
    assert names(store) == ["store.db"]
