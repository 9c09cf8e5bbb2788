"""Masks stored nodes again after a change of the rules.

A step reads some blocks of one context, masks their bodies outside of any transaction, and writes
them in one: new blocks, the nodes' new places and rule set, and what changed in `remasks`. Nodes
say themselves under which rules they are masked, so that a pass that was killed goes on where it
was. Nothing but the content of a node changes: ids, order, times and chains stay.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ultracontext.chain import Remask, content_digest, remask_link
from ultracontext.errors import StoreError
from ultracontext.logs import get_logger
from ultracontext.store.sqlite import behind, extras, marks
from ultracontext.store.sqlite.blocks import LOOSE_BYTES, BlockReader, BlockWriter
from ultracontext.store.sqlite.bodies import Bodies
from ultracontext.store.sqlite.connection import Connection
from ultracontext.store.sqlite.content import Content, Remasker
from ultracontext.store.sqlite.facts import finish
from ultracontext.store.sqlite.roots import Counters

log = get_logger(__name__)

STEP_BYTES = 96 * 1024
"""Bodies in one transaction, as a rule; a single larger one has a transaction of its own."""
STEP_ROWS = 400
LARGE_WEIGHT = 64 * 1024
ALTERED = "a node was changed by another program while it was masked again"

COLUMNS = "position, born, revision, event_id, rule_set, opaque, block, place, size, extra, call_id"
PAGE = (
    f"SELECT {COLUMNS}, time_ms, form FROM nodes WHERE space = ? AND context = ?"  # noqa: S608
    " AND (position, born, revision) > (?, ?, ?) AND rule_set <> ? AND form IS NULL"
    " ORDER BY position, born, revision LIMIT ?"
)
OF_BLOCK = (
    f"SELECT {COLUMNS}, time_ms, form FROM nodes WHERE space = ?1 AND context = ?2"  # noqa: S608
    " AND position BETWEEN ?3 AND ?4 AND block = ?5 ORDER BY place, position, born, revision"
)
UPDATE = (
    "UPDATE nodes SET rule_set = ?, block = ?, place = ?, size = ?, extra = ?, call_id = ?"
    " WHERE space = ? AND event_id = ? AND block IS ? AND place IS ? AND rule_set IS ?"
)
PUT_REMASK = (
    "INSERT INTO remasks (space, context, number, event_id, rule_set, before, after, chain,"
    " stored_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
PUT_LOG = (
    "INSERT INTO log (space, entry, context, operation, position, count, stored_ms)"
    " VALUES (?, ?, ?, 'remask', ?, ?, ?)"
)
END = 1 << 62
Key = tuple[int, int, int]


@dataclass(slots=True)
class Row:
    """A node as it stands, and its content before and after."""

    position: int
    born: int
    revision: int
    event_id: bytes
    rule_set: int | None
    """None: stored as given by a program, and left so."""
    opaque: int
    block: int | None
    place: int | None
    size: int | None
    extra: bytes | None
    call_id: str | None
    time_ms: int | None
    form: int | None
    """Not null: a program's message, masked or not when it came, and left so."""
    old: Content
    new: Content

    @property
    def key(self) -> Key:
        return self.position, self.born, self.revision

    @property
    def changed(self) -> bool:
        return self.new.body != self.old.body or self.new.extra != self.old.extra


