"""Rows of `contexts` while a batch is written: taken, grown, saved."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from ultracontext.model import SessionFacts, captured_context_id
from ultracontext.store import readers
from ultracontext.store.base import Event, FactsUpdate
from ultracontext.store.values import column, dump, parse_time, sane_time, words
from ultracontext.store.version_start import head_id

SAVE_GROWTH = (
    "UPDATE contexts SET nodes = ?1, next_position = ?, tail = ?, updated_ms = ?, version = ?,"
    " loose = loose + ?,"
    " rule_nodes = iif(rule_set IS ? AND rule_nodes IS nodes, ?1, rule_nodes)"
    " WHERE space = ? AND ref = ?"
)
SAVE_FACTS = (
    "UPDATE contexts SET facts = ?, facts_nodes = nodes, reader_digest = ?, project_path = ?,"
    " parent_id = iif(related, parent_id, ?), parent_session = iif(related, parent_session, ?),"
    " relation = iif(related, relation, ?), created_ms = coalesce(?, created_ms),"
    " updated_ms = coalesce(?, updated_ms)"
    " WHERE space = ? AND context_id = ? AND next_position = coalesce(?, next_position)"
)


class Counters:
    """The next numbers of a space, read at the start of a transaction and saved at its end."""

    def __init__(self, connection: sqlite3.Connection, space: str, now_ms: int) -> None:
        self.connection = connection
        self.space = space
        query = "SELECT next_context, next_source, next_log, next_block FROM spaces WHERE space = ?"
        found = connection.execute(query, (space,)).fetchone()
        if found is None:
            connection.execute(
                "INSERT INTO spaces (space, created_ms) VALUES (?, ?)", (space, now_ms)
            )
            found = connection.execute(query, (space,)).fetchone()
        self.next_context, self.next_source, self.next_log, self.next_block = found

    def save(self, *, highest_source: int = 0) -> None:
        self.connection.execute(
            "UPDATE spaces SET next_context = ?, next_source = max(next_source, ?), next_log = ?,"
            " next_block = ? WHERE space = ?",
            (
                self.next_context,
                highest_source + 1,
                self.next_log,
                self.next_block,
                self.space,
            ),
        )


class Root:
    """One context as the batch leaves it."""

    __slots__ = (
        "context_id",
        "loose",
        "next_position",
        "nodes",
        "ref",
        "rule_set",
        "tail",
        "updated_ms",
        "version",
    )

    def __init__(self, context_id: str, row: Sequence[Any]) -> None:
        self.context_id = context_id
        self.ref, self.version, self.nodes, self.next_position, self.tail, self.updated_ms = row
        self.loose = 0
        """Small blocks made."""
        self.rule_set = 0

    def grow(self, events: Sequence[Event]) -> None:
        self.nodes += len(events)
        self.rule_set = events[0].record.rule_set
        latest = max((t for e in events if (t := sane_time(e.time_ms)) is not None), default=None)
        if latest is not None and latest > self.updated_ms:
            self.updated_ms = latest


class Roots:
    """The contexts that one batch touches."""

    def __init__(
        self, connection: sqlite3.Connection, space: str, counters: Counters, *, now_ms: int
    ) -> None:
        self.connection = connection
        self.space = space
        self.counters = counters
        self.now_ms = now_ms
        self.taken: dict[str, Root] = {}

    def take(
        self, agent: str, session_id: str, events: Sequence[Event], *, file_ms: int | None
    ) -> Root:
        """The context of a session, made with version 0 if it is new."""
        context_id = captured_context_id(agent, session_id)
        row = self.connection.execute(
            "SELECT ref, version, nodes, next_position, coalesce(tail, x''), updated_ms FROM"
            " contexts"
            " WHERE space = ? AND context_id = ?",
            (self.space, context_id),
        ).fetchone()
        if row is None:
            first = next((t for e in events if (t := sane_time(e.time_ms)) is not None), None)
            start_ms = first or sane_time(file_ms) or self.now_ms
            rule_set = events[0].record.rule_set
            row = self._make(context_id, agent, session_id, start_ms, rule_set)
        root = self.taken[context_id] = Root(context_id, row)
        return root

    def _make(
        self, context_id: str, agent: str, session_id: str, start_ms: int, rule_set: int
    ) -> tuple[Any, ...]:
        ref = self.counters.next_context
        self.counters.next_context += 1
        self.connection.execute(
            "INSERT INTO contexts (space, context_id, ref, agent, session_id, created_ms,"
            " updated_ms, stored_ms, rule_set, rule_nodes) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)",
            (
                self.space,
                context_id,
                ref,
                agent,
                words(session_id),
                start_ms,
                start_ms,
                self.now_ms,
                rule_set,
            ),
        )
        self.connection.execute(
            "INSERT INTO heads (space, context, version, head_id, operation, log, created_ms)"
            " VALUES (?, ?, 0, ?, 'create', ?, ?)",
            (self.space, ref, head_id(context_id, 0), self.counters.next_log, start_ms),
        )
        return (ref, 0, 0, 0, b"", start_ms)

    def save(self, facts: Sequence[FactsUpdate]) -> None:
        self.connection.executemany(
            SAVE_GROWTH,
            [
                (
                    r.nodes,
                    r.next_position,
                    r.tail,
                    r.updated_ms,
                    r.version,
                    r.loose,
                    r.rule_set,
                    self.space,
                    r.ref,
                )
                for r in self.taken.values()
            ],
        )
        save_facts(self.connection, self.space, facts, None)


def save_facts(
    connection: sqlite3.Connection,
    space: str,
    updates: Sequence[FactsUpdate],
    nodes: Mapping[str, int] | None,
) -> None:
    """Facts as of now, or as of so many nodes by context id: then nothing where there are more by
    now.

    Contexts that are not there are passed over."""
    for update in updates:
        context_id = captured_context_id(update.agent, update.session_id)
        if update.base is not None:
            connection.execute(
                "UPDATE contexts SET base = ? WHERE space = ? AND context_id = ?",
                (dump(update.base), space, context_id),
            )
        if update.facts is not None:
            _save(
                connection,
                space,
                context_id,
                update,
                None if nodes is None else nodes.get(context_id, -1),
            )


def parent_of(
    connection: sqlite3.Connection, space: str, agent: str, facts: SessionFacts
) -> str | None:
    """The context that a session comes from; it may be still to come. Of a fork it may be another
    agent's."""
    parent = facts.parent_session
    if not parent:
        return None
    if facts.parent_agent is not None:
        return captured_context_id(facts.parent_agent, parent)
    found = None
    if facts.relation != "subagent":
        found = connection.execute(
            "SELECT context_id FROM contexts WHERE space = ? AND session_id = ?"
            " ORDER BY agent IS NOT ? LIMIT 1",
            (space, words(parent), agent),
        ).fetchone()
    return found[0] if found else captured_context_id(agent, parent)


def _save(
    connection: sqlite3.Connection,
    space: str,
    context_id: str,
    update: FactsUpdate,
    nodes: int | None,
) -> None:
    facts = update.facts
    if facts is None:
        return
    parent = facts.parent_session
    connection.execute(
        SAVE_FACTS,
        (
            dump(facts),
            readers.reader_digest(update.agent),
            column(facts.project_path),
            parent_of(connection, space, update.agent, facts),
            column(parent),
            facts.relation,
            sane_time(parse_time(facts.started_at)),
            sane_time(parse_time(facts.updated_at)),
            space,
            context_id,
            nodes,
        ),
    )
