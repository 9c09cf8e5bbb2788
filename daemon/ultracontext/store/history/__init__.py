"""Contexts with history over the rows of any backend."""

from ultracontext.store.history.rows import (
    Content,
    ContextFilter,
    Head,
    Key,
    Made,
    Root,
    Row,
    Rows,
)
from ultracontext.store.history.space import History

__all__ = ["Content", "ContextFilter", "Head", "History", "Key", "Made", "Root", "Row", "Rows"]
