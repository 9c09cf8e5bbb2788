"""The contract that an agent's folder signs."""

from ultracontext.formats.spec import (
    AgentSpec,
    Assigner,
    Assignment,
    DocumentShape,
    Engine,
    Need,
    Query,
    SessionReader,
    SourceFacts,
)

__all__ = [
    "AgentSpec",
    "Assigner",
    "Assignment",
    "DocumentShape",
    "Engine",
    "Need",
    "Query",
    "SessionReader",
    "SourceFacts",
]
