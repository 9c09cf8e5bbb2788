"""Rows of `contexts` as lists show them."""

from __future__ import annotations

import sqlite3
from datetime import datetime
from typing import Any

from ultracontext.errors import NotFoundError, StoreError
from ultracontext.model import Base, ContextId, SessionFacts, captured_context_id
from ultracontext.store import readers
from ultracontext.store.base import ContextRow
from ultracontext.store.sqlite import lists
from ultracontext.store.values import column, load_as, milliseconds, moment, words

RULES = "iif(rule_nodes IS nodes, rule_set, NULL)"
"""In a store of version 1000 there is no such column."""
# `+session_id`: no reason to choose its index.
SELECT = (
    "SELECT context_id, agent, session_id, version, next_position, facts,"  # noqa: S608
    " facts_nodes IS NOT nodes, reader_digest, parent_id,"
    f" parent_session, relation, related, base, stored_ms, {RULES} FROM contexts"
    " WHERE space = ? AND +session_id IS NOT NULL"
)
BEHIND = SELECT + " AND facts_nodes IS NOT nodes LIMIT ?"
OUTDATED = (
    SELECT
    + " AND agent = ?2 AND (reader_digest < ?3 OR reader_digest > ?3) AND facts_nodes = nodes"
    " LIMIT ?4"
).replace("space = ?", "space = ?1")
LAST = "\U0010ffff"
SHORTEST = 4
NAMED = 5


def fitting(connection: sqlite3.Connection, query: str = SELECT) -> str:
    """The query as far as this file has its columns."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    return query if version > 1000 else query.replace(RULES, "NULL")


def listed(
    connection: sqlite3.Connection,
    space: str,
    *,
    agent: str | None,
    project: str | None,
    since: datetime | None,
    limit: int,
    children: bool,
) -> list[ContextRow]:
    query = fitting(connection)
    values: list[str | int] = [space]
    if agent is not None:
        query, values = query + " AND agent = ?", [*values, words(agent)]
    if project is not None:
        path = words(project).rstrip("/") or ""
        query += " AND (project_path = ? OR (project_path >= ? AND project_path < ?))"
        values = [*values, path or "/", path + "/", path + "0"]
    if since is not None:
        query, values = query + " AND updated_ms >= ?", [*values, milliseconds(since)]
    if not children:
        query += " AND relation IS NOT 'subagent'"
    query += " ORDER BY updated_ms DESC, ref DESC LIMIT ?"
    return [row_of(row) for row in connection.execute(query, [*values, limit or -1])]


def row_of(row: tuple[Any, ...]) -> ContextRow:
    (
        context_id,
        agent,
        session_id,
        version,
        nodes,
        facts,
        behind,
        digest,
        parent_id,
        parent_session,
        relation,
        related,
        base,
        stored_ms,
        rule_set,
    ) = row
    known = load_as(facts, SessionFacts) if facts else SessionFacts()
    if base:
        known.base = load_as(base, Base)
    if related:
        known.parent_session, known.relation = parent_session, relation
    return ContextRow(
        context_id=ContextId(context_id),
        agent=agent,
        session_id=session_id,
        version=version,
        nodes=nodes,
        facts=known,
        stale=bool(behind) or digest != readers.reader_digest(agent),
        parent_id=parent_id and ContextId(parent_id),
        stored_at=moment(stored_ms),
        rule_set=rule_set,
    )


def by_id(connection: sqlite3.Connection, space: str, context_id: str) -> ContextRow | None:
    query = fitting(connection) + " AND context_id = ?"
    found = connection.execute(query, (space, words(context_id))).fetchone()
    return row_of(found) if found else None


def by_session(
    connection: sqlite3.Connection, space: str, agent: str, session_id: str
) -> ContextRow | None:
    return by_id(connection, space, captured_context_id(agent, session_id))


def find(connection: sqlite3.Connection, space: str, name: str) -> ContextRow:
    """By context id, session id, a prefix of either, else by the name of a source's file."""
    name = words(name)
    query = fitting(connection)
    rows = connection.execute(query + " AND context_id = ?", (space, name)).fetchall()
    rows = (
        rows
        or connection.execute(
            query + " AND session_id = ? LIMIT ?", (space, name, NAMED + 1)
        ).fetchall()
    )
    if not rows and len(name) >= SHORTEST:
        for place in (" AND context_id", " AND session_id"):
            rows += connection.execute(
                query + place + " >= ?" + place + " < ? LIMIT ?",
                (space, name, name + LAST, NAMED + 1),
            ).fetchall()
    for ref in () if rows else lists.aliased(connection, space, name):
        rows += connection.execute(query + " AND ref = ?", (space, ref)).fetchall()
    found = list({row[0]: row for row in rows}.values())
    if not found:
        raise NotFoundError(
            f"no session named {name!r}", hint="`ultracontext sessions --all` lists them"
        )
    if len(found) > 1:
        raise _ambiguous(name, found)
    return row_of(found[0])


def _ambiguous(name: str, rows: list[tuple[Any, ...]]) -> StoreError:
    shown = ", ".join(f"{row[0]} ({row[1]} {row[2]})" for row in rows[:NAMED])
    more = ", …" if len(rows) > NAMED else ""
    return StoreError(
        f"{name!r} could be {shown}{more}", hint="Give more of the id", code="ambiguous"
    )


def stale(connection: sqlite3.Connection, space: str, limit: int) -> list[ContextRow]:
    """Those whose nodes went on first, then those made by another state of their reader."""
    outdated = fitting(connection, OUTDATED)
    rows = connection.execute(fitting(connection, BEHIND), (space, limit)).fetchall()
    agent = _next_agent(connection, space, "")
    while agent is not None and len(rows) < limit:
        digest = readers.reader_digest(agent)
        rows += connection.execute(outdated, (space, agent, digest, limit - len(rows))).fetchall()
        agent = _next_agent(connection, space, agent)
    return [row_of(row) for row in rows]


def _next_agent(connection: sqlite3.Connection, space: str, after: str) -> str | None:
    found = connection.execute(
        "SELECT min(agent) FROM contexts WHERE space = ? AND agent > ?", (space, after)
    ).fetchone()
    return None if found[0] is None else str(found[0])


def set_relation(
    connection: sqlite3.Connection, space: str, context_id: str, parent_session: str, relation: str
) -> None:
    """Says whose child a context is; facts that come later do not change it."""
    parent = connection.execute(
        "SELECT context_id FROM contexts WHERE space = ?1 AND session_id = ?2 AND context_id <> ?3"
        " ORDER BY agent IS NOT (SELECT agent FROM contexts WHERE space = ?1 AND context_id = ?3)"
        " LIMIT 1",
        (space, words(parent_session), context_id),
    ).fetchone()
    agent = connection.execute(
        "SELECT agent FROM contexts WHERE space = ? AND context_id = ?", (space, context_id)
    ).fetchone()
    if agent is None:
        raise NotFoundError(f"no context {context_id}", hint="It may have been wiped meanwhile")
    parent_id = parent[0] if parent else captured_context_id(agent[0], parent_session)
    connection.execute(
        "UPDATE contexts SET related = 1, parent_id = ?, parent_session = ?, relation = ?"
        " WHERE space = ? AND context_id = ?",
        (parent_id, column(parent_session), relation, space, context_id),
    )
