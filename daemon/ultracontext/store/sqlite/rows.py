"""Rows of contexts with history, inside one transaction of the file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ultracontext.chain import BUCKET, Remask
from ultracontext.model import SessionFacts
from ultracontext.store.base import MESSAGE_KIND, StoredNode
from ultracontext.store.contexts import Tombstone
from ultracontext.store.history import Content, ContextFilter, Head, Key, Made, Root, Row
from ultracontext.store.history.selection import seal_of
from ultracontext.store.sqlite import extras, wiping
from ultracontext.store.sqlite.blocks import BlockReader, BlockWriter
from ultracontext.store.sqlite.bodies import Bodies
from ultracontext.store.sqlite.names import Kinds
from ultracontext.store.sqlite.nodes import NodeReader
from ultracontext.store.sqlite.remasking import PUT_REMASK, remasks_of
from ultracontext.store.sqlite.roots import Counters
from ultracontext.store.values import load_as, milliseconds, words

ROOT = (
    "SELECT ref, context_id, agent, session_id, origin, copied, version, nodes, next_position,"
    " removed, coalesce(tail, x''), metadata, facts, created_ms, updated_ms, written_ms"
    " FROM contexts WHERE space = :space"
)
CHILDREN = (
    ROOT + " AND parent_id = :name AND (origin IS NOT NULL OR relation = 'fork')"
    " ORDER BY created_ms, context_id"
)
ADD_ROOT = (
    "INSERT INTO contexts (space, context_id, ref, agent, metadata, created_ms, updated_ms,"
    " stored_ms, written_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
SAVE_ROOT = (
    "UPDATE contexts SET origin = :origin, parent_id = coalesce(:parent, parent_id),"
    " copied = :copied, version = :version, nodes = :nodes, next_position = :next_position,"
    " removed = :removed, tail = :tail, metadata = :metadata, updated_ms = :updated_ms,"
    " written_ms = :written_ms, loose = loose + :loose,"
    " rule_nodes = iif(rule_nodes IS nodes OR agent IS NULL, :nodes, rule_nodes),"
    " facts_nodes = iif(session_id IS NULL, :nodes, facts_nodes)"
    " WHERE space = :space AND ref = :ref"
)
HEAD = (
    "SELECT version, head_id, prev_id, operation, operation_id, affected, metadata,"
    " context_metadata, repair, positions, removed, digest, created_ms"
    " FROM heads WHERE space = :space AND context = :ref"
)
NEWEST_BEFORE = HEAD + " AND created_ms <= :ms ORDER BY version DESC LIMIT 1"
ADD_HEAD = (
    "INSERT INTO heads (space, context, version, head_id, prev_id, operation, operation_id,"
    " affected, metadata, context_metadata, repair, positions, removed, digest, log, created_ms)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
COLUMNS = (
    "n.position, n.born, n.revision, n.superseded, n.event_id, n.parent, n.form, n.time_ms,"
    " (SELECT stored_ms FROM log WHERE space = n.space AND entry = n.log), n.rule_set, n.chain,"
    " n.base, n.size, n.source, n.start, n.length, n.kind, n.opaque, n.block, n.place, n.extra"
)
PAGE = (
    f"SELECT {COLUMNS} FROM nodes n WHERE n.space = :space AND n.context = :ref"  # noqa: S608
    " AND (n.position, n.born, n.revision) > (:position, :born, :revision)"
    " AND n.position < :until ORDER BY n.position, n.born, n.revision LIMIT :limit"
)
AT = (
    f"SELECT {COLUMNS} FROM nodes n WHERE n.space = :space AND n.context = :ref"  # noqa: S608
    " AND n.position = :position ORDER BY n.born, n.revision"
)
BY_NAME = (
    f"SELECT c.context_id, {COLUMNS} FROM nodes n JOIN contexts c"  # noqa: S608
    " ON c.space = n.space AND c.ref = n.context"
    " WHERE n.space = :space AND n.event_id BETWEEN :low AND :high LIMIT 1"
)
ADD_NODE = (
    "INSERT INTO nodes (space, context, position, born, revision, event_id, parent, log, kind,"
    " time_ms, rule_set, opaque, block, place, size, chain, form, base)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?)"
)
ADD_LOG = (
    "INSERT INTO log (space, entry, context, operation, position, count, stored_ms)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
STANDS_ON = "SELECT p.chain FROM nodes p WHERE p.space = n.space AND p.context = n.context AND"
"""What a row's link stands on, where it is no copy: see `chain.verify`."""
COPY = (
    "INSERT INTO nodes (space, context, position, born, revision, event_id,"  # noqa: S608
    " parent, log, source, start,"
    " length, ordinal, kind, call_id, time_ms, rule_set, opaque, block, place, size, chain,"
    " extra, form, base)"
    " SELECT n.space, :target, row_number() OVER (ORDER BY n.position) - 1, 0, 0,"
    " copied_id(:target_id, n.event_id), n.event_id, :entry, n.source, n.start, n.length,"
    " n.ordinal, n.kind, n.call_id, n.time_ms, n.rule_set, n.opaque, n.block, n.place, n.size,"
    " n.chain, n.extra, n.form, coalesce(n.base, CASE"
    " WHEN n.born > 0 AND n.parent IS NOT NULL AND length(n.event_id) = 12 THEN"
    f" ({STANDS_ON} p.position = n.position AND p.event_id = n.parent)"
    " WHEN n.revision > 0 AND length(n.event_id) = 16 AND EXISTS"
    f" ({STANDS_ON} p.position = n.position AND length(p.event_id) = 16"
    " AND (p.born, p.revision) < (n.born, n.revision)) THEN"
    f" ({STANDS_ON} p.position = n.position AND length(p.event_id) = 16"
    " AND (p.born, p.revision) < (n.born, n.revision) ORDER BY p.born DESC, p.revision DESC"
    " LIMIT 1)"
    " WHEN n.position = :copied THEN :seal"
    f" ELSE ({STANDS_ON} p.position = n.position - 1 ORDER BY p.born, p.revision LIMIT 1) END,"
    " x'')"
    " FROM nodes n WHERE n.space = :space AND n.context = :source AND n.position < :until"
    " AND n.born <= :version AND (n.superseded IS NULL OR n.superseded > :version)"
    " ORDER BY n.position"
)
SHARE = (
    "UPDATE blocks SET shared = 1 WHERE space = :space AND shared = 0 AND block IN"
    " (SELECT block FROM nodes WHERE space = :space AND context = :target)"
)
SHARE_PARTS = (
    "INSERT OR IGNORE INTO part_users (space, digest, event_id)"
    " SELECT u.space, u.digest, n.event_id FROM nodes n JOIN part_users u"
    " ON u.space = n.space AND u.event_id = n.parent"
    " WHERE n.space = :space AND n.context = :target AND n.extra IS NOT NULL"
)
SHARE_MARKS = (
    "INSERT INTO marks (space, context, kind, fingerprint, count, first_ms, last_ms)"
    " SELECT space, :target, kind, fingerprint, count, first_ms, last_ms FROM marks"
    " WHERE space = :space AND context = :source"
)
SHARE_RULES = (
    "UPDATE contexts SET (rule_set, rule_nodes) = (SELECT rule_set, iif(rule_nodes IS nodes,"
    " :count, NULL) FROM contexts WHERE space = :space AND ref = :source)"
    " WHERE space = :space AND ref = :target"
)
CHANGED = (
    "SELECT DISTINCT position FROM nodes WHERE space = :space AND context = :ref"
    " AND position < :until AND ((born > :low AND born <= :high)"
    " OR (superseded > :low AND superseded <= :high)) ORDER BY position"
)
LAST_WRITTEN = (
    "SELECT position FROM nodes WHERE space = :space AND context = :ref AND position < :until"
    " AND born <= :version AND time_ms <= :ms ORDER BY position DESC LIMIT 1"
)
NEXT_TIMED = (
    "SELECT position FROM nodes WHERE space = :space AND context = :ref AND position >= :position"
    " AND position < :until AND time_ms IS NOT NULL ORDER BY position LIMIT 1"
)
TIME_BEFORE = (
    "SELECT time_ms FROM nodes WHERE space = :space AND context = :ref AND position < :position"
    " AND time_ms IS NOT NULL ORDER BY position DESC LIMIT 1"
)
SHOWN = (
    " FROM nodes WHERE space = :space AND context = :ref AND position >= :first"
    " AND position < :until AND born <= :version AND (superseded IS NULL OR superseded > :version)"
)
SHOWN_IN = "SELECT position" + SHOWN + " ORDER BY position"
SHOWN_BY_BUCKET = f"SELECT position / {BUCKET}, count(*)" + SHOWN + " GROUP BY 1 ORDER BY 1"
KNOWN = {"source": "agent", "session_id": "session_id", "project_path": "project_path"}
"""Labels of captured sessions that are columns."""


