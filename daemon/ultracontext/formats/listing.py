"""Whether an agent still lists a session, and when it will delete it: questions and answers.

Pure like all of an agent's folder: `AgentSpec.lookups` names the small parts of the agent's own
index and settings that decide, capture reads them, `AgentSpec.listing` judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from ultracontext.model import SessionFacts

if TYPE_CHECKING:
    from ultracontext.formats.spec import SourceFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """One file, or one query to a database, inside the agent's root."""

    name: str
    """Key in `ListingFacts.found`."""
    path: str
    """Relative to the root. With `*`, for a writer only: the answer is {path: text} of all that
    match."""
    sql: str | None = None
    """Binds `:session_id`; None = the file's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListingFacts:
    """What is known of a session whose source exists."""

    session_id: str
    facts: SessionFacts
    source: SourceFacts
    path: PurePosixPath
    """Of the source, relative to its root."""
    modified_at: datetime
    found: Mapping[str, Any] = field(default_factory=dict)
    """Answers by name: a file's text, a list of rows, None where there is no such file, table or
    column."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The agent's own view of a session."""

    hidden: str | None = None
    """Why the agent does not list it, one clause; None = it does."""
    gone: bool = False
    """The source is there, but no longer holds the session."""
    expires_at: datetime | None = None
    """When the agent will delete it, as things stand."""


Lookups = Callable[["SourceFacts", PurePosixPath], Sequence[Lookup]]
Judge = Callable[[ListingFacts], Listing]
