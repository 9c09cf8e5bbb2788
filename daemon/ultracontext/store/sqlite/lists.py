"""What lists show beside the rows of `contexts`: how many sub-agents, and where it came from."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from ultracontext.model import ContextId

ENDS = 500
"""Nodes from each end of a context in which its sources are looked for."""
CHILDREN = (
    "SELECT parent_id, count(*) FROM contexts WHERE space = ? AND relation = 'subagent'"
    " AND parent_id IS NOT NULL GROUP BY parent_id"
)
SOURCES = (
    "SELECT path FROM sources WHERE space = ?1 AND source_id IN ("
    " SELECT source FROM (SELECT source FROM nodes WHERE space = ?1 AND context = ?2"
    "  ORDER BY position LIMIT ?3)"
    " UNION SELECT source FROM (SELECT source FROM nodes WHERE space = ?1 AND context = ?2"
    "  ORDER BY position DESC LIMIT ?3)) ORDER BY source_id"
)
REF = "SELECT ref FROM contexts WHERE space = ? AND context_id = ?"


ALIASES = (
    "SELECT source_id, agent, path FROM sources WHERE space = ? AND path LIKE ? ESCAPE '|'"
    " LIMIT 100"
)
BROUGHT = (
    "SELECT DISTINCT c.ref FROM contexts c JOIN nodes n ON n.space = c.space AND n.context = c.ref"
    " AND n.position IN (0, c.next_position - 1) WHERE c.space = ? AND c.agent = ? AND n.source = ?"
    " LIMIT 6"
)


def aliased(connection: sqlite3.Connection, space: str, name: str) -> list[int]:
    """Contexts that begin or end with a source of this file name, with or without its suffix. Looks
    at all contexts of the agent."""
    if not name or "/" in name:
        return []
    like = "%/" + re.sub(r"([|%_])", r"|\1", name) + "%"
    found: list[int] = []
    for source, agent, path in connection.execute(ALIASES, (space, like)).fetchall():
        base = path.rpartition("/")[2]
        if base == name or base.startswith(f"{name}."):
            rows = connection.execute(BROUGHT, (space, agent, source))
            found += [row[0] for row in rows]
    return list(dict.fromkeys(found))


def child_counts(connection: sqlite3.Connection, space: str) -> dict[ContextId, int]:
    return dict(connection.execute(CHILDREN, (space,)).fetchall())


def source_paths(
    connection: sqlite3.Connection, space: str, contexts: Iterable[str]
) -> dict[ContextId, list[str]]:
    found: dict[ContextId, list[str]] = {}
    for context_id in contexts:
        row = connection.execute(REF, (space, context_id)).fetchone()
        if row is not None:
            paths = connection.execute(SOURCES, (space, row[0], ENDS)).fetchall()
            found[ContextId(context_id)] = [path for (path,) in paths]
    return found
