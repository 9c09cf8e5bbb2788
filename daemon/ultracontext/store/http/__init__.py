"""Contexts of a server of ours. Importable from `ultracontext.store` only."""

from ultracontext.store.http.store import HttpStore, open_http

__all__ = ["HttpStore", "open_http"]
