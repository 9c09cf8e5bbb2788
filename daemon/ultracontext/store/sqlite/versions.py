"""Heads of the versions that capture makes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence

from ultracontext.chain import head_link
from ultracontext.model import EventId
from ultracontext.store.base import NewVersion
from ultracontext.store.sqlite.roots import Root
from ultracontext.store.version_start import facts_of, head_id, put_aside

INSERT = (
    "INSERT INTO heads (space, context, version, head_id, prev_id, operation, affected, metadata,"
    " positions, removed, digest, log, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
BEFORE = (
    "SELECT h.head_id, coalesce(h.digest, x''), c.removed FROM heads h"
    " JOIN contexts c ON c.space = h.space AND c.ref = h.context"
    " WHERE h.space = ? AND h.context = ? AND h.version = ?"
)
PLACE = "SELECT context, position FROM nodes WHERE space = ? AND event_id = ?"
BEHIND = (
    "SELECT event_id FROM nodes WHERE space = ? AND context = ? AND position >= ?"
    " AND superseded IS NULL AND length(event_id) = 16 ORDER BY position"
)
MADE = "SELECT metadata, affected FROM heads WHERE space = ? AND context = ? ORDER BY version DESC"


class Context:
    """One context in the middle of a batch."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        space: str,
        root: Root,
        pending: Mapping[EventId, int],
    ) -> None:
        self.connection = connection
        self.space = space
        self.root = root
        self.pending = pending
        """Positions of what the batch brought before, not written yet."""

    @property
    def end(self) -> int:
        return int(self.root.next_position) + len(self.pending)

    def place(self, name: EventId) -> int | None:
        if name in self.pending:
            return self.pending[name]
        found = self.connection.execute(PLACE, (self.space, name)).fetchone()
        if found is None:
            return None
        return int(found[1]) if found[0] == self.root.ref else -1

    def behind(self, position: int) -> Sequence[EventId]:
        rows = self.connection.execute(BEHIND, (self.space, self.root.ref, position))
        stored = [EventId(row[0]) for row in rows]
        return stored + [name for name, place in self.pending.items() if place >= position]

    def made(self) -> Iterator[tuple[bytes | None, bytes | None]]:
        yield from self.connection.execute(MADE, (self.space, self.root.ref))


def begin(context: Context, asked: NewVersion, *, log: int, now_ms: int) -> bool:
    """Makes a version if one begins; False when none does."""
    affected = put_aside(asked, context)
    if affected is None:
        return False
    root, connection, space = context.root, context.connection, context.space
    before, digest, removed = connection.execute(BEFORE, (space, root.ref, root.version)).fetchone()
    facts = facts_of(
        asked, affected, context, context_id=root.context_id, version=root.version + 1,
        created_ms=now_ms, removed=removed,
    )  # fmt: skip
    connection.execute(
        INSERT,
        (
            space, root.ref, facts.version, head_id(root.context_id, facts.version), before,
            facts.operation, facts.affected, facts.metadata, facts.positions, removed,
            head_link(digest, facts, root.tail, ()), log, now_ms,
        ),
    )  # fmt: skip
    root.version = facts.version
    return True
