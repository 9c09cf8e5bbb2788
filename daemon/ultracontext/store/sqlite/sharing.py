"""Bodies of a copied session, stored as differences to those of the session it was copied from.

A native fork holds its parent's records again, with a session id and a few other fields of its own.
Its blocks are compressed with the parent's block as dictionary: what both have in common is there
once, and every body is still given back byte by byte. Which block that is, the strings in them
decide, so that nothing has to be known of an agent's records.

`blocks.codec` of a difference is `-2 - base`. A base is no difference itself; it is marked, and
stays as it is until `give_back` has made the blocks independent that are differences to it.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ultracontext.store.sqlite.blocks import (
    BASE,
    DIFFERENCE,
    FOREIGN,
    LOOSE_BYTES,
    BlockReader,
    pack_context,
)
from ultracontext.store.sqlite.bodies import PLAIN, Bodies, base_of, codec_over
from ultracontext.store.sqlite.connection import Connection
from ultracontext.store.sqlite.roots import Counters

STRING = re.compile(rb'[^"\\]{24,400}')
"""What two records may be known by: a stretch of text without quotes."""
MOST_STRINGS = 400_000
"""Remembered of the original; what lies beyond is not compared."""
ALIKE = 0.25
"""Share of a block's strings that the original has too, from which on it is a copy."""