class Remasking:
    """One pass over a space."""

    def __init__(
        self,
        *,
        space: str,
        reader: Connection,
        writer: Connection,
        bodies: Bodies,
        remasker: Remasker,
        now_ms: Callable[[], int],
    ) -> None:
        self.space = space
        self.reader = reader
        self.writer = writer
        self.bodies = bodies
        self.blocks = BlockReader(space, bodies)
        self.remasker = remasker
        self.rule_set = remasker.redactor.rule_set
        self.now_ms = now_ms
        self.shared = False

    def run(self) -> Iterator[int]:
        with self.reader.reading() as connection:
            found = behind.contexts(connection, self.space, self.rule_set)
        for ref, _ in found:
            try:
                yield from self._context(ref)
            except StoreError as error:
                if error.code != "store-corrupt":
                    raise
                log.warning("context-not-remasked", code=error.code, context=ref)
        if self.shared:
            self._drop_unused()

    def _context(self, ref: int) -> Iterator[int]:
        after: Key = (-1, -1, -1)
        while True:
            rows, after = self._next(ref, after)
            if not rows:
                break
            self._store(ref, rows)
            yield len(rows)
        with self.writer.writing() as connection:
            finish(connection, self.space, ref, self.remasker.redactor)
        yield 0

    # ---- reading and masking ---------------------------------------------------------------------
    def _next(self, ref: int, after: Key) -> tuple[list[Row], Key]:
        """The next rows that are behind, with all others of their blocks, masked."""
        with self.reader.snapshot() as connection:
            page = connection.execute(
                PAGE, (self.space, ref, *after, self.rule_set, STEP_ROWS)
            ).fetchall()
            rows: list[Row] = []
            taken: set[int | None] = set()
            size = 0
            for values in page:
                block = values[6]
                if block not in taken or block is None:
                    if rows and size >= STEP_BYTES:
                        break
                    taken.add(block)
                    fresh = self._of_block(connection, ref, block, values)
                    size += sum(_weight(row) for row in fresh)
                    rows += fresh
                after = values[:3]
        for row in rows:
            if row.form is None and row.rule_set not in (None, self.rule_set):
                row.new = self.remasker.masked(row.old, opaque=bool(row.opaque), fetch=self._large)
        return rows, after

    def _of_block(
        self, connection: sqlite3.Connection, ref: int, block: int | None, values: tuple[Any, ...]
    ) -> list[Row]:
        if block is None:
            return [self._row(connection, values)]
        found = connection.execute(
            "SELECT context, first, last, shared FROM blocks WHERE space = ? AND block = ?",
            (self.space, block),
        ).fetchone()
        own = found is not None and found[0] == ref and not found[3]
        first, last = (found[1], found[2]) if own else (0, END)
        rows = connection.execute(OF_BLOCK, (self.space, ref, first, last, block)).fetchall()
        return [self._row(connection, row) for row in rows]

    def _row(self, connection: sqlite3.Connection, values: tuple[Any, ...]) -> Row:
        block, place, size, extra = values[6:10]
        body = self.blocks.read(connection, block, place or 0, size or 0)
        content = Content(body=body, extra=extras.unsqueezed(extra))
        return Row(*[*values, content, content])

    def _large(self, digest: str) -> bytes:
        with self.reader.reading() as connection:
            return extras.fetch(connection, self.space, digest)

    # ---- writing ---------------------------------------------------------------------------------
    def _store(self, ref: int, rows: list[Row]) -> None:
        try:
            with self.writer.writing() as connection:
                Step(self, connection, ref).run(rows)
        except BaseException:
            self.bodies.forget()
            raise
        self.blocks = BlockReader(self.space, self.bodies)

    def _drop_unused(self) -> None:
        """Blocks that forks held in common, and that no node is in any more."""
        with self.reader.reading() as connection:
            unused = connection.execute(
                "SELECT space, block FROM blocks WHERE space = ?1 AND shared = 1 AND block NOT IN"
                " (SELECT block FROM nodes WHERE space = ?1 AND block IS NOT NULL)",
                (self.space,),
            ).fetchall()
        with self.writer.writing() as connection:
            connection.executemany("DELETE FROM blocks WHERE space = ? AND block = ?", unused)


def _weight(row: Row) -> int:
    """How much of a step a row takes: its body, and what may lie beside it."""
    return (row.size or 0) + (LARGE_WEIGHT if row.extra is not None else 0)


