"""Blocks: the bodies of neighbouring nodes of one context, compressed together.

A record alone repeats its session's folder, ids and keys; together they cost a third. A batch of a
backfill makes full blocks at once. A live session's records come one by one, each a block of its
own, until `pack_loose` puts them together.
"""

from __future__ import annotations

import sqlite3
from collections import OrderedDict

from ultracontext.errors import StoreError
from ultracontext.store.base import MEND
from ultracontext.store.sqlite.bodies import PLAIN, Bodies, base_of
from ultracontext.store.sqlite.roots import Counters

FULL_BYTES = 64 * 1024
"""A block is closed by the body with which it reaches this."""
LOOSE_BYTES = 16 * 1024
"""Smaller blocks are loose."""
LOOSE_BLOCKS = 64
"""A context with so many of them has them packed."""
PACKED_BLOCKS = 128
"""Packed in one step."""
KEPT_BLOCKS = 4

FOREIGN, BASE, DIFFERENCE = 1, 2, 3
"""`blocks.shared`: rows of other contexts are in it (it may be any of the others as well); other
blocks are differences to it; it is such a difference. 0: none of these, it may be taken apart."""

INSERT = (
    "INSERT INTO blocks (space, block, context, first, last, size, codec, data)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
)
LOOSEST = "SELECT ref FROM contexts WHERE space = ? AND loose >= 64 ORDER BY loose DESC LIMIT 1"
LOOSE = (
    "SELECT n.event_id, n.position, n.block, n.place, n.size FROM"
    " (SELECT space, context, block, first, last FROM blocks WHERE space = ?1 AND context = ?2"
    " AND size < 16384 AND shared = 0 ORDER BY block LIMIT ?3) b"
    " JOIN nodes n ON n.space = b.space AND n.context = b.context"
    " AND n.position BETWEEN b.first AND b.last AND n.block = b.block"
    " WHERE n.space = ?1 ORDER BY n.block, n.place"
)


class BlockWriter:
    """The blocks of one transaction."""

    def __init__(
        self, connection: sqlite3.Connection, space: str, bodies: Bodies, counters: Counters
    ) -> None:
        self.connection = connection
        self.space = space
        self.bodies = bodies
        self.counters = counters
        self.thoroughly = False
        self.context = 0
        self.pieces: list[bytes] = []
        self.size = 0
        self.first = self.last = 0
        self.loose = 0

    def add(self, context: int, position: int, body: bytes) -> tuple[int, int, int]:
        """(block, place, size) of the body of a node at a position."""
        if self.pieces and (context != self.context or len(body) >= FULL_BYTES):
            self._write()
        if self.pieces:
            self.first, self.last = min(self.first, position), max(self.last, position)
        else:
            self.context, self.first, self.last = context, position, position
        where = (self.counters.next_block, self.size, len(body))
        self.pieces.append(body)
        self.size += len(body)
        if self.size >= FULL_BYTES:
            self._write()
        return where

    def close(self) -> int:
        """Writes the open block; how many small ones were made since the last time."""
        if self.pieces:
            self._write()
        loose, self.loose = self.loose, 0
        return loose

    def _write(self) -> None:
        if self.size < LOOSE_BYTES:
            self.loose += 1
        codec, data = self.bodies.pack(b"".join(self.pieces), thoroughly=self.thoroughly)
        self.connection.execute(
            INSERT,
            (
                self.space,
                self.counters.next_block,
                self.context,
                self.first,
                self.last,
                self.size,
                codec,
                data,
            ),
        )
        self.counters.next_block += 1
        self.pieces.clear()
        self.size = 0


class BlockReader:
    """Bodies out of blocks; the last few blocks are kept."""

    def __init__(self, space: str, bodies: Bodies) -> None:
        self.space = space
        self.bodies = bodies
        self._kept: OrderedDict[int, bytes] = OrderedDict()

    def read(
        self, connection: sqlite3.Connection, block: int | None, place: int, size: int
    ) -> bytes:
        """A body; empty for a node that has none (any more)."""
        if block is None:
            return b""
        data = self.whole(connection, block)
        if place + size > len(data):
            raise _damaged(block)
        return data[place : place + size]

    def whole(self, connection: sqlite3.Connection, block: int) -> bytes:
        """All bodies of a block."""
        data = self._kept.get(block)
        if data is None:
            data = self._load(connection, block)
            self._kept[block] = data
            if len(self._kept) > KEPT_BLOCKS:
                self._kept.popitem(last=False)
        return data

    def _load(self, connection: sqlite3.Connection, block: int) -> bytes:
        found = connection.execute(
            "SELECT codec, data FROM blocks WHERE space = ? AND block = ?", (self.space, block)
        ).fetchone()
        if found is None:
            raise _damaged(block)
        codec, data = found
        if codec < PLAIN:
            if (base := base_of(codec)) == block:
                raise _damaged(block)
            return self.bodies.unpack_over(data, self.whole(connection, base))
        return self.bodies.unpack(codec, data, connection)


def _damaged(block: int) -> StoreError:
    return StoreError(
        f"block {block} of the store is damaged",
        hint=MEND,
        code="store-corrupt",
    )


def pack_loose(connection: sqlite3.Connection, space: str, bodies: Bodies) -> bool:
    """Puts small blocks of one context together; whether there were. Inside a write transaction."""
    found = connection.execute(LOOSEST, (space,)).fetchone()
    return found is not None and pack_context(connection, space, bodies, int(found[0]))


def pack_context(connection: sqlite3.Connection, space: str, bodies: Bodies, context: int) -> bool:
    """The same for a given context; False when it has fewer than two."""
    rows = connection.execute(LOOSE, (space, context, PACKED_BLOCKS)).fetchall()
    if len({row[2] for row in rows}) < 2:
        connection.execute(
            "UPDATE contexts SET loose = ? WHERE space = ? AND ref = ?",
            (len(rows) and 1, space, context),
        )
        return False
    bodies.prepare(connection)
    counters = Counters(connection, space, 0)
    reader, writer = BlockReader(space, bodies), BlockWriter(connection, space, bodies, counters)
    writer.thoroughly = True
    moved = []
    for event_id, position, block, place, size in rows:
        body = reader.read(connection, block, place, size)
        moved.append((*writer.add(context, position, body)[:2], space, event_id))
    made, taken = writer.close(), {(space, row[2]) for row in rows}
    connection.executemany(
        "UPDATE nodes SET block = ?, place = ? WHERE space = ? AND event_id = ?", moved
    )
    connection.executemany("DELETE FROM blocks WHERE space = ? AND block = ?", taken)
    left = connection.execute(
        "SELECT count(*) FROM blocks WHERE space = ? AND context = ?"
        " AND size < 16384 AND shared = 0",
        (space, context),
    ).fetchone()[0]
    connection.execute(
        "UPDATE contexts SET loose = ? WHERE space = ? AND ref = ?",
        (left if len(taken) == PACKED_BLOCKS else made, space, context),
    )
    counters.save()
    return True
