"""(kind, role, event type) by number."""

from __future__ import annotations

import sqlite3

MOST_REMEMBERED = 10_000


class Kinds:
    """The numbers of one space. `forget` after a transaction that failed."""

    def __init__(self, space: str) -> None:
        self.space = space
        self._refs: dict[tuple[str, str, str], int] = {}
        self._kinds: dict[int, tuple[str, str, str]] = {}

    def forget(self) -> None:
        self._refs.clear()

    def ref(self, connection: sqlite3.Connection, kind: tuple[str, str, str]) -> int:
        """The number of a kind, given if it is new. Inside a write transaction."""
        found = self._refs.get(kind)
        return found if found is not None else self._give(connection, kind)

    def kind(self, connection: sqlite3.Connection, ref: int) -> tuple[str, str, str]:
        found = self._kinds.get(ref)
        if found is None:
            self._kinds = dict(self._all(connection))
            found = self._kinds.get(ref, ("meta", "system", ""))
        return found

    def _all(self, connection: sqlite3.Connection) -> list[tuple[int, tuple[str, str, str]]]:
        rows = connection.execute(
            "SELECT ref, kind, role, event_type FROM kinds WHERE space = ?", (self.space,)
        )
        return [(ref, (kind, role, event_type)) for ref, kind, role, event_type in rows]

    def _give(self, connection: sqlite3.Connection, kind: tuple[str, str, str]) -> int:
        known = {name: ref for ref, name in self._all(connection)}
        if kind not in known:
            known[kind] = max(known.values(), default=0) + 1
            connection.execute(
                "INSERT INTO kinds (space, ref, kind, role, event_type) VALUES (?, ?, ?, ?, ?)",
                (self.space, known[kind], *kind),
            )
        self._refs = known if len(known) <= MOST_REMEMBERED else {kind: known[kind]}
        return known[kind]