class SqliteRows:
    """`write` only inside a write transaction; then `finish` before the commit."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        space: str,
        *,
        bodies: Bodies,
        kinds: Kinds,
        now_ms: int | None = None,
    ) -> None:
        self.connection = connection
        self.space = space
        self.bodies = bodies
        self.kinds = kinds
        self.now_ms = now_ms or 0
        self.blocks = BlockReader(space, bodies)
        self._counters: Counters | None = None
        self._loose: dict[int, int] = {}

    @property
    def counters(self) -> Counters:
        if self._counters is None:
            self._counters = Counters(self.connection, self.space, self.now_ms)
        return self._counters

    def finish(self) -> None:
        if self._counters is not None:
            self._counters.save()

    def _run(self, statement: str, **values: Any) -> sqlite3.Cursor:
        return self.connection.execute(statement, {"space": self.space, **values})

    # contexts
    def root(self, context_id: str, *, lock: bool = False) -> Root | None:
        found = self._run(ROOT + " AND context_id = :name", name=words(context_id)).fetchone()
        return None if found is None else _root(found)

    def add_root(self, root: Root) -> None:
        root.ref = self.counters.next_context
        self.counters.next_context += 1
        self.connection.execute(
            ADD_ROOT,
            (
                self.space, root.context_id, root.ref, root.agent, root.metadata,
                root.created_ms, root.updated_ms, root.written_ms, root.written_ms,
            ),
        )  # fmt: skip

    def save_root(self, root: Root) -> None:
        parent = None
        if root.origin is not None:
            parent = msgspec.json.decode(root.origin)["fork"]["source"]
        self._run(
            SAVE_ROOT, ref=root.ref, origin=root.origin, parent=parent, copied=root.copied,
            version=root.version, nodes=root.nodes, next_position=root.next_position,
            removed=root.removed, tail=root.tail, metadata=root.metadata,
            updated_ms=root.updated_ms, written_ms=root.written_ms,
            loose=self._loose.pop(root.ref, 0),
        )  # fmt: skip

    def set_labels(self, root: Root, labels: Mapping[str, str]) -> None:
        self._run("DELETE FROM labels WHERE space = :space AND context = :ref", ref=root.ref)
        self.connection.executemany(
            "INSERT INTO labels (space, name, value, context) VALUES (?, ?, ?, ?)",
            [(self.space, name, value, root.ref) for name, value in labels.items()],
        )

    def list_roots(self, wanted: ContextFilter) -> list[Root]:
        query, values = ROOT, dict[str, Any](limit=wanted.limit)
        for number, (name, value) in enumerate(wanted.labels.items()):
            fits = (
                f"ref IN (SELECT context FROM labels WHERE space = :space"  # noqa: S608
                f" AND name = :name{number} AND value = :value{number})"
            )
            if name in KNOWN:
                by_hand = (
                    f"SELECT 1 FROM labels l WHERE l.space = contexts.space"  # noqa: S608
                    f" AND l.context = contexts.ref AND l.name = :name{number}"
                )
                fits = (
                    f"({fits} OR (session_id IS NOT NULL AND {KNOWN[name]} = :value{number}"
                    f" AND NOT EXISTS ({by_hand})))"
                )
            query += f" AND {fits}"
            values |= {f"name{number}": name, f"value{number}": value}
        if wanted.after_ms is not None:
            query, values["after"] = query + " AND created_ms > :after", wanted.after_ms
        if wanted.before_ms is not None:
            query, values["before"] = query + " AND created_ms < :before", wanted.before_ms
        if wanted.cursor is not None:
            query += " AND created_ms <= :made AND (created_ms < :made OR context_id > :last)"
            values |= {"made": wanted.cursor[0], "last": wanted.cursor[1]}
        query += " ORDER BY created_ms DESC, context_id LIMIT :limit"
        return [_root(row) for row in self._run(query, **values)]

    def children(self, context_id: str) -> list[Root]:
        return [_root(row) for row in self._run(CHILDREN, name=context_id)]

    # heads
    def head(self, root: Root, version: int) -> Head | None:
        query = HEAD + " AND version = :version"
        found = self._run(query, ref=root.ref, version=version).fetchone()
        return None if found is None else _head(found)

    def head_before(self, root: Root, ms: int) -> Head | None:
        found = self._run(NEWEST_BEFORE, ref=root.ref, ms=ms).fetchone()
        return None if found is None else _head(found)

    def heads(self, root: Root) -> list[Head]:
        return [_head(row) for row in self._run(HEAD + " ORDER BY version", ref=root.ref)]

    def add_head(self, root: Root, head: Head) -> None:
        entry = self._log(root, head.operation, None, None, head.created_ms)
        self.connection.execute(
            ADD_HEAD,
            (
                self.space, root.ref, head.version, head.head_id, head.prev_id, head.operation,
                head.operation_id, head.affected, head.metadata, head.context_metadata,
                head.repair, head.positions, head.removed, head.digest, entry, head.created_ms,
            ),
        )  # fmt: skip

    def _log(
        self, root: Root, operation: str, first: int | None, count: int | None, ms: int
    ) -> int:
        entry: int = self.counters.next_log
        self.counters.next_log += 1
        values = (self.space, entry, root.ref, operation, first, count, ms)
        self.connection.execute(ADD_LOG, values)
        return entry

    # rows
    def page(self, root: Root, after: Key, until: int, limit: int) -> list[Row]:
        rows = self._run(
            PAGE, ref=root.ref, position=after[0], born=after[1], revision=after[2],
            until=until, limit=limit,
        )  # fmt: skip
        return [_row(row) for row in rows]

    def at_positions(self, root: Root, positions: Sequence[int]) -> list[Row]:
        found: list[Row] = []
        for position in positions:
            found += [_row(row) for row in self._run(AT, ref=root.ref, position=position)]
        return found

    def by_name(self, event_id: bytes) -> tuple[str, Row] | None:
        high = event_id.ljust(16, b"\xff") if len(event_id) == 12 else event_id
        found = self._run(BY_NAME, low=event_id, high=high).fetchone()
        return None if found is None else (found[0], _row(found[1:]))

    def contents(self, rows: Sequence[Row]) -> list[Content]:
        found = []
        for row in rows:
            block, place, extra = row.at[5:]
            body = self.blocks.read(self.connection, block, place or 0, row.size)
            found.append(Content(body, extras.unsqueezed(extra)))
        return found

    def nodes(self, root: Root, rows: Sequence[Row]) -> list[StoredNode]:
        reading = NodeReader(space=self.space, blocks=self.blocks, kinds=self.kinds)
        found = []
        for row in rows:
            source, start, length, kind, opaque, block, place, extra = row.at
            values = (
                row.position, row.born, row.revision, row.event_id, source, start, length, kind,
                row.time_ms, row.rule_set, opaque, block, place, row.size, extra,
            )  # fmt: skip
            reading.time_ms = None
            found.append(reading.node(self.connection, values))
        return found

    def add_rows(self, root: Root, rows: Sequence[Made]) -> None:
        self.bodies.prepare(self.connection)
        writer = BlockWriter(self.connection, self.space, self.bodies, self.counters)
        if not rows:
            return
        first = rows[0].row
        entry = self._log(
            root, "append" if first.parent is None else "edit", first.position, len(rows),
            first.stored_ms or 0,
        )  # fmt: skip
        values = []
        for row, body, role in rows:
            kind = self.kinds.ref(self.connection, (MESSAGE_KIND, role, MESSAGE_KIND))
            block, place, size = writer.add(root.ref, row.position, body)
            values.append(
                (
                    self.space, root.ref, row.position, row.born, row.revision, row.event_id,
                    row.parent, entry, kind, row.time_ms, row.rule_set, block, place, size,
                    row.chain, row.form, row.base,
                )
            )  # fmt: skip
        self._loose[root.ref] = self._loose.get(root.ref, 0) + writer.close()
        self.connection.executemany(ADD_NODE, values)

    def supersede(self, root: Root, keys: Sequence[Key], version: int) -> None:
        self.connection.executemany(
            "UPDATE nodes SET superseded = ? WHERE space = ? AND context = ? AND position = ?"
            " AND born = ? AND revision = ?",
            [(version, self.space, root.ref, *key) for key in keys],
        )

    def copy_rows(self, source: Root, target: Root, *, version: int, until: int) -> int:
        entry = self._log(target, "append", 0, until, target.written_ms)
        values = {
            "source": source.ref, "target": target.ref, "target_id": target.context_id,
            "entry": entry, "copied": source.copied or -1, "seal": seal_of(source),
            "until": until, "version": version,
        }  # fmt: skip
        count = self._run(COPY, **values).rowcount
        self._run(SHARE, target=target.ref)
        self._run(SHARE_PARTS, target=target.ref)
        if source.agent is not None:
            self._run(SHARE_MARKS, source=source.ref, target=target.ref)
            self._run(SHARE_RULES, source=source.ref, target=target.ref, count=count)
        return int(count)

    def links(self, root: Root, until: int) -> Iterable[bytes]:
        rows = self._run(
            "SELECT chain FROM nodes WHERE space = :space AND context = :ref"
            " AND position < :until AND base IS NOT NULL ORDER BY position, born, revision",
            ref=root.ref, until=until,
        )  # fmt: skip
        return (row[0] or b"" for row in rows)

    def changed(self, root: Root, low: int, high: int, until: int) -> list[int]:
        rows = self._run(CHANGED, ref=root.ref, low=low, high=high, until=until)
        return [row[0] for row in rows]

    def last_written(self, root: Root, ms: int, *, version: int, until: int) -> int | None:
        values = {"ref": root.ref, "ms": ms, "version": version, "until": until}
        found = self._run(LAST_WRITTEN, **values).fetchone()
        return None if found is None else int(found[0])

    def next_timed(self, root: Root, position: int, until: int) -> int | None:
        values = {"ref": root.ref, "position": position, "until": until}
        found = self._run(NEXT_TIMED, **values).fetchone()
        return None if found is None else int(found[0])

    def time_before(self, root: Root, position: int) -> int:
        found = self._run(TIME_BEFORE, ref=root.ref, position=position).fetchone()
        return root.created_ms if found is None else int(found[0])

    def gaps(self, root: Root) -> list[tuple[int, int]]:
        return self._run(
            "SELECT bucket, removed FROM gaps WHERE space = :space AND context = :ref"
            " AND removed > 0 ORDER BY bucket",
            ref=root.ref,
        ).fetchall()

    def add_gaps(self, root: Root, counts: Mapping[int, int]) -> None:
        self.connection.executemany(
            "INSERT INTO gaps (space, context, bucket, removed) VALUES (?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET removed = removed + excluded.removed",
            [(self.space, root.ref, bucket, count) for bucket, count in counts.items()],
        )

    def gaps_at(self, root: Root, version: int, until: int) -> list[tuple[int, int]]:
        values = {"ref": root.ref, "version": version, "first": 0, "until": until}
        shown = dict(self._run(SHOWN_BY_BUCKET, **values).fetchall())
        return missing(shown, until)

    def shown_in(self, root: Root, version: int, first: int, until: int) -> list[int]:
        values = {"ref": root.ref, "version": version, "first": first, "until": until}
        return [row[0] for row in self._run(SHOWN_IN, **values)]

    def remasks(self, root: Root) -> list[Remask]:
        return remasks_of(self.connection, self.space, root.context_id)

    def add_remasks(self, root: Root, remasks: Sequence[Remask]) -> None:
        self.connection.executemany(
            PUT_REMASK,
            [
                (
                    self.space, root.ref, number, found.event_id, found.rule_set, found.before,
                    found.after, found.chain, root.written_ms,
                )
                for number, found in enumerate(remasks)
            ],
        )  # fmt: skip

    # names
    def operation(self, context_id: str, operation_id: str) -> tuple[bytes, bytes] | None:
        found: tuple[bytes, bytes] | None = self._run(
            "SELECT request, result FROM operations WHERE space = :space"
            " AND context_id = :name AND operation_id = :operation",
            name=context_id, operation=words(operation_id),
        ).fetchone()  # fmt: skip
        return found

    def add_operation(
        self, context_id: str, operation_id: str, request: bytes, result: bytes
    ) -> None:
        self.connection.execute(
            "INSERT INTO operations (space, context_id, operation_id, request, result)"
            " VALUES (?, ?, ?, ?, ?)",
            (self.space, context_id, words(operation_id), request, result),
        )

    def named(self, root: Root, names: Sequence[bytes]) -> dict[bytes, bytes]:
        query = (
            "SELECT event_id FROM event_names WHERE space = :space AND context = :ref"
            " AND name = :name"
        )
        found = {name: self._run(query, ref=root.ref, name=name).fetchone() for name in names}
        return {name: row[0] for name, row in found.items() if row is not None}

    def add_names(self, root: Root, names: Mapping[bytes, bytes]) -> None:
        self.connection.executemany(
            "INSERT INTO event_names (space, context, name, event_id) VALUES (?, ?, ?, ?)",
            [(self.space, root.ref, name, event_id) for name, event_id in names.items()],
        )

    # the end
    def wipe(self, root: Root, heirs: Sequence[Root]) -> None:
        for heir in heirs:
            wiping.inherit(self, root, heir)
        wiping.delete(self.connection, self.space, root.ref)
        self._log(root, "wipe", None, None, self.now_ms)

    def tombstone(self, context_id: str) -> Tombstone | None:
        found = self._run(
            "SELECT data FROM tombstones WHERE space = :space AND context_id = :name",
            name=words(context_id),
        ).fetchone()
        return None if found is None else load_as(found[0], Tombstone)

    def tombstones(self) -> list[Tombstone]:
        rows = self._run(
            "SELECT data FROM tombstones WHERE space = :space ORDER BY wiped_ms, context_id"
        )
        return [load_as(row[0], Tombstone) for row in rows]

    def put_tombstone(self, tombstone: Tombstone) -> None:
        wiping.bury(self.connection, self.space, tombstone, milliseconds(tombstone.wiped_at))

    def read_again(self, context_id: str) -> None:
        wiping.read_again(self.connection, self.space, context_id)


def missing(shown: Mapping[int, int], until: int) -> list[tuple[int, int]]:
    """Buckets that show fewer messages than they have positions."""
    found = []
    for bucket in range((until + BUCKET - 1) // BUCKET):
        gone = min(BUCKET, until - bucket * BUCKET) - shown.get(bucket, 0)
        if gone:
            found.append((bucket, gone))
    return found


def _root(row: Sequence[Any]) -> Root:
    facts = row[12]
    return Root(
        ref=row[0], context_id=row[1], agent=row[2], session_id=row[3], origin=row[4],
        copied=row[5], version=row[6], nodes=row[7], next_position=row[8], removed=row[9],
        tail=row[10], metadata=row[11], facts=load_as(facts, SessionFacts) if facts else None,
        created_ms=row[13], updated_ms=row[14], written_ms=row[15],
    )  # fmt: skip


def _head(row: Sequence[Any]) -> Head:
    names = (
        "version", "head_id", "prev_id", "operation", "operation_id", "affected", "metadata",
        "context_metadata", "repair", "positions", "removed", "digest", "created_ms",
    )  # fmt: skip
    return Head(**dict(zip(names, row, strict=True)))


def _row(row: Sequence[Any]) -> Row:
    return Row._make((*row[:12], row[12] or 0, row[13:]))
