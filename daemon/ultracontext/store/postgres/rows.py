"""Rows of contexts with history, inside one transaction of the server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec
import psycopg

from ultracontext.chain import BUCKET, DIGEST_BYTES, Remask
from ultracontext.model import EventId, SessionFacts
from ultracontext.store.base import MESSAGE_KIND, StoredNode
from ultracontext.store.contexts import Tombstone
from ultracontext.store.history import Content, ContextFilter, Head, Key, Made, Root, Row
from ultracontext.store.history.selection import seal_of
from ultracontext.store.postgres import statements as sql
from ultracontext.store.values import dump, load_as, milliseconds

PIECE_BYTES = 512 * 1024
HEAD = (
    "version", "head_id", "prev_id", "operation", "operation_id", "affected", "metadata",
    "context_metadata", "repair", "positions", "removed", "digest", "created_ms",
)  # fmt: skip
KNOWN = {"source": "agent", "session_id": "session_id", "project_path": "project_path"}
"""Labels of captured sessions that are columns."""


class PostgresRows:
    """`write` only inside a write transaction."""

    def __init__(self, cursor: psycopg.Cursor[Any], space: str) -> None:
        self.cursor = cursor
        self.space = space

    def _run(self, statement: str, **values: Any) -> psycopg.Cursor[Any]:
        return self.cursor.execute(statement.encode(), {"space": self.space, **values})

    def _many(self, statement: str, values: Iterable[Mapping[str, Any]]) -> None:
        rows = [{"space": self.space, **row} for row in values]
        if len(rows) == 1:  # fewer round trips
            self.cursor.execute(statement.encode(), rows[0])
        elif rows:
            self.cursor.executemany(statement.encode(), rows)

    # contexts
    def root(self, context_id: str, *, lock: bool = False) -> Root | None:
        query = sql.ROOT + " AND context_id = %(name)s" + (" FOR UPDATE" if lock else "")
        found = self._run(query, name=context_id).fetchone()
        return None if found is None else root_of(found)

    def add_root(self, root: Root) -> None:
        root.ref = root.context_id
        self._run(
            sql.ADD_ROOT, name=root.context_id, agent=root.agent, metadata=root.metadata,
            created=root.created_ms, updated=root.updated_ms, written=root.written_ms,
        )  # fmt: skip

    def save_root(self, root: Root) -> None:
        parent = None
        if root.origin is not None:
            parent = msgspec.json.decode(root.origin)["fork"]["source"]
        self._run(
            sql.SAVE_ROOT, name=root.ref, origin=root.origin, parent=parent, copied=root.copied,
            version=root.version, nodes=root.nodes, next_position=root.next_position,
            removed=root.removed, tail=root.tail, metadata=root.metadata,
            updated=root.updated_ms, written=root.written_ms,
        )  # fmt: skip

    def set_labels(self, root: Root, labels: Mapping[str, str]) -> None:
        self._run(
            "DELETE FROM labels WHERE space = %(space)s AND context_id = %(name)s", name=root.ref
        )
        self._many(
            "INSERT INTO labels (space, label, context_id, name)"
            " VALUES (%(space)s, %(label)s, %(context)s, %(name)s)",
            [
                {"label": label(name, value), "context": root.ref, "name": name.encode()}
                for name, value in labels.items()
            ],
        )

    def list_roots(self, wanted: ContextFilter) -> list[Root]:
        query, values = sql.ROOT, dict[str, Any](limit=wanted.limit)
        for number, (name, value) in enumerate(wanted.labels.items()):
            fits = sql.LABELLED.format(number=number)
            if name in KNOWN:
                fits = sql.KNOWN_OR_LABELLED.format(
                    labelled=fits, column=KNOWN[name], number=number
                )
            query += " AND " + fits
            values |= {
                f"label{number}": label(name, value),
                f"name{number}": name.encode(),
                f"value{number}": value,
            }
        if wanted.after_ms is not None:
            query, values["after"] = query + " AND created_ms > %(after)s", wanted.after_ms
        if wanted.before_ms is not None:
            query, values["before"] = query + " AND created_ms < %(before)s", wanted.before_ms
        if wanted.cursor is not None:
            query += sql.BEHIND
            values |= {"made": wanted.cursor[0], "last": wanted.cursor[1]}
        rows = self._run(query + sql.NEWEST_FIRST, **values)
        return [root_of(row) for row in rows.fetchall()]

    def children(self, context_id: str) -> list[Root]:
        return [root_of(row) for row in self._run(sql.CHILDREN, name=context_id).fetchall()]

    # heads
    def head(self, root: Root, version: int) -> Head | None:
        query = sql.HEAD + " AND version = %(version)s"
        found = self._run(query, name=root.ref, version=version).fetchone()
        return None if found is None else _head(found)

    def head_before(self, root: Root, ms: int) -> Head | None:
        found = self._run(sql.NEWEST_BEFORE, name=root.ref, ms=ms).fetchone()
        return None if found is None else _head(found)

    def heads(self, root: Root) -> list[Head]:
        rows = self._run(sql.HEAD + " ORDER BY version", name=root.ref)
        return [_head(row) for row in rows.fetchall()]

    def add_head(self, root: Root, head: Head) -> None:
        values = {name: getattr(head, name) for name in HEAD}
        values["operation_id"] = None if head.operation_id is None else head.operation_id.encode()
        self._run(sql.ADD_HEAD, name=root.ref, **values)

    # rows
    def page(self, root: Root, after: Key, until: int, limit: int) -> list[Row]:
        rows = self._run(
            sql.PAGE, name=root.ref, position=after[0], born=after[1], revision=after[2],
            until=until, limit=limit,
        )  # fmt: skip
        return [_row(row) for row in rows.fetchall()]

    def at_positions(self, root: Root, positions: Sequence[int]) -> list[Row]:
        rows = self._run(sql.AT, name=root.ref, positions=list(positions))
        return [_row(row) for row in rows.fetchall()]

    def by_name(self, event_id: bytes) -> tuple[str, Row] | None:
        high = event_id.ljust(16, b"\xff") if len(event_id) == 12 else event_id
        found = self._run(sql.BY_NAME, low=event_id, high=high).fetchone()
        return None if found is None else (found[0], _row(found[1:]))

    def contents(self, rows: Sequence[Row]) -> list[Content]:
        if not rows:
            return []
        names = list({row.at[0] for row in rows})
        pieces: dict[bytes, list[bytes]] = {}
        for name, data in self._run(sql.BODIES, names=names).fetchall():
            pieces.setdefault(name, []).append(data)
        return [Content(b"".join(pieces.get(row.at[0], ())), row.at[2]) for row in rows]

    def nodes(self, root: Root, rows: Sequence[Row]) -> list[StoredNode]:
        bodies = self.contents(rows)
        return [_node(row, content) for row, content in zip(rows, bodies, strict=True)]

    def add_rows(self, root: Root, rows: Sequence[Made]) -> None:
        self._many(sql.ADD_NODE, [_values(root, row, role) for row, _, role in rows])
        self._many(
            "INSERT INTO bodies (space, body, part, data)"
            " VALUES (%(space)s, %(body)s, %(part)s, %(data)s)",
            [
                {"body": row.event_id, "part": part, "data": body[start : start + PIECE_BYTES]}
                for row, body, _ in rows
                for part, start in enumerate(range(0, len(body) or 1, PIECE_BYTES))
            ],
        )

    def supersede(self, root: Root, keys: Sequence[Key], version: int) -> None:
        self._many(
            sql.SUPERSEDE,
            [
                {"name": root.ref, "position": p, "born": b, "revision": r, "version": version}
                for p, b, r in keys
            ],
        )

    def copy_rows(self, source: Root, target: Root, *, version: int, until: int) -> int:
        return self._run(
            sql.COPY, source=source.ref, target=target.ref, copied=source.copied or -1,
            seal=seal_of(source), until=until, version=version, now=target.written_ms,
        ).rowcount  # fmt: skip

    def links(self, root: Root, until: int) -> Iterable[bytes]:
        found = self._run(sql.LINKS, name=root.ref, until=until).fetchone()
        data = b"" if found is None or found[0] is None else bytes(found[0])
        return (data[at : at + DIGEST_BYTES] for at in range(0, len(data), DIGEST_BYTES))

    def changed(self, root: Root, low: int, high: int, until: int) -> list[int]:
        rows = self._run(sql.CHANGED, name=root.ref, low=low, high=high, until=until)
        return [row[0] for row in rows.fetchall()]

    def last_written(self, root: Root, ms: int, *, version: int, until: int) -> int | None:
        found = self._run(
            sql.LAST_WRITTEN, name=root.ref, ms=ms, version=version, until=until
        ).fetchone()
        return None if found is None else int(found[0])

    def next_timed(self, root: Root, position: int, until: int) -> int | None:
        found = self._run(sql.NEXT_TIMED, name=root.ref, position=position, until=until).fetchone()
        return None if found is None else int(found[0])

    def time_before(self, root: Root, position: int) -> int:
        found = self._run(sql.TIME_BEFORE, name=root.ref, position=position).fetchone()
        return root.created_ms if found is None else int(found[0])

    def gaps(self, root: Root) -> list[tuple[int, int]]:
        return self._run(
            "SELECT bucket, removed FROM gaps WHERE space = %(space)s AND context_id = %(name)s"
            " AND removed > 0 ORDER BY bucket",
            name=root.ref,
        ).fetchall()

    def add_gaps(self, root: Root, counts: Mapping[int, int]) -> None:
        self._many(
            sql.ADD_GAP,
            [{"name": root.ref, "bucket": b, "count": n} for b, n in counts.items()],
        )

    def gaps_at(self, root: Root, version: int, until: int) -> list[tuple[int, int]]:
        rows = self._run(
            sql.SHOWN_BY_BUCKET, name=root.ref, version=version, first=0, until=until,
            bucket=BUCKET,
        )  # fmt: skip
        shown = dict(rows.fetchall())
        found = []
        for bucket in range((until + BUCKET - 1) // BUCKET):
            gone = min(BUCKET, until - bucket * BUCKET) - shown.get(bucket, 0)
            if gone:
                found.append((bucket, gone))
        return found

    def shown_in(self, root: Root, version: int, first: int, until: int) -> list[int]:
        rows = self._run(sql.SHOWN_IN, name=root.ref, version=version, first=first, until=until)
        return [row[0] for row in rows.fetchall()]

    def remasks(self, root: Root) -> list[Remask]:
        rows = self._run(sql.REMASKS, name=root.ref)
        return [
            Remask(event_id=name, rule_set=rules, before=before, after=after, chain=chain)
            for name, rules, before, after, chain in rows.fetchall()
        ]

    def add_remasks(self, root: Root, remasks: Sequence[Remask]) -> None:
        self._many(
            "INSERT INTO remasks (space, context_id, number, event_id, rule_set, before, after,"
            " chain) VALUES (%(space)s, %(name)s, %(number)s, %(event)s, %(rules)s, %(before)s,"
            " %(after)s, %(chain)s)",
            [
                {
                    "name": root.ref, "number": number, "event": found.event_id,
                    "rules": found.rule_set, "before": found.before, "after": found.after,
                    "chain": found.chain,
                }
                for number, found in enumerate(remasks)
            ],
        )  # fmt: skip

    # names
    def operation(self, context_id: str, operation_id: str) -> tuple[bytes, bytes] | None:
        return self._run(
            "SELECT request, result FROM operations WHERE space = %(space)s"
            " AND context_id = %(name)s AND operation = %(operation)s",
            name=context_id, operation=text(operation_id),
        ).fetchone()  # fmt: skip

    def add_operation(
        self, context_id: str, operation_id: str, request: bytes, result: bytes
    ) -> None:
        self._run(
            "INSERT INTO operations (space, context_id, operation, request, result)"
            " VALUES (%(space)s, %(name)s, %(operation)s, %(request)s, %(result)s)",
            name=context_id, operation=text(operation_id), request=request, result=result,
        )  # fmt: skip

    def named(self, root: Root, names: Sequence[bytes]) -> dict[bytes, bytes]:
        rows = self._run(
            "SELECT name, event_id FROM event_names WHERE space = %(space)s"
            " AND context_id = %(context)s AND name = ANY(%(names)s)",
            context=root.ref, names=list(names),
        )  # fmt: skip
        return dict(rows.fetchall())

    def add_names(self, root: Root, names: Mapping[bytes, bytes]) -> None:
        self._many(
            "INSERT INTO event_names (space, context_id, name, event_id)"
            " VALUES (%(space)s, %(context)s, %(name)s, %(event)s)",
            [{"context": root.ref, "name": n, "event": e} for n, e in names.items()],
        )

    # the end
    def wipe(self, root: Root, heirs: Sequence[Root]) -> None:
        for statement in sql.WIPE:
            self._run(statement, name=root.ref)

    def tombstone(self, context_id: str) -> Tombstone | None:
        found = self._run(
            "SELECT data FROM tombstones WHERE space = %(space)s AND context_id = %(name)s",
            name=context_id,
        ).fetchone()
        return None if found is None else load_as(found[0], Tombstone)

    def tombstones(self) -> list[Tombstone]:
        rows = self._run(
            "SELECT data FROM tombstones WHERE space = %(space)s ORDER BY wiped_ms, context_id"
        )
        return [load_as(row[0], Tombstone) for row in rows.fetchall()]

    def put_tombstone(self, tombstone: Tombstone) -> None:
        self._run(
            sql.BURY, name=tombstone.context_id, ms=milliseconds(tombstone.wiped_at),
            data=dump(tombstone),
        )  # fmt: skip

    def read_again(self, context_id: str) -> None:
        """Nothing is captured into this store."""


def label(name: str, value: str) -> bytes:
    """What a pair is found by; a value of any length fits into an index so."""
    return sha256(name.encode() + b"\0" + value.encode()).digest()[:DIGEST_BYTES]


def text(value: str) -> bytes:
    """Bytes for a text that may hold NUL or lone surrogates; long ones by digest, to fit into an
    index."""
    data = value.encode("utf-8", "surrogatepass")
    return data if len(data) <= 512 else b"sha256:" + sha256(data).digest()


def _values(root: Root, row: Row, role: str) -> dict[str, Any]:
    return {
        "name": root.ref, "position": row.position, "born": row.born, "revision": row.revision,
        "event_id": row.event_id, "parent": row.parent, "form": row.form, "role": role,
        "time_ms": row.time_ms, "stored_ms": row.stored_ms, "rule_set": row.rule_set,
        "chain": row.chain, "base": row.base, "size": row.size, "body": row.event_id,
    }  # fmt: skip


def root_of(row: Sequence[Any]) -> Root:
    """A row of `statements.ROOT`."""
    facts = row[11]
    return Root(
        ref=row[0], context_id=row[0], agent=row[1], session_id=row[2], origin=row[3],
        copied=row[4], version=row[5], nodes=row[6], next_position=row[7], removed=row[8],
        tail=row[9], metadata=row[10], facts=load_as(facts, SessionFacts) if facts else None,
        created_ms=row[12], updated_ms=row[13], written_ms=row[14],
    )  # fmt: skip


def _head(row: Sequence[Any]) -> Head:
    values = dict(zip(HEAD, row, strict=True))
    if values["operation_id"] is not None:
        values["operation_id"] = values["operation_id"].decode()
    return Head(**values)


def _row(row: Sequence[Any]) -> Row:
    return Row._make((*row[:13], row[13:]))


def _node(row: Row, content: Content) -> StoredNode:
    """A captured record as it was replicated: `native` says what stands beside its body."""
    native: dict[str, Any] = msgspec.json.decode(row.at[1] or b"{}")
    opaque = bool(native.pop("opaque", False))
    known: dict[str, Any] = {
        "kind": MESSAGE_KIND, "role": "user", "event_type": MESSAGE_KIND, "source_path": "",
        "start": 0, "end": 0, "damage": None, "companions": {},
    } | native  # fmt: skip
    return StoredNode(
        event_id=EventId(row.event_id),
        position=row.position,
        revision=row.revision,
        time_ms=row.time_ms,
        text=content.body.decode("utf-8", "surrogatepass") if opaque else None,
        body=b"" if opaque else content.body,
        rule_set=row.rule_set or 0,
        **known,
    )