BLOCKS = (
    "SELECT DISTINCT n.block, b.size, b.shared, b.codec FROM nodes n"
    " JOIN blocks b ON b.space = n.space AND b.block = n.block"
    " WHERE n.space = ? AND n.context = ? AND n.block > ? ORDER BY n.block LIMIT 64"
)
MEMBERS = (
    "SELECT event_id, position, place, size FROM nodes WHERE space = ? AND context = ?"
    " AND block = ? ORDER BY place"
)
PUT = (
    "INSERT INTO blocks (space, block, context, first, last, size, shared, codec, data)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
MOVE = (
    "UPDATE nodes SET block = ?, place = ? WHERE space = ? AND event_id = ?"
    " AND block = ? AND place = ?"
)


@dataclass(slots=True)
class Run:
    """Neighbouring bodies that one block of the original resembles."""

    base: int
    rows: list[tuple[bytes, int, int, int]] = field(default_factory=list)
    """(event id, position, place, size)."""


class Sharing:
    """One pass over a copy. Steps are transactions of their own; it may be left at any."""

    def __init__(
        self, *, space: str, reader: Connection, writer: Connection, bodies: Bodies
    ) -> None:
        self.space = space
        self.reader = reader
        self.writer = writer
        self.bodies = bodies
        self.blocks = BlockReader(space, bodies)
        self.index: dict[int, int] = {}
        """Hash of a string → the base block that has it; 0 where several do."""

    def run(self, copy: str, original: str) -> Iterator[int]:
        """Gives at each step how many blocks became differences."""
        refs = [self._ref(copy), self._ref(original)]
        if None in refs or refs[0] == refs[1]:
            return
        for ref in refs:
            while self._pack(ref):
                yield 0
        for block, _, codec in self._blocks(refs[1]):
            self._learn(block, base_of(codec) if codec < PLAIN else block)
            yield 0
        if not any(self.index.values()):
            return
        for block, shared, _ in self._blocks(refs[0]):
            if shared in (FOREIGN, DIFFERENCE):
                continue
            yield self._share(refs[0] or 0, block, is_base=shared == BASE)

    def _ref(self, context_id: str) -> int | None:
        with self.reader.reading() as connection:
            found = connection.execute(
                "SELECT ref FROM contexts WHERE space = ? AND context_id = ?",
                (self.space, context_id),
            ).fetchone()
        return None if found is None else int(found[0])

    def _pack(self, ref: int | None) -> bool:
        """Single records compare badly."""
        with self.writer.writing() as connection:
            return pack_context(connection, self.space, self.bodies, ref or 0)

    def _blocks(self, ref: int | None) -> Iterator[tuple[int, int, int]]:
        """(block, shared, codec) of a context, as they are when it comes to them."""
        after = -1
        while True:
            with self.reader.reading() as connection:
                rows = connection.execute(BLOCKS, (self.space, ref, after)).fetchall()
            for block, _, shared, codec in rows:
                yield block, shared, codec
            if not rows:
                return
            after = rows[-1][0]

    # ---- comparing -------------------------------------------------------------------------------
    def _learn(self, block: int, base: int) -> None:
        with self.reader.reading() as connection:
            data = self.blocks.whole(connection, block)
        for string in STRING.findall(data):
            key = hash(string)
            known = self.index.get(key)
            if known is None:
                if len(self.index) < MOST_STRINGS:
                    self.index[key] = base
            elif known != base:
                self.index[key] = 0

    def _runs(self, data: bytes, rows: list[tuple[bytes, int, int, int]]) -> list[Run]:
        """The rows of a block by the base that each resembles; none when it is no copy."""
        alike = total = 0
        runs: list[Run] = []
        for row in rows:
            votes: Counter[int] = Counter()
            for string in STRING.findall(data[row[2] : row[2] + row[3]]):
                total += len(string)
                base = self.index.get(hash(string), -1)
                alike += len(string) * (base >= 0)
                if base > 0:
                    votes[base] += len(string)
            found = votes.most_common(1)[0][0] if votes else None
            if not runs or (found is not None and found != runs[-1].base and runs[-1].base):
                runs.append(Run(found or 0))
            runs[-1].base = runs[-1].base or found or 0
            runs[-1].rows.append(row)
        runs = [run for run in runs if run.base]
        if alike < total * ALIKE or sum(len(run.rows) for run in runs) < len(rows):
            return []
        return runs

    # ---- writing ---------------------------------------------------------------------------------
    def _share(self, ref: int, block: int, *, is_base: bool) -> int:
        with self.reader.snapshot() as connection:
            rows = connection.execute(MEMBERS, (self.space, ref, block)).fetchall()
            data = self.blocks.whole(connection, block) if rows else b""
        runs = self._runs(data, rows)
        if not runs or any(run.base == block for run in runs):
            return 0
        try:
            with self.writer.writing() as connection:
                return Step(self, connection, ref).run(block, data, runs, is_base=is_base)
        except BaseException:
            self.bodies.forget()
            raise


class Step:
    """One write transaction: a block is replaced by differences."""

    def __init__(self, work: Sharing, connection: sqlite3.Connection, ref: int) -> None:
        self.work = work
        self.space = work.space
        self.connection = connection
        self.ref = ref
        work.bodies.prepare(connection)
        self.counters = Counters(connection, self.space, 0)
        self.reader = BlockReader(self.space, work.bodies)

    def run(self, block: int, data: bytes, runs: list[Run], *, is_base: bool) -> int:
        bases = {run.base: self._base(run.base) for run in runs}
        if None in bases.values() or not self._unchanged(block, is_base=is_base):
            return 0
        written = [self._write(run, data, bases[run.base] or b"") for run in runs]
        moved = [row for rows in written for row in rows]
        done = self.connection.executemany(
            MOVE, [(new, at, self.space, name, block, old) for name, new, at, old in moved]
        ).rowcount
        if done != len(moved):
            raise RuntimeError("a node was moved meanwhile")
        if is_base:
            largest = max(runs, key=lambda run: len(run.rows)).base
            rebase(self.connection, self.space, self.work.bodies, block, largest)
        self._drop(block)
        self.counters.save()
        return len(runs)

    def _base(self, block: int) -> bytes | None:
        """What a base holds; from now on it stays. None when it is gone or no base any more."""
        found = self.connection.execute(
            "SELECT shared, size, context, codec FROM blocks WHERE space = ? AND block = ?",
            (self.space, block),
        ).fetchone()
        if found is None or found[3] < PLAIN:
            return None
        if found[0] == 0:
            self.connection.execute(
                "UPDATE blocks SET shared = ? WHERE space = ? AND block = ?",
                (BASE, self.space, block),
            )
            if found[1] < LOOSE_BYTES:
                self._loosen(found[2])
        return self.reader.whole(self.connection, block)

    def _unchanged(self, block: int, *, is_base: bool) -> bool:
        found = self.connection.execute(
            "SELECT shared FROM blocks WHERE space = ? AND block = ?", (self.space, block)
        ).fetchone()
        return found is not None and found[0] == (BASE if is_base else 0)

    def _write(self, run: Run, data: bytes, base: bytes) -> list[tuple[bytes, int, int, int]]:
        """(event id, block, place, old place) of each body."""
        block, size, pieces, moved = self.counters.next_block, 0, [], []
        self.counters.next_block += 1
        for name, _, place, length in run.rows:
            moved.append((name, block, size, place))
            pieces.append(data[place : place + length])
            size += length
        places = [position for _, position, _, _ in run.rows]
        packed = self.work.bodies.difference(b"".join(pieces), base)
        self.connection.execute(
            PUT,
            (
                self.space, block, self.ref, min(places), max(places), size,
                DIFFERENCE, codec_over(run.base), packed,
            ),
        )  # fmt: skip
        return moved

    def _drop(self, block: int) -> None:
        size = self.connection.execute(
            "DELETE FROM blocks WHERE space = ? AND block = ? RETURNING size", (self.space, block)
        ).fetchall()
        if size and size[0][0] < LOOSE_BYTES:
            self._loosen(self.ref)

    def _loosen(self, ref: int) -> None:
        self.connection.execute(
            "UPDATE contexts SET loose = max(0, loose - 1) WHERE space = ? AND ref = ?",
            (self.space, ref),
        )


def differences(connection: sqlite3.Connection, space: str, base: int) -> list[int]:
    """The blocks that are differences to a block."""
    rows = connection.execute(
        "SELECT block FROM blocks WHERE space = ? AND codec = ? AND codec < -1",
        (space, codec_over(base)),
    )
    return [row[0] for row in rows]


def rebase(connection: sqlite3.Connection, space: str, bodies: Bodies, old: int, new: int) -> None:
    """Makes the differences to one block differences to another."""
    reader = BlockReader(space, bodies)
    base = reader.whole(connection, new)
    for block in differences(connection, space, old):
        packed = bodies.difference(reader.whole(connection, block), base)
        connection.execute(
            "UPDATE blocks SET codec = ?, data = ? WHERE space = ? AND block = ?",
            (codec_over(new), packed, space, block),
        )


def give_back(
    connection: sqlite3.Connection, space: str, bodies: Bodies, bases: Iterable[int]
) -> int:
    """Makes independent what differs from these blocks, so that they may go; how many blocks were.

    Inside a write transaction. The differences' bodies are given back to their own context."""
    reader, count = BlockReader(space, bodies), 0
    for base in bases:
        for block in differences(connection, space, base):
            codec, data = bodies.pack(reader.whole(connection, block), thoroughly=True)
            connection.execute(
                "UPDATE blocks SET codec = ?, data = ?, shared = iif(shared = ?, 0, shared)"
                " WHERE space = ? AND block = ?",
                (codec, data, DIFFERENCE, space, block),
            )
            count += 1
    return count
