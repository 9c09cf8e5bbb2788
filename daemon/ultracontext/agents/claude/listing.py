"""Whether `claude --resume` lists a session, and when Claude Code deletes its file.

The picker of 2.1.332 (runs of 2026-11) looks into the folder of the project's slug, leaves out
files whose name is no UUID, and sessions of an SDK (`entrypoint` begins with `sdk-`). Files that
nobody wrote to for `cleanupPeriodDays` (settings.json; 30 when not set) are deleted at a start.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from ultracontext.agents.claude.layout import SUFFIX, UUID, slug
from ultracontext.formats import Listing, ListingFacts, Lookup, SourceFacts

SETTINGS = "settings"
KEPT_DAYS = 30
MOST_DAYS = 36_500
_MASK = "["
"""A folder with a mask in its name cannot be turned into a slug."""


def lookups(source: SourceFacts, path: PurePosixPath) -> Sequence[Lookup]:
    """The settings that say how long files are kept."""
    del source, path
    return (Lookup(name=SETTINGS, path="settings.json"),)


def listing(asked: ListingFacts) -> Listing:
    """The answer for one session whose file is there."""
    days = _days(asked.found.get(SETTINGS))
    return Listing(hidden=_hidden(asked), expires_at=_after(asked.modified_at, days))


def _hidden(asked: ListingFacts) -> str | None:
    if asked.source.role == "subagent":
        return None
    if not UUID.fullmatch(asked.path.name.removesuffix(SUFFIX)):
        return "the name of its file is no UUID"
    if asked.facts.traits.get("entrypoint", "").startswith("sdk-"):
        return "it was made by an SDK or without a terminal, which the picker leaves out"
    project = asked.facts.project_path
    if project is not None and _MASK not in project and asked.path.parts[1] not in _slugs(project):
        return "its file lies in the folder of another project"
    return None


def _slugs(project: str) -> tuple[str, ...]:
    """2.1 cuts long ones, 2.0 and 1.0 do not."""
    whole = slug(project)
    uncut = "".join(c if c.isascii() and c.isalnum() else "-" for c in project)
    return (whole, uncut)


def _days(text: Any) -> int:
    try:
        days = json.loads(text)["cleanupPeriodDays"]
    except (TypeError, ValueError, KeyError, RecursionError):
        return KEPT_DAYS
    return days if type(days) is int and 0 <= days <= MOST_DAYS else KEPT_DAYS


def _after(since: datetime, days: int) -> datetime:
    try:
        return since + timedelta(days=days)
    except OverflowError:
        return since
