"""From a store URL to a store."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import parse_qs, unquote, urlsplit

from ultracontext.errors import SettingsError
from ultracontext.paths import Paths
from ultracontext.store.base import LOCAL_SPACE, Store

Mode = Literal["rw", "ro"]

LATER = {"http": "HTTP", "https": "HTTP"}
POSTGRES = ("postgresql", "postgres")
DEFAULT_SPACE = "default"
"""Of a URL of a server that names none."""


def open_store(url: str | Path, *, mode: Mode = "rw", migrate: bool = False) -> Store:
    """Opens the store that a URL (`sqlite:///path`, `memory://`) or a path names.

    `migrate` makes the store, or brings its schema up to date, first; only the holder of the daemon
    lock may ask for it. Raises SettingsError for a URL that names no store, StoreError where it
    cannot be opened: `store-missing`, `store-older`, `store-newer`, `store-foreign`, `store-open` …
    """
    scheme, path = parse_store_url(url)
    if scheme == "postgresql":
        return _open_postgres(str(url), migrate=migrate)
    if scheme == "memory":
        from ultracontext.store.memory import MemoryStore

        return MemoryStore()
    from ultracontext.store.sqlite import open_sqlite

    return open_sqlite(path, write=mode == "rw", migrate=migrate)


def _open_postgres(url: str, *, migrate: bool) -> Store:
    try:
        from ultracontext.store.postgres import open_postgres
    except ImportError as error:
        raise SettingsError(
            "a PostgreSQL store needs psycopg",
            hint="Install it: pip install 'ultracontext-daemon[postgres]'",
        ) from error
    return open_postgres(url, migrate=migrate)


def space_in(url: str | Path) -> str:
    """The space that a store URL means: that of this machine, or of a server what `?space=`
    says."""
    if isinstance(url, Path) or parse_store_url(url)[0] != "postgresql":
        return LOCAL_SPACE
    named = parse_qs(urlsplit(url).query).get("space", [DEFAULT_SPACE])
    return named[-1]


def open_local(paths: Paths, *, mode: Mode = "ro", migrate: bool = False) -> Store:
    """The store that this machine captures into."""
    return open_store(paths.store_file, mode=mode, migrate=migrate)


def parse_store_url(url: str | Path) -> tuple[str, Path]:
    """(`sqlite`, `memory` or `postgresql`, file).

    `sqlite:///tmp/a.db` and `sqlite:////tmp/a.db` are one file."""
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
    if parts.scheme in POSTGRES:
        return "postgresql", Path()
    if parts.scheme != "sqlite":
        raise SettingsError(f"{parts.scheme}:// names no store", hint="Use sqlite:///path")
    if parts.netloc or parts.query or parts.fragment or not parts.path.strip("/"):
        raise SettingsError(
            "a sqlite URL is sqlite:///path and nothing else", hint="Use sqlite:///path"
        )
    return "sqlite", Path("/" + unquote(parts.path).lstrip("/"))
