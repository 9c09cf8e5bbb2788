"""Which contexts are masked under rules that are not today's."""

from __future__ import annotations

import sqlite3

EXACT_ROWS, EXACT_CONTEXTS = 50_000, 500
"""Up to so many rows are counted one by one; beyond it whole contexts are."""

_WHOLE = "SELECT updated_ms, ref, nodes FROM contexts WHERE space = ?1 AND +agent IS NOT NULL"
WHICH = (
    _WHOLE + " AND rule_set < ?2 AND rule_nodes IS nodes",
    _WHOLE + " AND rule_set > ?2 AND rule_nodes IS nodes",
    _WHOLE + " AND rule_nodes IS NOT nodes AND ?2 IS NOT NULL",
)
"""Apart, so that each has its index: other rules for all rows, or several."""


def contexts(connection: sqlite3.Connection, space: str, rule_set: int) -> list[tuple[int, int]]:
    """(ref, rows), those with the newest activity first."""
    found: list[tuple[int, int, int]] = []
    for query in WHICH:
        found += connection.execute(query, (space, rule_set)).fetchall()
    return [(ref, nodes) for _, ref, nodes in sorted(found, reverse=True)]


def rows(connection: sqlite3.Connection, space: str, rule_set: int) -> int:
    """How many rows are to be masked again."""
    found = contexts(connection, space, rule_set)
    total = sum(nodes for _, nodes in found)
    if total > EXACT_ROWS or len(found) > EXACT_CONTEXTS:
        return total
    return sum(
        connection.execute(
            "SELECT count(*) FROM nodes WHERE space = ? AND context = ? AND rule_set <> ?",
            (space, ref, rule_set),
        ).fetchone()[0]
        for ref, _ in found
    )
