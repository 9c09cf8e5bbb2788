"""The store that a command edits or serves: a file, PostgreSQL or a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ultracontext import __version__, logs
from ultracontext.errors import StoreError, WriteRefusedError
from ultracontext.settings import Settings

if TYPE_CHECKING:
    from ultracontext.cli.workspace import Workspace
    from ultracontext.store import SpaceStore, Store

SERVERS = ("http://", "https://")
MISSING = ("store-missing", "store-older")


def chosen(place: Workspace, store: str | None) -> str | Path:
    """URL or file of the store that reading and editing commands use."""
    return store or place.settings.reading_store() or place.paths.store_file


def is_here(place: Workspace, store: str | None) -> bool:
    """Whether that is the store of this machine's sessions, which has an index and a ledger."""
    url = str(chosen(place, store))
    return Path(url.removeprefix("sqlite://")) == place.paths.store_file


def served(place: Workspace, settings: Settings, store: str | None) -> str | Path:
    """The same for `serve` and `keys`, which are about a store, never about a server."""
    from ultracontext.cli.group import UsageError

    url = store or settings.store.url or place.paths.store_file
    if str(url).startswith(SERVERS):
        raise UsageError(
            "a server is no store to serve", hint="Name sqlite:///path or postgresql://…"
        )
    return url


def open_for_writing(place: Workspace, url: str | Path) -> Store:
    """Opens a store, and makes it first or brings it up to date where nobody else does.

    The local store's schema belongs to the holder of the daemon lock; it is taken for the moment.
    """
    from ultracontext.store import open_store

    logs.adopt_if_loaded()
    if str(url).startswith(SERVERS):
        from ultracontext.store import open_http

        return open_http(str(url), place.settings.api_key)
    if "://" in str(url) and not str(url).startswith("sqlite"):
        return open_store(url, migrate=True)
    try:
        return open_store(url)
    except StoreError as error:
        if error.code not in MISSING:
            raise
        return _made(place, url)


def _made(place: Workspace, url: str | Path) -> Store:
    from ultracontext.runtime.lock import DaemonLock, holding
    from ultracontext.store import open_store

    place.paths.ensure()
    try:
        with holding(DaemonLock(place.paths.lock_file), version=__version__, socket="", once=True):
            return open_store(url, migrate=True)
    except WriteRefusedError:  # the daemon is at it
        return open_store(url)


def space_of(url: str | Path) -> str:
    """The space that a store URL means; a server's is that of the key."""
    from ultracontext.store import LOCAL_SPACE
    from ultracontext.store.opening import space_in

    return LOCAL_SPACE if str(url).startswith(SERVERS) else space_in(url)


@contextmanager
def editing(place: Workspace, store: str | None) -> Iterator[SpaceStore]:
    """The space that editing commands work on."""
    url = chosen(place, store)
    opened = open_for_writing(place, url)
    try:
        yield opened.within(space_of(url))
    finally:
        opened.close()
