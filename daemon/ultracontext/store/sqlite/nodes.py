"""Nodes read in order, by keyset pages, with their bodies put together again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ultracontext.model import EventId
from ultracontext.store.base import StoredNode
from ultracontext.store.sqlite import extras, sources
from ultracontext.store.sqlite.blocks import BlockReader
from ultracontext.store.sqlite.connection import Connection
from ultracontext.store.sqlite.names import Kinds
from ultracontext.store.sqlite.parts import put_back
from ultracontext.store.values import decode_text

SIZE = 13
PAGE_ROWS = 200
PAGE_BYTES = 4 << 20
"""A page ends behind the row with which its bodies reach this."""

PAGE = (
    "SELECT position, born, revision, event_id, source, start, length, kind,"
    " time_ms, rule_set, opaque,"
    " block, place, size, extra FROM nodes WHERE space = ? AND context = ?"
    " AND (position, born, revision) > (?, ?, ?) AND position < ?"
)
ORDER = " ORDER BY position, born, revision"
NEWEST = " AND superseded IS NULL"


@dataclass(slots=True, kw_only=True)
class NodeReader:
    """Puts nodes together from their rows."""

    space: str
    blocks: BlockReader
    kinds: Kinds
    time_ms: int | None = None
    """Of the row before."""
    paths: dict[int, str] = field(default_factory=dict)

    def node(self, connection: sqlite3.Connection, row: tuple[Any, ...]) -> StoredNode:
        (
            position,
            _,
            revision,
            event_id,
            source,
            start,
            length,
            kind,
            time_ms,
            rule_set,
            opaque,
            block,
            place,
            size,
            packed,
        ) = row
        data = self.blocks.read(connection, block, place, size)
        extra = extras.read(packed)
        if "parts" in extra:
            data = put_back(
                data,
                [(p, extras.fetch(connection, self.space, digest)) for p, digest in extra["parts"]],
            )
        companions = dict(extra.get("companions", {}))
        for name, digest in extra.get("large", {}).items():
            companions[name] = decode_text(extras.fetch(connection, self.space, digest))
        name, role, event_type = self.kinds.kind(connection, kind)
        self.time_ms = self.time_ms if time_ms is None else time_ms
        too_large = extra.get("too_large")
        return StoredNode(
            event_id=EventId(event_id),
            position=position,
            revision=revision,
            kind=name,
            role=role,
            event_type=event_type,
            time_ms=self.time_ms,
            source_path=self._path(connection, source),
            start=start or 0,
            end=(start or 0) + (length or 0),
            damage=extra.get("damage"),
            text=decode_text(data) if opaque else None,
            body=b"" if opaque else data,
            companions=companions,
            rule_set=rule_set or 0,
            too_large=(too_large[0], too_large[1]) if too_large else None,
            time_inherited=time_ms is None,
        )

    def _path(self, connection: sqlite3.Connection, source: int | None) -> str:
        if source is None:
            return ""
        if source not in self.paths:
            self.paths = sources.paths(connection, self.space)
            self.paths.setdefault(source, "")
        return self.paths[source]


@dataclass(slots=True, kw_only=True)
class Reading(NodeReader):
    """One walk over a context."""

    link: Connection
    newest_only: bool
    ref: int = 0

    def walk(self, context_id: str, first: int, until: int) -> Iterator[StoredNode]:
        """Nodes with first ≤ position < until. No statement is open between two of them."""
        with self.link.reading() as connection:
            found = self._start(connection, context_id, first)
        after = (first, -1, -1)
        while found:
            with self.link.snapshot() as connection:
                rows = self._page(connection, after, until)
                nodes = [self.node(connection, row) for row in rows]
            yield from nodes
            if not rows:
                return
            after = rows[-1][:3]

    def _start(self, connection: sqlite3.Connection, context_id: str, first: int) -> bool:
        found = connection.execute(
            "SELECT ref, created_ms FROM contexts WHERE space = ? AND context_id = ?",
            (self.space, context_id),
        ).fetchone()
        if found is None:
            return False
        self.ref, self.time_ms = found
        before = connection.execute(
            "SELECT time_ms FROM nodes WHERE space = ? AND context = ? AND position < ?"
            " AND time_ms IS NOT NULL ORDER BY position DESC LIMIT 1",
            (self.space, self.ref, first),
        ).fetchone()
        if before:
            self.time_ms = before[0]
        return True

    def _page(
        self, connection: sqlite3.Connection, after: tuple[int, int, int], until: int
    ) -> list[tuple[Any, ...]]:
        query = PAGE + (NEWEST if self.newest_only else "") + ORDER
        rows, size = [], 0
        cursor = connection.execute(query, (self.space, self.ref, *after, until))
        try:
            for row in cursor:
                rows.append(row)
                size += row[SIZE] or 0
                if len(rows) >= PAGE_ROWS or size >= PAGE_BYTES:
                    break
        finally:
            cursor.close()
        return rows
