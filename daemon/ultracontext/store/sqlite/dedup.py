"""The event ids that were seen: the dedup table, and the nodes for what it does not know."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from ultracontext.model import EventId
from ultracontext.store.base import KnownEvent

CHUNK = 500
PURGE_ROWS = 5000

DEDUP = "SELECT event_id, digest, source FROM dedup WHERE space = ? AND event_id IN ({})"
NODES = "SELECT event_id, digest, source FROM nodes WHERE space = ? AND event_id IN ({})"
ANY = (
    "SELECT EXISTS (SELECT 1 FROM dedup WHERE space = ?1 AND event_id BETWEEN ?2 AND ?3)"
    " OR EXISTS (SELECT 1 FROM nodes WHERE space = ?1 AND event_id BETWEEN ?2 AND ?3)"
)
_SIZES = (1, 8, 64, CHUNK)
_QUERIES = {
    (table, size): table.format(",".join("?" * size)) for table in (DEDUP, NODES) for size in _SIZES
}


def look_up(
    connection: sqlite3.Connection, space: str, table: str, ids: Sequence[EventId]
) -> dict[EventId, KnownEvent]:
    """Which of the ids the table holds; one statement for each 500."""
    found: dict[EventId, KnownEvent] = {}
    for chunk in _chunks(ids):
        for event_id, digest, source in connection.execute(
            _QUERIES[table, len(chunk)], (space, *chunk)
        ):
            found[EventId(event_id)] = KnownEvent(digest or b"", source)
    return found


def known(
    connection: sqlite3.Connection, space: str, ids: Sequence[EventId]
) -> tuple[dict[EventId, KnownEvent], int]:
    """(known events, how many of them the dedup table knew)."""
    found = look_up(connection, space, DEDUP, ids)
    hits = len(found)
    if hits < len(ids):
        found |= look_up(connection, space, NODES, [i for i in ids if i not in found])
    return found, hits


def knows_any(connection: sqlite3.Connection, space: str, head: bytes) -> bool:
    """Whether either table holds an id that begins with these bytes."""
    found = connection.execute(ANY, (space, head, head + b"\xff" * 16)).fetchone()
    return bool(found[0])


def _chunks(ids: Sequence[EventId]) -> Iterator[Sequence[EventId]]:
    """Sorted, so that neighbours share pages; padded, so that few statements are prepared."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), CHUNK):
        chunk = ordered[start : start + CHUNK]
        size = next(size for size in _SIZES if size >= len(chunk))
        yield chunk + [chunk[-1]] * (size - len(chunk))


def purge_some(
    connection: sqlite3.Connection, space: str, after: bytes, before_s: int
) -> tuple[bytes | None, int]:
    """Deletes the expired among the next rows by id; (where to go on or None, rows deleted)."""
    last = connection.execute(
        "SELECT event_id FROM dedup WHERE space = ? AND event_id > ? ORDER BY event_id"
        " LIMIT 1 OFFSET ?",
        (space, after, PURGE_ROWS - 1),
    ).fetchone()
    until = last[0] if last else b"\xff" * 17
    deleted = connection.execute(
        "DELETE FROM dedup WHERE space = ? AND event_id > ? AND event_id <= ? AND stored_s < ?",
        (space, after, until, before_s),
    ).rowcount
    return (until if last else None), deleted


def rows(
    connection: sqlite3.Connection, space: str, *, counted: int, exact_up_to: int = 200_000
) -> int:
    """Rows of the table: counted where that is quick, else what the running count says."""
    exact = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM dedup WHERE space = ? LIMIT ?)", (space, exact_up_to)
    ).fetchone()[0]
    return int(exact) if exact < exact_up_to else max(counted, exact_up_to)
