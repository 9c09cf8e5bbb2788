"""What a wipe does to the tables: forks inherit bodies, the rest is gone, a tombstone stays."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

from ultracontext.model import captured_context_id
from ultracontext.store.base import AGAIN, REFUSED, CaptureBatch
from ultracontext.store.contexts import Tombstone
from ultracontext.store.history import Root
from ultracontext.store.sqlite import sources
from ultracontext.store.sqlite.blocks import BlockReader, BlockWriter
from ultracontext.store.values import dump, load, load_as

if TYPE_CHECKING:
    from ultracontext.store.sqlite.rows import SqliteRows

INHERITED = (
    "SELECT n.position, n.born, n.revision, n.block, n.place, n.size FROM nodes n"
    " WHERE n.space = :space AND n.context = :heir AND n.block IN"
    " (SELECT block FROM blocks WHERE space = :space AND context = :ref)"
    " ORDER BY n.position, n.born, n.revision"
)
MOVE = (
    "UPDATE nodes SET block = ?, place = ? WHERE space = ? AND context = ? AND position = ?"
    " AND born = ? AND revision = ?"
)
BLANK = (
    "UPDATE blocks SET data = zeroblob(length(data)) WHERE space = :space AND context = :ref",
    (
        "UPDATE parts SET data = zeroblob(length(data)) WHERE space = :space AND digest IN"
        " (SELECT digest FROM gone_parts)"
    ),
    (
        "UPDATE contexts SET facts = zeroblob(length(facts)), metadata = NULL, project_path = NULL"
        " WHERE space = :space AND ref = :ref AND facts IS NOT NULL"
    ),
)
"""Content is overwritten where it stands before its rows go."""
PARTS = (
    (
        "INSERT INTO temp.gone_parts (digest) SELECT DISTINCT u.digest FROM nodes n"
        " JOIN part_users u"
        " ON u.space = n.space AND u.event_id = n.event_id"
        " WHERE n.space = :space AND n.context = :ref AND n.extra IS NOT NULL"
    ),
    (
        "DELETE FROM part_users WHERE space = :space AND event_id IN (SELECT event_id FROM nodes"
        " WHERE space = :space AND context = :ref AND extra IS NOT NULL)"
    ),
    (
        "DELETE FROM temp.gone_parts WHERE EXISTS (SELECT 1 FROM part_users u"
        " WHERE u.space = :space AND u.digest = gone_parts.digest)"
    ),
)
GONE = (
    "DELETE FROM parts WHERE space = :space AND digest IN (SELECT digest FROM gone_parts)",
    (
        "DELETE FROM dedup WHERE space = :space AND event_id IN"
        " (SELECT event_id FROM nodes WHERE space = :space AND context = :ref)"
    ),
    (
        "DELETE FROM operations WHERE space = :space AND context_id ="
        " (SELECT context_id FROM contexts WHERE space = :space AND ref = :ref)"
    ),
    "DELETE FROM blocks WHERE space = :space AND context = :ref",
    "DELETE FROM nodes WHERE space = :space AND context = :ref",
    "DELETE FROM heads WHERE space = :space AND context = :ref",
    "DELETE FROM gaps WHERE space = :space AND context = :ref",
    "DELETE FROM labels WHERE space = :space AND context = :ref",
    "DELETE FROM event_names WHERE space = :space AND context = :ref",
    "DELETE FROM marks WHERE space = :space AND context = :ref",
    "DELETE FROM remasks WHERE space = :space AND context = :ref",
    "DELETE FROM log WHERE space = :space AND context = :ref",
    "DELETE FROM contexts WHERE space = :space AND ref = :ref",
)
BURY = (
    "INSERT INTO tombstones (space, context_id, wiped_ms, data, sources) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET wiped_ms = excluded.wiped_ms, data = excluded.data,"
    " sources = coalesce(excluded.sources, sources)"
)
REWIND = (
    "UPDATE sources SET position = 0, ordinal = 0, prefix = x'', size = 0, mtime_ns = 0,"
    " ctime_ns = 0, mode = 'all', branch = NULL, state = NULL WHERE space = ? AND source_id = ?"
)
SOURCES = (
    "SELECT DISTINCT source FROM nodes WHERE space = :space AND source IS NOT NULL AND context ="
    " (SELECT ref FROM contexts WHERE space = :space AND context_id = :name)"
)


def inherit(rows: SqliteRows, root: Root, heir: Root) -> None:
    """Gives a fork its own bodies. What no fork shows stays behind."""
    connection, space = rows.connection, rows.space
    rows.bodies.prepare(connection)
    reader = BlockReader(space, rows.bodies)
    writer = BlockWriter(connection, space, rows.bodies, rows.counters)
    writer.thoroughly = True
    values = {"space": space, "heir": heir.ref, "ref": root.ref}
    moved = []
    for position, born, revision, block, place, size in connection.execute(INHERITED, values):
        body = reader.read(connection, block, place or 0, size or 0)
        where = writer.add(heir.ref, position, body)
        moved.append((where[0], where[1], space, heir.ref, position, born, revision))
    loose = writer.close()
    connection.executemany(MOVE, moved)
    connection.execute(
        "UPDATE contexts SET loose = loose + ? WHERE space = ? AND ref = ?",
        (loose, space, heir.ref),
    )


def delete(connection: sqlite3.Connection, space: str, ref: int) -> None:
    """Everything of a context but its tombstone."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS gone_parts (digest BLOB PRIMARY KEY)")
    connection.execute("DELETE FROM gone_parts")
    for statement in (*PARTS, *BLANK, *GONE):
        connection.execute(statement, {"space": space, "ref": ref})
    connection.execute("DELETE FROM gone_parts")


