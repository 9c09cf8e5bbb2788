"""Which masks stand in which context: a summary that is kept while bodies are written."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping

from ultracontext.redaction import MaskedRecord
from ultracontext.store.base import MarkRow
from ultracontext.store.values import encode_text, moment

MARK = re.compile(rb"\[redacted:([a-z0-9-]{1,40}):([0-9a-f]{8})\]")

Mark = tuple[str, str]
"""Kind and fingerprint."""

PUT = (
    "INSERT INTO marks (space, context, kind, fingerprint, count, first_ms, last_ms)"
    " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (space, context, kind, fingerprint) DO UPDATE SET"
    " count = count + excluded.count, first_ms = min(first_ms, excluded.first_ms),"
    " last_ms = max(last_ms, excluded.last_ms)"
)
ALL = (
    "SELECT m.kind, m.fingerprint, c.context_id, m.count, m.first_ms, m.last_ms"
    " FROM marks m JOIN contexts c ON c.space = m.space AND c.ref = m.context"
    " WHERE m.space = ? ORDER BY m.kind, m.fingerprint, m.first_ms"
)
FORGET = (
    "UPDATE nodes SET digest = NULL WHERE space = ?",
    "UPDATE sources SET path_digest = x'', fingerprint = x'', inode = 0, gone = 1 WHERE space = ?",
    "DELETE FROM dedup WHERE space = ?",
    "DELETE FROM fingerprints WHERE space = ?",
)


def in_bytes(data: bytes) -> Counter[Mark]:
    """The masks in a text."""
    if b"[redacted:" not in data:
        return Counter()
    return Counter((kind.decode(), mark.decode()) for kind, mark in MARK.findall(data))


def in_record(record: MaskedRecord) -> Counter[Mark]:
    """The masks in a record, with its large strings and what came along."""
    if not record.masks:
        return Counter()
    found = in_bytes(record.body if record.text is None else encode_text(record.text))
    for part in record.parts:
        found += in_bytes(part.data)
    for text in record.companions.values():
        found += in_bytes(encode_text(text))
    return found


class MarkWriter:
    """The marks of one transaction."""

    def __init__(self, connection: sqlite3.Connection, space: str) -> None:
        self.connection = connection
        self.space = space
        self._found: dict[tuple[int, Mark], list[int]] = {}

    def add(self, context: int, marks: Mapping[Mark, int], time_ms: int) -> None:
        """Counts that came in at a time; negative ones for what is gone."""
        for mark, count in marks.items():
            seen = self._found.setdefault((context, mark), [0, time_ms, time_ms])
            seen[:] = [seen[0] + count, min(seen[1], time_ms), max(seen[2], time_ms)]

    def save(self) -> None:
        if not self._found:
            return
        self.connection.executemany(
            PUT,
            [(self.space, context, *mark, *seen) for (context, mark), seen in self._found.items()],
        )
        if any(seen[0] < 0 for seen in self._found.values()):
            self.connection.executemany(
                "DELETE FROM marks WHERE space = ? AND context = ? AND count <= 0",
                [(self.space, context) for context in {key[0] for key in self._found}],
            )


def all_of(connection: sqlite3.Connection, space: str) -> list[MarkRow]:
    """Every mark of every context, those of one secret together."""
    return [
        MarkRow(
            kind=kind,
            fingerprint=mark,
            context_id=context_id,
            count=count,
            first_at=moment(first),
            last_at=moment(last),
        )
        for kind, mark, context_id, count, first, last in connection.execute(ALL, (space,))
    ]


def keep_digests(connection: sqlite3.Connection, space: str, digests: Iterable[bytes]) -> None:
    """Whole keyed digests of secrets, under the 8 digits that masks show."""
    connection.executemany(
        "INSERT OR IGNORE INTO fingerprints (space, fingerprint, digest) VALUES (?, ?, ?)",
        [(space, digest.hex()[:8], digest) for digest in digests],
    )


def forget_digests(connection: sqlite3.Connection, space: str) -> None:
    """Everything keyed. Sources stay, because nodes name them, and are recognised no more."""
    for statement in FORGET:
        connection.execute(statement, (space,))


def digests(connection: sqlite3.Connection, space: str) -> dict[str, list[str]]:
    """The same, read: hex by fingerprint; more than one where two secrets share it."""
    found: dict[str, list[str]] = {}
    for mark, digest in connection.execute(
        "SELECT fingerprint, digest FROM fingerprints WHERE space = ? ORDER BY 1, 2", (space,)
    ):
        found.setdefault(mark, []).append(digest.hex())
    return found
