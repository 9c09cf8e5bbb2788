"""Where nodes live. Backends are reached only through here."""

from ultracontext.store.base import (
    LOCAL_SPACE,
    CaptureBatch,
    Checkpoint,
    ContextRow,
    DedupStatus,
    Event,
    FactsUpdate,
    KnownEvent,
    MarkRow,
    SpaceStore,
    Store,
    StoredNode,
)
from ultracontext.store.opening import open_local, open_store, parse_store_url

__all__ = [
    "LOCAL_SPACE",
    "CaptureBatch",
    "Checkpoint",
    "ContextRow",
    "DedupStatus",
    "Event",
    "FactsUpdate",
    "KnownEvent",
    "MarkRow",
    "SpaceStore",
    "Store",
    "StoredNode",
    "open_local",
    "open_store",
    "parse_store_url",
]
