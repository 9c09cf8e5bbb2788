"""Rows of the store in memory."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import msgspec

from ultracontext.chain import BUCKET, Remask, shown
from ultracontext.model import captured_context_id
from ultracontext.store.base import StoredNode
from ultracontext.store.contexts import Tombstone
from ultracontext.store.history.listing import label_of
from ultracontext.store.history.rows import (
    Content,
    ContextFilter,
    Head,
    Key,
    Made,
    Root,
    Row,
    copied_id,
)
from ultracontext.store.history.selection import origin_of


class Table(msgspec.Struct, kw_only=True):
    """One context and all that belongs to it."""

    root: Root
    heads: list[Head] = []
    rows: dict[Key, Row] = {}
    keys: list[Key] = []
    """Ascending."""
    bodies: dict[Key, bytes] = {}
    nodes: dict[Key, StoredNode] = {}
    """Of captured rows."""
    labels: dict[str, str] = {}
    gaps: dict[int, int] = {}
    operations: dict[str, tuple[bytes, bytes]] = {}
    names: dict[bytes, bytes] = {}

    def put(self, row: Row, body: bytes) -> None:
        if row.key not in self.rows:
            if self.keys and row.key < self.keys[-1]:
                self.keys.insert(bisect_left(self.keys, row.key), row.key)
            else:
                self.keys.append(row.key)
        self.rows[row.key] = row
        self.bodies[row.key] = body

    def between(self, after: Key, until: int) -> Iterator[Row]:
        start = bisect_left(self.keys, after)
        for key in self.keys[start:]:
            if key[0] >= until:
                return
            if key > after:
                yield self.rows[key]


class MemoryRows:
    """All contexts of one space. The caller holds the space's lock."""

    def __init__(self) -> None:
        self.tables: dict[str, Table] = {}
        self.by_event: dict[bytes, tuple[str, Key]] = {}
        self.operations: dict[str, tuple[bytes, bytes]] = {}
        """Of creations without a source."""
        self.stones: dict[str, Tombstone] = {}
        self.again: list[str] = []
        """Contexts that capture may take once more."""
        self._saved: list[tuple[str, Table | None]] | None = None

    @contextmanager
    def writing(self) -> Iterator[MemoryRows]:
        """Puts back what was changed after any exception."""
        kept = (dict(self.by_event), dict(self.stones), dict(self.operations))
        self._saved = []
        try:
            yield self
        except BaseException:
            for name, table in reversed(self._saved):
                if table is None:
                    self.tables.pop(name, None)
                else:
                    self.tables[name] = table
            self.by_event, self.stones, self.operations = kept
            raise
        finally:
            self._saved = None

    def _keep(self, name: str) -> None:
        if self._saved is not None and all(name != kept for kept, _ in self._saved):
            table = self.tables.get(name)
            self._saved.append((name, None if table is None else _copied(table)))

    # contexts
    def root(self, context_id: str, *, lock: bool = False) -> Root | None:
        if context_id not in self.tables:
            return None
        if lock:
            self._keep(context_id)
        return msgspec.structs.replace(self.tables[context_id].root)

    def add_root(self, root: Root) -> None:
        self._keep(root.context_id)
        root.ref = root.context_id
        self.tables[root.context_id] = Table(root=msgspec.structs.replace(root))

    def save_root(self, root: Root) -> None:
        self.tables[root.context_id].root = msgspec.structs.replace(root)

    def set_labels(self, root: Root, labels: Mapping[str, str]) -> None:
        self.tables[root.context_id].labels = dict(labels)

    def list_roots(self, wanted: ContextFilter) -> list[Root]:
        def fits(table: Table) -> bool:
            root = table.root
            labels = _known_labels(root) | table.labels
            behind = wanted.cursor is None or (-root.created_ms, root.context_id) > (
                -wanted.cursor[0], wanted.cursor[1],
            )  # fmt: skip
            return (
                behind
                and all(labels.get(key) == value for key, value in wanted.labels.items())
                and (wanted.after_ms is None or root.created_ms > wanted.after_ms)
                and (wanted.before_ms is None or root.created_ms < wanted.before_ms)
            )

        found = [table.root for table in self.tables.values() if fits(table)]
        found.sort(key=lambda root: (-root.created_ms, root.context_id))
        return [msgspec.structs.replace(root) for root in found[: wanted.limit]]

    def children(self, context_id: str) -> list[Root]:
        found = []
        for table in self.tables.values():
            origin = origin_of(table.root)
            parent = origin.fork.source if origin is not None else _forked_from(table.root)
            if parent == context_id:
                found.append(msgspec.structs.replace(table.root))
        return sorted(found, key=lambda root: (root.created_ms, root.context_id))

    # heads
    def head(self, root: Root, version: int) -> Head | None:
        heads = self.tables[root.ref].heads
        return msgspec.structs.replace(heads[version]) if 0 <= version < len(heads) else None

    def head_before(self, root: Root, ms: int) -> Head | None:
        found = [head for head in self.tables[root.ref].heads if head.created_ms <= ms]
        return found[-1] if found else None

    def heads(self, root: Root) -> list[Head]:
        return list(self.tables[root.ref].heads)

    def add_head(self, root: Root, head: Head) -> None:
        self.tables[root.ref].heads.append(head)

    # rows
    def page(self, root: Root, after: Key, until: int, limit: int) -> list[Row]:
        found = []
        for row in self.tables[root.ref].between(after, until):
            found.append(row)
            if len(found) == limit:
                break
        return found

    def at_positions(self, root: Root, positions: Sequence[int]) -> list[Row]:
        table = self.tables[root.ref]
        return [r for p in sorted(positions) for r in table.between((p, -1, -1), p + 1)]

    def by_name(self, event_id: bytes) -> tuple[str, Row] | None:
        found = self.by_event.get(event_id) or self.by_event.get(event_id[:12])
        if found is None:
            return None
        row = self.tables[found[0]].rows[found[1]]
        return (found[0], row) if row.event_id.startswith(event_id) else None

    def contents(self, rows: Sequence[Row]) -> list[Content]:
        return [Content(self.tables[row.at].bodies[row.key]) for row in rows]

    def nodes(self, root: Root, rows: Sequence[Row]) -> list[StoredNode]:
        return [self.tables[root.ref].nodes[row.key] for row in rows]

    def add_rows(self, root: Root, rows: Sequence[Made]) -> None:
        for made in rows:
            self.put(root.ref, made.row, made.body)

    def put(self, name: str, row: Row, body: bytes, node: StoredNode | None = None) -> None:
        table = self.tables[name]
        table.put(row._replace(at=name, size=len(body)), body)
        if node is not None:
            table.nodes[row.key] = node
        self.by_event[row.event_id[:12]] = (name, row.key)
        self.by_event[row.event_id] = (name, row.key)

    def supersede(self, root: Root, keys: Sequence[Key], version: int) -> None:
        table = self.tables[root.ref]
        for key in keys:
            table.rows[key] = table.rows[key]._replace(superseded=version)

    def copy_rows(self, source: Root, target: Root, *, version: int, until: int) -> int:
        table, position = self.tables[source.ref], 0
        for row in list(table.between((0, -1, -1), until)):
            if not shown(row.born, row.superseded, version):
                continue
            copy = row._replace(
                position=position, born=0, revision=0, superseded=None, parent=row.event_id,
                event_id=copied_id(target.context_id, row.event_id),
                base=self.stands_on(source, row),
                stored_ms=target.written_ms,
            )  # fmt: skip
            self.put(target.ref, copy, table.bodies[row.key], table.nodes.get(row.key))
            position += 1
        return position

    def stands_on(self, root: Root, row: Row) -> bytes:
        """The link that a row's own stands on."""
        from ultracontext.store.history.selection import seal_of

        if row.base is not None:
            return row.base
        table = self.tables[root.ref]
        here = list(table.between((row.position, -1, -1), row.position + 1))
        before = [r for r in here if r.key < row.key]
        if before and row.captured:
            captured = [r for r in before if r.captured]
            return captured[-1].chain or b"" if captured else b""
        if before:
            return next((r.chain or b"" for r in before if r.event_id == row.parent), b"")
        if row.position == root.copied:
            return seal_of(root)
        previous = next(table.between((row.position - 1, -1, -1), row.position), None)
        return b"" if previous is None else previous.chain or b""

    def links(self, root: Root, until: int) -> Iterable[bytes]:
        rows = self.tables[root.ref].between((0, -1, -1), until)
        return [row.chain or b"" for row in rows if row.base is not None]

    def changed(self, root: Root, low: int, high: int, until: int) -> list[int]:
        found = {
            row.position
            for row in self.tables[root.ref].rows.values()
            if row.position < until
            and (low < row.born <= high or low < (row.superseded or -1) <= high)
        }
        return sorted(found)

    def last_written(self, root: Root, ms: int, *, version: int, until: int) -> int | None:
        found = [
            row.position
            for row in self.tables[root.ref].between((0, -1, -1), until)
            if row.time_ms is not None and row.time_ms <= ms and row.born <= version
        ]
        return found[-1] if found else None

    def next_timed(self, root: Root, position: int, until: int) -> int | None:
        for row in self.tables[root.ref].between((position, -1, -1), until):
            if row.time_ms is not None:
                return row.position
        return None

    def time_before(self, root: Root, position: int) -> int:
        found = root.created_ms
        for row in self.tables[root.ref].between((0, -1, -1), position):
            found = found if row.time_ms is None else row.time_ms
        return found

    def gaps(self, root: Root) -> list[tuple[int, int]]:
        return sorted((b, n) for b, n in self.tables[root.ref].gaps.items() if n)

    def add_gaps(self, root: Root, counts: Mapping[int, int]) -> None:
        gaps = self.tables[root.ref].gaps
        for bucket, count in counts.items():
            gaps[bucket] = gaps.get(bucket, 0) + count

    def gaps_at(self, root: Root, version: int, until: int) -> list[tuple[int, int]]:
        there = set(self.shown_in(root, version, 0, until))
        counts: dict[int, int] = {}
        for position in range(until):
            if position not in there:
                counts[position // BUCKET] = counts.get(position // BUCKET, 0) + 1
        return sorted(counts.items())

    def shown_in(self, root: Root, version: int, first: int, until: int) -> list[int]:
        rows = self.tables[root.ref].between((first, -1, -1), until)
        return [row.position for row in rows if shown(row.born, row.superseded, version)]

    def remasks(self, root: Root) -> list[Remask]:
        return []

    def add_remasks(self, root: Root, remasks: Sequence[Remask]) -> None:
        """There are none."""

    # names
    def operation(self, context_id: str, operation_id: str) -> tuple[bytes, bytes] | None:
        table = self.tables.get(context_id)
        return (table.operations if table else self.operations).get(operation_id)

    def add_operation(
        self, context_id: str, operation_id: str, request: bytes, result: bytes
    ) -> None:
        table = self.tables.get(context_id)
        (table.operations if table else self.operations)[operation_id] = (request, result)

    def named(self, root: Root, names: Sequence[bytes]) -> dict[bytes, bytes]:
        known = self.tables[root.ref].names
        return {name: known[name] for name in names if name in known}

    def add_names(self, root: Root, names: Mapping[bytes, bytes]) -> None:
        self.tables[root.ref].names.update(names)

    # the end
    def wipe(self, root: Root, heirs: Sequence[Root]) -> None:
        self._keep(root.context_id)
        del self.tables[root.context_id]
        self.by_event = {e: w for e, w in self.by_event.items() if w[0] != root.context_id}

    def tombstone(self, context_id: str) -> Tombstone | None:
        return self.stones.get(context_id)

    def tombstones(self) -> list[Tombstone]:
        return sorted(self.stones.values(), key=lambda t: (t.wiped_at, t.context_id))

    def put_tombstone(self, tombstone: Tombstone) -> None:
        self.stones[tombstone.context_id] = tombstone

    def read_again(self, context_id: str) -> None:
        self.again.append(context_id)


def _forked_from(root: Root) -> str | None:
    """The session that an agent forked this one from."""
    facts = root.facts
    if facts is None or facts.relation != "fork" or not facts.parent_session:
        return None
    return captured_context_id(root.agent or "", facts.parent_session)


def _known_labels(root: Root) -> dict[str, str]:
    if root.session_id is None:
        return {}
    path = None if root.facts is None else root.facts.project_path
    known: dict[str, Any] = {
        "source": root.agent, "session_id": root.session_id, "project_path": path,
    }  # fmt: skip
    return label_of(known)


def _copied(table: Table) -> Table:
    found = msgspec.structs.replace(table)
    for name in ("heads", "rows", "keys", "bodies", "nodes", "labels", "gaps", "operations"):
        setattr(found, name, getattr(table, name).copy())
    found.names = dict(table.names)
    found.root = deepcopy(table.root)
    return found
