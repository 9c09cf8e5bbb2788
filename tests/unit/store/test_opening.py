"""URLs, modes and versions of the file."""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

import pytest

from ultracontext.errors import SettingsError, StoreError
from ultracontext.store import open_store
from ultracontext.store.opening import parse_store_url, space_in
from ultracontext.store.postgres.connection import parsed
from ultracontext.store.sqlite import schema


@pytest.mark.parametrize(
    "url", ["sqlite:///tmp/a.db", "sqlite:////tmp/a.db", "/tmp/a.db", Path("/tmp/a.db")]
)
def test_ways_to_name_a_file(url: str | Path) -> None:
    assert parse_store_url(url) == ("sqlite", Path("/tmp/a.db"))


def test_url_with_escapes() -> None:
    assert parse_store_url("sqlite:///tmp/a%20b/%C3%BC.db")[1] == Path("/tmp/a b/ü.db")


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("postgresql://h/db?isolation=none", "isolation=none is unknown"),
        ("https://h", "not available yet"),
        ("mysql://h/db", "names no store"),
        ("sqlite://host/a.db", "nothing else"),
        ("sqlite:///a.db?mode=memory", "nothing else"),
        ("sqlite:///", "nothing else"),
    ],
)
def test_urls_that_name_no_store(url: str, text: str) -> None:
    with pytest.raises(SettingsError, match=text) as caught:
        open_store(url)
    assert caught.value.hint


def test_new_store_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        store = open_store(tmp_path / "home" / "store.db", migrate=True)
        store.within("local").note("a", 1)
    finally:
        os.umask(before)
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in (tmp_path / "home").iterdir()}
    store.close()
    assert set(modes) == {"store.db", "store.db-wal", "store.db-shm"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


def test_mode_of_an_open_file_is_closed(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    open_store(file, migrate=True).close()
    file.chmod(0o644)
    open_store(file, migrate=True).close()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_only_migrate_makes_a_store(tmp_path: Path) -> None:
    for mode in ("ro", "rw"):
        with pytest.raises(StoreError) as caught:
            open_store(tmp_path / "none.db", mode=mode)
        assert caught.value.code == "store-missing"
    assert list(tmp_path.iterdir()) == []


def test_empty_file_is_a_store_that_is_missing(tmp_path: Path) -> None:
    (tmp_path / "a.db").touch()
    with pytest.raises(StoreError) as caught:
        open_store(tmp_path / "a.db")
    assert caught.value.code == "store-missing"


def versioned(file: Path, version: int) -> Path:
    open_store(file, migrate=True).close()
    connection = sqlite3.connect(file)
    connection.execute(f"PRAGMA user_version={version}")
    connection.close()
    return file


def test_newer_minor_version_is_read_and_written(tmp_path: Path) -> None:
    file = versioned(tmp_path / "store.db", schema.VERSION + 1)
    store = open_store(file, migrate=True)
    store.within("local").note("a", 1)
    assert store.within("local").noted("a") == 1
    store.close()
    connection = sqlite3.connect(file)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION + 1
    connection.close()


@pytest.mark.parametrize("migrate", [True, False])
def test_newer_major_version_is_refused_in_words(tmp_path: Path, migrate: bool) -> None:
    file = versioned(tmp_path / "store.db", schema.VERSION + 1000)
    with pytest.raises(StoreError, match="newer UltraContext") as caught:
        open_store(file, migrate=migrate)
    assert (caught.value.code, bool(caught.value.hint)) == ("store-newer", True)


def test_older_minor_version_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = versioned(tmp_path / "store.db", schema.VERSION)
    more = (*schema.MIGRATIONS, (schema.VERSION + 1, "CREATE TABLE more (space TEXT);\n"))
    monkeypatch.setattr(schema, "MIGRATIONS", more)
    open_store(file, mode="ro").close()
    open_store(file, migrate=True).close()
    connection = sqlite3.connect(file)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION + 1
    connection.close()


def test_failed_migration_leaves_the_store_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = versioned(tmp_path / "store.db", schema.VERSION)
    broken = "CREATE TABLE more (space TEXT);\nCREATE TABLE more (space TEXT);\n"
    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, (schema.VERSION + 1, broken)))
    with pytest.raises(StoreError):
        open_store(file, migrate=True)
    connection = sqlite3.connect(file)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == schema.VERSION
    assert connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE name = 'more'"
    ).fetchone() == (0,)
    connection.close()


def test_database_of_another_program_is_refused_untouched(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE theirs (a)")
    connection.close()
    before = file.read_bytes()
    with pytest.raises(StoreError) as caught:
        open_store(file, migrate=True)
    assert caught.value.code == "store-foreign"
    assert file.read_bytes() == before


def test_file_that_is_no_database(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    file.write_bytes(b"hello, this is text, and long enough to be looked at" * 100)
    with pytest.raises(StoreError) as caught:
        open_store(file)
    assert caught.value.code == "store-corrupt"


def test_store_opened_for_reading_refuses_writes(tmp_path: Path) -> None:
    open_store(tmp_path / "a.db", migrate=True).close()
    store = open_store(tmp_path / "a.db", mode="ro")
    with pytest.raises(StoreError) as caught:
        store.within("local").note("a", 1)
    assert caught.value.code == "store-readonly"
    store.close()


@pytest.mark.parametrize(
    ("url", "space"),
    [
        ("postgresql://h/db", "default"),
        ("postgres://h/db?sslmode=require&space=a%20b", "a b"),
        ("sqlite:///tmp/a.db", "local"),
        ("memory://", "local"),
        (Path("a.db"), "local"),
    ],
)
def test_space_of_a_url(url: str | Path, space: str) -> None:
    assert space_in(url) == space


def test_url_goes_to_the_server_without_what_is_ours() -> None:
    conninfo, level = parsed("postgres:///db?host=/run&space=x&isolation=serializable")
    assert conninfo == "postgresql:///db?host=%2Frun"
    assert level.name == "SERIALIZABLE"


def test_server_that_cannot_be_reached_is_named_without_its_password() -> None:
    with pytest.raises(StoreError) as caught:
        open_store("postgresql://me:hidden@127.0.0.1:1/db")
    assert caught.value.code == "store-unreachable"
    assert "hidden" not in str(caught.value)
