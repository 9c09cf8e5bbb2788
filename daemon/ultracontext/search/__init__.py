"""Full text over captured sessions: an index beside the store, derived from it, rebuildable."""

from ultracontext.search.fill import Filler
from ultracontext.search.index import Index, IndexState
from ultracontext.search.query import Asked, Hit, find

__all__ = ["Asked", "Filler", "Hit", "Index", "IndexState", "find"]
