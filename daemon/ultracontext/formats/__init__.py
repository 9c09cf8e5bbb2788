"""The contract that an agent's folder signs."""

from ultracontext.formats.changes import MOST_FILES, Changes, patched
from ultracontext.formats.listing import Listing, ListingFacts, Lookup
from ultracontext.formats.spec import (
    AgentSpec,
    Assigner,
    Assignment,
    Beginning,
    Demo,
    DemoPlace,
    DocumentShape,
    Engine,
    LiveReader,
    Need,
    Query,
    SessionReader,
    SourceFacts,
)

__all__ = [
    "MOST_FILES",
    "AgentSpec",
    "Assigner",
    "Assignment",
    "Beginning",
    "Changes",
    "Demo",
    "DemoPlace",
    "DocumentShape",
    "Engine",
    "Listing",
    "ListingFacts",
    "LiveReader",
    "Lookup",
    "Need",
    "Query",
    "SessionReader",
    "SourceFacts",
    "patched",
]
