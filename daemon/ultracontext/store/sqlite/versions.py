"""Versions that capture makes: where a session's agent went back, or compacted it.

Nothing of what was captured is superseded: a version is sealed, and what comes from here on is born
in the next. `affected` names the messages that the agent put aside; the reader marks them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from ultracontext.model import EventId, message_id
from ultracontext.store.base import NewVersion
from ultracontext.store.sqlite.roots import Root, head_id
from ultracontext.store.values import dump, load

COMPACTION = "compaction"
INSERT = (
    "INSERT INTO heads (space, context, version, head_id, prev_id, operation, affected, metadata,"
    " log, created_ms) VALUES (?, ?, ?, ?, ?, 'update', ?, ?, ?, ?)"
)
PLACE = "SELECT context, position FROM nodes WHERE space = ? AND event_id = ?"
FROM = (
    "SELECT event_id FROM nodes WHERE space = ? AND context = ? AND position >= ?"
    " AND superseded IS NULL AND length(event_id) = 16 ORDER BY position"
)


class VersionWriter:
    """The versions of one transaction."""

    def __init__(self, connection: sqlite3.Connection, space: str) -> None:
        self.connection = connection
        self.space = space

    def begin(
        self, root: Root, asked: NewVersion, pending: Mapping[EventId, int], log: int, now_ms: int
    ) -> bool:
        """Makes a version if one begins; `pending` are places of what this batch brought before.

        False when none does: then the log entry was not needed."""
        start = self._start(root, asked, pending)
        if start is None:
            return False
        affected = self._affected(root, asked, start, pending)
        metadata = {"cause": asked.cause, "position": root.next_position + len(pending)}
        version = root.version + 1
        names = [head_id(root.context_id, n) for n in (version, root.version)]
        self.connection.execute(
            INSERT,
            (
                self.space, root.ref, version, *names,
                dump([message_id(name) for name in affected]), dump(metadata), log, now_ms,
            ),
        )  # fmt: skip
        root.version = version
        return True

    def _start(self, root: Root, asked: NewVersion, pending: Mapping[EventId, int]) -> int | None:
        """Place of the first record that is put aside; None: no version begins."""
        if asked.cause == COMPACTION:
            return self._compacted(root)
        if asked.after:
            above = self._first_of(root, asked.after, pending)
            turn = asked.unless_behind and self._place(root, asked.unless_behind, pending)
            if above is None or (type(turn) is int and above >= turn):
                return None
            return above + 1
        if asked.first:
            found = self._first_of(root, asked.first, pending)
            return root.next_position + len(pending) if found is None else found
        return 0

    def _first_of(
        self, root: Root, names: Iterable[EventId], pending: Mapping[EventId, int]
    ) -> int | None:
        places = (self._place(root, name, pending) for name in names)
        return next((place for place in places if place is not None), None)

    def _place(self, root: Root, name: EventId, pending: Mapping[EventId, int]) -> int | None:
        """Place in the context; -1 for a record of another, which this one goes on from."""
        if name in pending:
            return pending[name]
        found = self.connection.execute(PLACE, (self.space, name)).fetchone()
        if found is None:
            return None
        return int(found[1]) if found[0] == root.ref else -1

    def _compacted(self, root: Root) -> int:
        """Where the last compaction was: what it put aside is not put aside again."""
        rows = self.connection.execute(
            "SELECT metadata FROM heads WHERE space = ? AND context = ? ORDER BY version DESC",
            (self.space, root.ref),
        )
        for (metadata,) in rows:
            known = load(metadata) if metadata else None
            if isinstance(known, dict) and known.get("cause") == COMPACTION:
                return int(known.get("position") or 0)
        return 0

    def _affected(
        self, root: Root, asked: NewVersion, start: int, pending: Mapping[EventId, int]
    ) -> Sequence[EventId]:
        if asked.events:
            return [name for name in asked.events if self._place(root, name, pending) is not None]
        rows = self.connection.execute(FROM, (self.space, root.ref, start))
        found = [EventId(row[0]) for row in rows]
        found += [name for name, place in pending.items() if place >= start]
        gone = self._put_aside(root)
        return [name for name in found if message_id(name) not in gone] if gone else found

    def _put_aside(self, root: Root) -> set[str]:
        """Messages that earlier versions put aside."""
        rows = self.connection.execute(
            "SELECT affected FROM heads WHERE space = ? AND context = ? AND affected IS NOT NULL"
            " AND metadata IS NOT NULL",
            (self.space, root.ref),
        )
        return {name for (affected,) in rows for name in load(affected)}