def bury(connection: sqlite3.Connection, space: str, tombstone: Tombstone, ms: int) -> None:
    """Keeps a tombstone, and which sources brought the context while its rows are still there."""
    values = {"space": space, "name": tombstone.context_id}
    brought = [row[0] for row in connection.execute(SOURCES, values)]
    connection.execute(
        BURY,
        (space, tombstone.context_id, ms, dump(tombstone), dump(brought) if brought else None),
    )


def read_again(connection: sqlite3.Connection, space: str, context_id: str) -> None:
    """Capture reads the sources of a session from their start: its checkpoints say so, and a note
    for a daemon that runs."""
    refused = dict(sources.noted(connection, space, REFUSED) or {})
    names = {*sources_of(connection, space, context_id), *refused.pop(context_id, ())}
    connection.executemany(REWIND, [(space, name) for name in names])
    waiting = set(sources.noted(connection, space, AGAIN) or ())
    sources.note(connection, space, AGAIN, sorted(waiting | names))
    sources.note(connection, space, REFUSED, refused)


def without_wiped(connection: sqlite3.Connection, space: str, batch: CaptureBatch) -> CaptureBatch:
    """The batch less the events of sessions that a person wiped."""
    query = "SELECT data FROM tombstones WHERE space = ? LIMIT 1"
    if not batch.events or connection.execute(query, (space,)).fetchone() is None:
        return batch
    sessions = {(event.record.agent, event.session_id) for event in batch.events}
    wiped = {key for key in sessions if buried(connection, space, *key)}
    kept = [e for e in batch.events if (e.record.agent, e.session_id) not in wiped]
    if len(kept) == len(batch.events):
        return batch
    counts = dict(batch.counts)
    left_out = len(batch.events) - len(kept)
    counts["skipped.wiped"] = counts.get("skipped.wiped", 0) + left_out
    return CaptureBatch(
        events=kept, checkpoints=batch.checkpoints, facts=batch.facts, counts=counts
    )


def buried(connection: sqlite3.Connection, space: str, agent: str, session_id: str) -> bool:
    """Whether a session, or the one that it is a copy of, was wiped and not taken back."""
    for name in {session_id, session_id.partition("~")[0]}:
        found = connection.execute(
            "SELECT data FROM tombstones WHERE space = ? AND context_id = ?",
            (space, captured_context_id(agent, name)),
        ).fetchone()
        if found is not None and load_as(found[0], Tombstone).lifted_at is None:
            return True
    return False


def sources_of(connection: sqlite3.Connection, space: str, context_id: str) -> list[int]:
    """Sources that brought a context before it was wiped."""
    found = connection.execute(
        "SELECT sources FROM tombstones WHERE space = ? AND context_id = ?", (space, context_id)
    ).fetchone()
    return [] if found is None or found[0] is None else list(load(found[0]))
