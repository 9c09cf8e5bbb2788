"""The write of capture: one batch, one transaction.

counters of the space → contexts (made if new) → nodes → dedup → facts → checkpoints → totals
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b
from typing import Any

from ultracontext.chain import DIGEST_BYTES, content_digest
from ultracontext.errors import StoreError
from ultracontext.model import EventId
from ultracontext.model.failpoint import failpoint
from ultracontext.redaction import require_masked
from ultracontext.store.base import CaptureBatch, Event
from ultracontext.store.sqlite import dedup, extras, roots, sources
from ultracontext.store.sqlite.blocks import BlockWriter
from ultracontext.store.sqlite.bodies import Bodies
from ultracontext.store.sqlite.marks import MarkWriter, in_record
from ultracontext.store.sqlite.names import Kinds
from ultracontext.store.sqlite.replacing import remove
from ultracontext.store.sqlite.versions import Context, begin
from ultracontext.store.sqlite.wiping import without_wiped
from ultracontext.store.values import column, encode_text, milliseconds, sane_time, words

INSERT_NODE = (
    "INSERT INTO nodes (space, context, position, born, revision, event_id, parent,"
    " log, source, start,"
    " length, ordinal, kind, call_id, time_ms, rule_set, opaque, block, place, size, digest, chain,"
    " extra) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
CHAIN = 21
"""Place of `chain` in a row."""
INSERT_DEDUP = (
    "INSERT OR IGNORE INTO dedup (space, event_id, digest, source, stored_s) VALUES (?, ?, ?, ?, ?)"
)
INSERT_LOG = (
    "INSERT INTO log (space, entry, context, operation, position, count, stored_ms)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
SUPERSEDE = (
    "UPDATE nodes SET superseded = ?4 WHERE space = ?1 AND context = ?2 AND position = ?3"
    " AND superseded IS NULL AND length(event_id) = 16 AND revision < (SELECT"
    " max(revision) FROM nodes"
    " WHERE space = ?1 AND context = ?2 AND position = ?3 AND superseded IS NULL)"
)

COVER = "UPDATE nodes SET superseded = ? WHERE space = ? AND event_id = ?"


class Append:
    """One batch on its way into an open write transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        space: str,
        *,
        bodies: Bodies,
        kinds: Kinds,
        now: datetime,
    ) -> None:
        self.connection = connection
        self.space = space
        self.bodies = bodies
        self.kinds = kinds
        self.now_ms = milliseconds(now)
        self.spaces = roots.Counters(connection, space, self.now_ms)
        self.blocks = BlockWriter(connection, space, bodies, self.spaces)
        self.marks = MarkWriter(connection, space)
        self.rows: list[tuple[Any, ...]] = []
        self.log: list[tuple[Any, ...]] = []
        self.revised: list[tuple[str, int, int, int]] = []
        self.covered: list[tuple[int, str, bytes]] = []
        """Revisions of messages that were edited or removed by hand: those stay so."""

    def run(self, batch: CaptureBatch, *, hits: int = 0) -> None:
        self.bodies.prepare(self.connection)
        batch = without_wiped(self.connection, self.space, batch)
        mtimes = {c.source_id: c.mtime_ns // 1_000_000 for c in batch.checkpoints}
        contexts = roots.Roots(self.connection, self.space, self.spaces, now_ms=self.now_ms)
        for (agent, session_id), events in grouped(batch.events).items():
            root = contexts.take(agent, session_id, events, file_ms=mtimes.get(events[0].source_id))
            self._context(root, events)
        self._insert(batch.events)
        counts = dict(batch.counts)
        counts["dedup.rows"] = self._remember(batch.events)
        counts["dedup.hits"] = hits
        contexts.save(batch.facts)
        failpoint("after_facts")
        sources.put(self.connection, self.space, batch.checkpoints)
        failpoint("after_checkpoint")
        sources.add(self.connection, self.space, counts)
        highest = max((e.source_id for e in batch.events), default=0)
        self.spaces.save(highest_source=max([highest, *mtimes], default=0))

    def _context(self, root: roots.Root, events: Sequence[Event]) -> None:
        first, entry, new = root.next_position, self.spaces.next_log, 0
        self.spaces.next_log += 1
        places: dict[EventId, int] = {}
        newest = root.updated_ms
        for event in events:
            if event.version is not None:
                self._begin(root, event, places, newest)
            newest = max(newest, sane_time(event.time_ms) or newest)
            if event.revision and (place := self._place(root, event, places)) is not None:
                if event.replaces:
                    self._replace(root, event)
                self._revise(root, event, place)
                continue
            position = first + new
            new += 1
            places[event.event_id] = position
            self._add(root, event, position, entry, root.tail)
        root.next_position = first + new
        root.grow(events)
        root.loose = self.blocks.close()
        if new:
            self.log.append((self.space, entry, root.ref, "append", first, new, self.now_ms))

    def _begin(
        self, root: roots.Root, event: Event, places: dict[EventId, int], newest: int
    ) -> None:
        """A version of the context begins with this event, if what it names is there.

        It is never older than what was said before it (`newest`): the record that tells of it may
        carry the session's start as its time."""
        if event.version is None:
            return
        time_ms, entry = sane_time(event.time_ms), self.spaces.next_log
        when = max(newest, time_ms or newest)
        context = Context(self.connection, self.space, root, places)
        if begin(context, event.version, log=entry, now_ms=when):
            self.spaces.next_log += 1
            self.log.append((self.space, entry, root.ref, "version", None, None, self.now_ms))

    def _place(self, root: roots.Root, event: Event, places: dict[EventId, int]) -> int | None:
        """Position of the record that this is a revision of; None when it is not here."""
        if event.first is None:
            return None
        if event.first in places:
            return places[event.first]
        found = self.connection.execute(
            "SELECT position FROM nodes WHERE space = ? AND event_id = ? AND context = ?",
            (self.space, event.first, root.ref),
        ).fetchone()
        return None if found is None else int(found[0])

    def _revise(self, root: roots.Root, event: Event, position: int) -> None:
        entry = self.spaces.next_log
        self.spaces.next_log += 1
        tail = root.tail
        self._add(root, event, position, entry, self._replaced_chain(root, position))
        root.tail = tail
        self.log.append((self.space, entry, root.ref, "revise", position, 1, self.now_ms))
        if not event.replaces and root.version and self._covered(root, position):
            self.covered.append((root.version, self.space, event.event_id))
        else:
            self.revised.append((self.space, root.ref, position, root.version))

    def _covered(self, root: roots.Root, position: int) -> bool:
        """Whether no captured row of the place is shown any more."""
        if any(row[1] == root.ref and row[2] == position and not row[4] for row in self.rows):
            return False
        found = self.connection.execute(
            "SELECT max(superseded IS NULL) FROM nodes WHERE space = ? AND context = ?"
            " AND position = ? AND length(event_id) = 16",
            (self.space, root.ref, position),
        ).fetchone()
        return bool(found[0] == 0)

    def _replace(self, root: roots.Root, event: Event) -> None:
        """Takes out what is stored under the event's id, so that it can come in anew."""
        found = remove(self.connection, self.space, event.event_id, self.blocks, self.marks)
        if found is not None:
            root.nodes -= 1
            if found[0] is not None:
                self.covered.append((found[0], self.space, event.event_id))
            self.connection.execute(
                "UPDATE contexts SET facts_nodes = NULL WHERE space = ? AND ref = ?",
                (self.space, root.ref),
            )
            self.connection.execute(
                "DELETE FROM dedup WHERE space = ? AND event_id = ?", (self.space, event.event_id)
            )

    def _replaced_chain(self, root: roots.Root, position: int) -> bytes:
        """Link of the newest captured row at the place, rows of this batch included."""
        for row in reversed(self.rows):
            if row[1] == root.ref and row[2] == position:
                return bytes(row[CHAIN])
        found = self.connection.execute(
            "SELECT chain FROM nodes WHERE space = ? AND context = ? AND position = ?"
            " AND length(event_id) = 16 ORDER BY born DESC, revision DESC LIMIT 1",
            (self.space, root.ref, position),
        ).fetchone()
        return bytes(found[0] or b"") if found else b""

    def _add(self, root: roots.Root, event: Event, position: int, entry: int, tail: bytes) -> None:
        """A row; its link becomes the tail of the context."""
        record = require_masked(event.record)
        text, time_ms = record.text, sane_time(event.time_ms)
        body = record.body if text is None else encode_text(text)
        extra = extras.of(record)
        content = record.content
        if extra is not None:
            extras.keep(self.connection, self.space, event.event_id, record)
            content = None
        if record.masks:
            self.marks.add(root.ref, in_record(record), self.now_ms if time_ms is None else time_ms)
        if content is None:
            content = content_digest(body, extra)
        root.tail = blake2b(tail + content, digest_size=DIGEST_BYTES).digest()
        block, place, size = self.blocks.add(root.ref, position, body)
        self.rows.append(
            (
                self.space, root.ref, position, root.version, event.revision, event.event_id,
                event.first, entry, event.source_id, record.start, record.end - record.start,
                event.ordinal,
                self.kinds.ref(self.connection, (event.kind, event.role, words(event.event_type))),
                column(event.call_id), time_ms, record.rule_set, text is not None, block, place,
                size, record.digest, root.tail, extras.squeezed(extra),
            )
        )  # fmt: skip

    def _insert(self, events: Sequence[Event]) -> None:
        self.connection.executemany(INSERT_NODE, self.rows)
        self.connection.executemany(INSERT_LOG, self.log)
        self.marks.save()
        for revised in self.revised:
            self.connection.execute(SUPERSEDE, revised)
        self.connection.executemany(COVER, self.covered)
        failpoint("after_insert")

    def _remember(self, events: Sequence[Event]) -> int:
        stored_s = self.now_ms // 1000
        rows = [(self.space, e.event_id, e.record.digest, e.source_id, stored_s) for e in events]
        rows.sort(key=_event)
        added = self.connection.executemany(INSERT_DEDUP, rows).rowcount if rows else 0
        failpoint("after_dedup")
        return added


def _event(row: tuple[Any, ...]) -> bytes:
    return bytes(row[1])


def grouped(events: Sequence[Event]) -> dict[tuple[str, str], list[Event]]:
    """By session, order kept."""
    groups: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        key = (event.record.agent, event.session_id)
        if key in groups:
            groups[key].append(event)
        else:
            groups[key] = [event]
    return groups


def without_present(
    connection: sqlite3.Connection, space: str, batch: CaptureBatch
) -> CaptureBatch:
    """The batch less the events that are stored already or stand in it twice."""
    ids = list(dict.fromkeys(e.event_id for e in batch.events))
    present = set(dedup.look_up(connection, space, dedup.NODES, ids))
    kept: list[Event] = []
    for event in batch.events:
        if event.event_id not in present or event.replaces:
            present.add(event.event_id)
            kept.append(event)
    left_out = len(batch.events) - len(kept)
    if not left_out:
        raise StoreError("the batch breaks a rule of the store", code="store")
    counts = dict(batch.counts)
    counts["present"] = counts.get("present", 0) + left_out
    return CaptureBatch(
        events=kept, checkpoints=batch.checkpoints, facts=batch.facts, counts=counts
    )
