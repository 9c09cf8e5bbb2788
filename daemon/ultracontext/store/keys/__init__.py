"""API keys: who may do what in which space."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ultracontext.store.keys.base import RESERVED_SPACES, ROLES, Key, Keys, Role
from ultracontext.store.keys.issuing import Issued, issue, issue_in_new_space
from ultracontext.store.keys.memory import MemoryKeys
from ultracontext.store.keys.tokens import digest_of, prefix_of, same

if TYPE_CHECKING:
    from pathlib import Path

    from ultracontext.store.base import Store

_of_memory: WeakKeyDictionary[Store, MemoryKeys] = WeakKeyDictionary()


def open_keys(store: Store, url: str | Path) -> Keys:
    """The keys of an open store and its URL."""
    from ultracontext.store.opening import parse_store_url

    if str(url).startswith(("postgresql://", "postgres://")):
        from ultracontext.store.keys.postgres import PostgresKeys
        from ultracontext.store.postgres.connection import parsed

        return PostgresKeys(parsed(str(url))[0])
    scheme, path = parse_store_url(url)
    if scheme == "memory":
        return _of_memory.setdefault(store, MemoryKeys())
    from ultracontext.store.keys.file import FileKeys, keys_file

    return FileKeys(keys_file(path))


__all__ = [
    "RESERVED_SPACES",
    "ROLES",
    "Issued",
    "Key",
    "Keys",
    "Role",
    "digest_of",
    "issue",
    "issue_in_new_space",
    "open_keys",
    "prefix_of",
    "same",
]
