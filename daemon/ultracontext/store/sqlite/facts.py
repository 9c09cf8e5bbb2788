"""The small texts beside the nodes, masked again: facts, paths, notes, names of kinds."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ultracontext.model import RawRecord, SessionFacts
from ultracontext.redaction import Redactor
from ultracontext.store.masking import masked_facts
from ultracontext.store.sqlite import sources
from ultracontext.store.values import column, dump, load, load_as

NAMES_DONE = "redaction.names"
"""Note: the rules under which everything that is not a node's was masked."""
AT_ONCE = 500


def finish(connection: sqlite3.Connection, space: str, ref: int, redactor: Redactor) -> None:
    """The facts of a context whose nodes are done. Where a node changed they are computed anew by
    the next upkeep, because a text that was cut may hold a part of a secret."""
    facts, path = connection.execute(
        "SELECT facts, project_path FROM contexts WHERE space = ? AND ref = ?", (space, ref)
    ).fetchone()
    changed = connection.execute(
        "SELECT 1 FROM remasks WHERE space = ? AND context = ? AND rule_set = ? LIMIT 1",
        (space, ref, redactor.rule_set),
    ).fetchone()
    if facts:
        facts = dump(masked_facts(load_as(facts, SessionFacts), redactor, cut=bool(changed)))
    connection.execute(
        "UPDATE contexts SET facts = ?, project_path = ?, rule_set = ?, rule_nodes = nodes,"
        " facts_nodes = iif(?, NULL, facts_nodes) WHERE space = ? AND ref = ?",
        (
            facts,
            column(path and redactor.text(path)),
            redactor.rule_set,
            bool(changed),
            space,
            ref,
        ),
    )


def mask_names(connection: sqlite3.Connection, space: str, redactor: Redactor) -> None:
    """In one write transaction: small texts only, a few thousand of them at most."""
    if sources.noted(connection, space, NAMES_DONE) == redactor.rule_set:
        return
    _column(connection, space, redactor, "sources", "source_id", "path")
    _column(connection, space, redactor, "kinds", "ref", "event_type")
    _notes(connection, space, redactor)
    sources.note(connection, space, NAMES_DONE, redactor.rule_set)


def _column(
    connection: sqlite3.Connection,
    space: str,
    redactor: Redactor,
    table: str,
    key: str,
    name: str,
) -> None:
    rows = connection.execute(
        f"SELECT {key}, {name} FROM {table} WHERE space = ?",  # noqa: S608  (our own names)
        (space,),
    ).fetchall()
    for start in range(0, len(rows), AT_ONCE):
        chunk = rows[start : start + AT_ONCE]
        masked = _texts([text for _, text in chunk], redactor)
        changed = [
            (text, space, row[0]) for row, text in zip(chunk, masked, strict=True) if text != row[1]
        ]
        connection.executemany(
            f"UPDATE {table} SET {name} = ? WHERE space = ? AND {key} = ?",  # noqa: S608
            changed,
        )


def _notes(connection: sqlite3.Connection, space: str, redactor: Redactor) -> None:
    rows = connection.execute(
        "SELECT name, value FROM notes WHERE space = ? AND name LIKE 'capture.%'", (space,)
    ).fetchall()
    for name, value in rows:
        before = load(value)
        (after,) = _texts([before], redactor)
        if after != before:
            sources.note(connection, space, name, after)


def _texts(values: Sequence[object], redactor: Redactor) -> list[object]:
    """Values of any shape with every string in them masked, in one scan."""
    data = dump({"texts": list(values)})
    raw = RawRecord(agent="", source="", start=0, end=len(data), data=data)
    found: list[object] = redactor.redact(raw, whole=True).native["texts"]
    return found
