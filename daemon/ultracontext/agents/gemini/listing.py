"""Whether Gemini CLI lists a session, and when it deletes it (FORMAT.md sections 4 and 5).

Listed: `chats/session-*` with something that a resume would send. Since 0.39 the CLI deletes, at
every start, sessions whose `lastUpdated` is older than `general.sessionRetention.maxAge` (30 days
when not set; `enabled: false` keeps all), and at once those with nothing to resume.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from ultracontext.agents.gemini.values import mapping
from ultracontext.formats import Listing, ListingFacts, Lookup, SourceFacts

SETTINGS = "settings"
KEPT = timedelta(days=30)
_AGE = re.compile(r"(\d{1,5})([hdwm])")
_HOURS = {"h": 1, "d": 24, "w": 24 * 7, "m": 24 * 30}


def lookups(source: SourceFacts, path: PurePosixPath) -> Sequence[Lookup]:
    del source, path
    return (Lookup(name=SETTINGS, path="settings.json"),)


def listing(asked: ListingFacts) -> Listing:
    if asked.source.role != "session":
        return Listing()
    hidden = _hidden(asked)
    if not asked.path.name.startswith("session-"):
        return Listing(hidden=hidden)
    return Listing(hidden=hidden, expires_at=_expiry(asked))


def _hidden(asked: ListingFacts) -> str | None:
    if "spare" in asked.source.extra:
        return "the CLI could not read it and set it aside"
    if not asked.path.name.startswith("session-"):
        return "the name of its file does not begin with session-"
    if asked.facts.relation != "subagent" and "sent" not in asked.facts.traits:
        return "it holds nothing that a resume would send"
    return None


def _expiry(asked: ListingFacts) -> datetime | None:
    kept = _kept(asked.found.get(SETTINGS))
    try:
        return None if kept is None else _since(asked) + kept
    except OverflowError:
        return None


def _since(asked: ListingFacts) -> datetime:
    try:
        updated = datetime.fromisoformat(asked.facts.updated_at or "")
    except ValueError:
        return asked.modified_at
    return updated if updated.tzinfo is not None else asked.modified_at


def _kept(text: Any) -> timedelta | None:
    """How long sessions are kept; None: for ever."""
    try:
        settings = json.loads(text) if text is not None else {}
    except (TypeError, ValueError, RecursionError):
        settings = {}
    retention = mapping(mapping(mapping(settings).get("general")).get("sessionRetention"))
    if retention.get("enabled") is False:
        return None
    age = retention.get("maxAge")
    found = _AGE.fullmatch(age) if type(age) is str else None
    return KEPT if found is None else timedelta(hours=int(found[1]) * _HOURS[found[2]])
