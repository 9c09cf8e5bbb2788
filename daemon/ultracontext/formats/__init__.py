"""The contract that an agent's folder signs."""

from ultracontext.formats.activity import ENDED, TURN, Activity, OpenCall
from ultracontext.formats.changes import MOST_FILES, Changes, patched
from ultracontext.formats.listing import Listing, ListingFacts, Lookup
from ultracontext.formats.spec import (
    AgentSpec,
    Assigner,
    Assignment,
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
    "ENDED",
    "MOST_FILES",
    "TURN",
    "Activity",
    "AgentSpec",
    "Assigner",
    "Assignment",
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
    "OpenCall",
    "Query",
    "SessionReader",
    "SourceFacts",
    "patched",
]
