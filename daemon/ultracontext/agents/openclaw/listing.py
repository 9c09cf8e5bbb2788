"""Whether OpenClaw lists a session, and when it prunes it (FORMAT.md sections 1, 2, 5 and 8).

2026.7 knows a session by its entry in `sessions.json`; entries whose `updatedAt` is older than 30
days are pruned and their files archived. 2026.9 knows it by `session_windows` and `session_nodes`,
where a key goes on with one session at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import Any

from ultracontext.agents.openclaw.values import from_json, mapping
from ultracontext.formats import Listing, ListingFacts, Lookup, SourceFacts

INDEX, NODE, EVENTS = "index", "node", "events"
KEPT = timedelta(days=30)
_REASONS = {
    "reset": "a reset archived it",
    "deleted": "it was deleted or pruned, and its file archived",
    "bak": "it is an archived copy",
    "imported": "it was imported into a database, and its file archived",
}
_NODE = """
SELECT n.archived_at IS NOT NULL, n.current_session_id = :session_id
FROM session_windows w JOIN session_nodes n ON n.session_key = w.session_key
WHERE w.session_id = :session_id
"""
_EVENTS = "SELECT 1 FROM transcript_events WHERE session_id = :session_id LIMIT 1"


def lookups(source: SourceFacts, path: PurePosixPath) -> Sequence[Lookup]:
    if source.role == "database":
        return (
            Lookup(name=NODE, path=str(path), sql=_NODE),
            Lookup(name=EVENTS, path=str(path), sql=_EVENTS),
        )
    if source.role == "session":
        return (Lookup(name=INDEX, path=str(path.with_name("sessions.json"))),)
    return ()


def listing(asked: ListingFacts) -> Listing:
    if asked.source.role == "database":
        gone = asked.found.get(EVENTS) == []
        return Listing(gone=gone, hidden=None if gone else _in_database(asked.found.get(NODE)))
    if asked.source.role != "session":
        return Listing(hidden=_REASONS.get(asked.source.role, "its file is archived"))
    return _in_index(asked)


def _in_database(rows: Any) -> str | None:
    if rows is None:
        return None
    if not rows:
        return "no session key of OpenClaw names it"
    archived, current = rows[0]
    if archived:
        return "OpenClaw holds it as archived"
    return None if current else "its key goes on with a newer session"


def _in_index(asked: ListingFacts) -> Listing:
    index = from_json(asked.found.get(INDEX))
    entries = [mapping(value) for value in mapping(index).values()]
    entry = next((e for e in entries if e.get("sessionId") == asked.session_id), None)
    if entry is None:
        return Listing(hidden="sessions.json has no entry for it")
    updated = entry.get("updatedAt")
    if type(updated) is not int or not 0 < updated < 1 << 47:
        return Listing()
    return Listing(expires_at=datetime.fromtimestamp(updated / 1000, UTC) + KEPT)