class Step:
    """One write transaction of a pass."""

    def __init__(self, work: Remasking, connection: sqlite3.Connection, ref: int) -> None:
        self.work = work
        self.space = work.space
        self.connection = connection
        self.ref = ref
        self.now_ms = work.now_ms()
        work.bodies.prepare(connection)
        self.counters = Counters(connection, self.space, self.now_ms)
        self.blocks = BlockWriter(connection, self.space, work.bodies, self.counters)
        self.blocks.thoroughly = True
        self.marks = marks.MarkWriter(connection, self.space)
        self.loose = 0

    def run(self, rows: list[Row]) -> None:
        updates = []
        for block, group in groupby(rows, key=lambda row: row.block):
            members = list(group)
            moves = block is not None and any(row.new.body != row.old.body for row in members)
            if moves and block is not None:
                self._leave(block)
            updates += [self._update(row, moves=moves) for row in members]
        self.loose += self.blocks.close()
        done = self.connection.executemany(UPDATE, updates).rowcount
        if done != len(updates):
            raise StoreError(ALTERED, hint="It is tried again", code="store-busy")
        changed = [row for row in rows if row.changed]
        if changed:
            self._record(changed)
        self.connection.execute(
            "UPDATE contexts SET loose = max(0, loose + ?) WHERE space = ? AND ref = ?",
            (self.loose, self.space, self.ref),
        )
        self.marks.save()
        self.counters.save()

    def _leave(self, block: int) -> None:
        """The block's bodies move elsewhere; a fork may still need it."""
        shared = self.connection.execute(
            "SELECT shared, size FROM blocks WHERE space = ? AND block = ?", (self.space, block)
        ).fetchone()
        if shared is None or shared[0]:
            self.work.shared = True
            return
        self.loose -= shared[1] < LOOSE_BYTES
        self.connection.execute(
            "DELETE FROM blocks WHERE space = ? AND block = ?", (self.space, block)
        )

    def _update(self, row: Row, *, moves: bool) -> tuple[object, ...]:
        place: tuple[int | None, int | None, int | None] = (row.block, row.place, row.size)
        if moves:
            place = self.blocks.add(self.ref, row.position, row.new.body)
        call_id = row.call_id
        if row.changed and call_id is not None:
            call_id = self.work.remasker.text(call_id)
        extra = row.extra
        if row.new.extra != row.old.extra:
            extra = extras.squeezed(row.new.extra)
        left = row.rule_set is None or row.form is not None
        rules = row.rule_set if left else self.work.rule_set
        return (
            rules, *place, extra, call_id,
            self.space, row.event_id, row.block, row.place, row.rule_set,
        )  # fmt: skip

    def _record(self, rows: list[Row]) -> None:
        """What changed: in `remasks`, in the log that feeds others, in the summary of masks."""
        last, previous = self.connection.execute(
            "SELECT number, chain FROM remasks WHERE space = ? AND context = ?"
            " ORDER BY number DESC LIMIT 1",
            (self.space, self.ref),
        ).fetchone() or (-1, b"")
        made = []
        for number, row in enumerate(rows, start=last + 1):
            before = content_digest(row.old.body, row.old.extra)
            after = content_digest(row.new.body, row.new.extra)
            previous = remask_link(
                previous, event_id=row.event_id, rule_set=self.work.rule_set,
                before=before, after=after,
            )  # fmt: skip
            made.append(
                (self.space, self.ref, number, row.event_id, self.work.rule_set, before, after,
                 previous, self.now_ms)
            )  # fmt: skip
            self._strings(row)
        self.connection.executemany(PUT_REMASK, made)
        positions = [row.position for row in rows]
        first, count = min(positions), max(positions) - min(positions) + 1
        entry = (self.space, self.counters.next_log, self.ref, first, count, self.now_ms)
        self.connection.execute(PUT_LOG, entry)
        self.counters.next_log += 1

    def _strings(self, row: Row) -> None:
        extras.put(self.connection, self.space, row.event_id, row.new.added.items())
        extras.drop(self.connection, self.space, row.event_id, row.new.dropped)
        found = marks.in_bytes(row.new.body) + marks.in_bytes(row.new.extra or b"")
        for data in row.new.added.values():
            found += marks.in_bytes(data)
        found.subtract(marks.in_bytes(row.old.body) + marks.in_bytes(row.old.extra or b""))
        time_ms = self.now_ms if row.time_ms is None else row.time_ms
        self.marks.add(self.ref, {mark: n for mark, n in found.items() if n}, time_ms)


def remasks_of(connection: sqlite3.Connection, space: str, context_id: str) -> list[Remask]:
    """What was recorded of one context, oldest first."""
    rows = connection.execute(
        "SELECT event_id, rule_set, before, after, chain FROM remasks WHERE space = ?1"
        " AND context = (SELECT ref FROM contexts WHERE space = ?1 AND context_id = ?2)"
        " ORDER BY number",
        (space, context_id),
    )
    return [
        Remask(event_id=name, rule_set=rules, before=before, after=after, chain=chain)
        for name, rules, before, after, chain in rows
    ]
