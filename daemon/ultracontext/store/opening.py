"""From a store URL to a store."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import unquote, urlsplit

from ultracontext.errors import SettingsError
from ultracontext.paths import Paths
from ultracontext.store.base import Store

Mode = Literal["rw", "ro"]

LATER = {"postgresql": "PostgreSQL", "postgres": "PostgreSQL", "http": "HTTP", "https": "HTTP"}


def open_store(url: str | Path, *, mode: Mode = "rw", migrate: bool = False) -> Store:
    """Opens the store that a URL (`sqlite:///path`, `memory://`) or a path names.

    `migrate` makes the store, or brings its schema up to date, first; only the holder of the daemon
    lock may ask for it. Raises SettingsError for a URL that names no store, StoreError where it
    cannot be opened: `store-missing`, `store-older`, `store-newer`, `store-foreign`, `store-open` …
    """
    scheme, path = parse_store_url(url)
    if scheme == "memory":
        from ultracontext.store.memory import MemoryStore

        return MemoryStore()
    from ultracontext.store.sqlite import open_sqlite

    return open_sqlite(path, write=mode == "rw", migrate=migrate)


def open_local(paths: Paths, *, mode: Mode = "ro", migrate: bool = False) -> Store:
    """The store that this machine captures into."""
    return open_store(paths.store_file, mode=mode, migrate=migrate)


def parse_store_url(url: str | Path) -> tuple[str, Path]:
    """(`sqlite` or `memory`, file). `sqlite:///tmp/a.db` and `sqlite:////tmp/a.db` are one file."""
    if isinstance(url, Path):
        return "sqlite", url
    if "://" not in url:
        return "sqlite", Path(url).expanduser()
    parts = urlsplit(url)
    if parts.scheme in LATER:
        raise SettingsError(
            f"a {LATER[parts.scheme]} store is not available yet", hint="Use sqlite:///path"
        )
    if parts.scheme == "memory":
        return "memory", Path()
    if parts.scheme != "sqlite":
        raise SettingsError(f"{parts.scheme}:// names no store", hint="Use sqlite:///path")
    if parts.netloc or parts.query or parts.fragment or not parts.path.strip("/"):
        raise SettingsError(
            "a sqlite URL is sqlite:///path and nothing else", hint="Use sqlite:///path"
        )
    return "sqlite", Path("/" + unquote(parts.path).lstrip("/"))
