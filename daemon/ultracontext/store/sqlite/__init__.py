"""The embedded store. Importable from `ultracontext.store` only."""

from ultracontext.store.sqlite.store import SqliteSpaceStore, SqliteStore, open_sqlite

__all__ = ["SqliteSpaceStore", "SqliteStore", "open_sqlite"]
