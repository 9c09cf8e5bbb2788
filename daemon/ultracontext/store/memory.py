"""A store in memory: for tests, and for `memory://`. It keeps nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import Any, TypeVar

import msgspec

from ultracontext.chain import Remask, content_digest, link, shown
from ultracontext.errors import NotFoundError, StoreError
from ultracontext.model import (
    Base,
    ContextId,
    EventId,
    SessionFacts,
    captured_context_id,
)
from ultracontext.redaction import Redactor, join_parts, require_masked
from ultracontext.store import readers
from ultracontext.store.base import (
    AGAIN,
    MESSAGE_KIND,
    REFUSED,
    CaptureBatch,
    Checkpoint,
    ContextRow,
    DedupStatus,
    Event,
    FactsUpdate,
    KnownEvent,
    MarkRow,
    StoredNode,
)
from ultracontext.store.history import Head, History, Row, Rows
from ultracontext.store.history import Root as HistoryRoot
from ultracontext.store.memory_rows import MemoryRows, Table
from ultracontext.store.memory_versions import Context, begin
from ultracontext.store.values import (
    dump,
    encode_text,
    load,
    load_as,
    milliseconds,
    parse_time,
    sane_time,
)

T = TypeVar("T")


@dataclass(slots=True)
class Root:
    """One context."""

    context_id: ContextId
    agent: str
    session_id: str
    created_ms: int
    updated_ms: int
    stored_at: datetime
    places: dict[int, list[StoredNode]] = field(default_factory=dict)
    """Revisions of each record by position, in the order of arrival."""
    facts: SessionFacts = field(default_factory=SessionFacts)
    facts_rows: int = -1
    reader_digest: bytes = b""
    base: Base | None = None
    related: tuple[ContextId, str, str] | None = None
    version: Callable[[], int] = lambda: 0
    """The newest one's number."""

    @property
    def rows(self) -> int:
        return sum(map(len, self.places.values()))

    def row(self) -> ContextRow:
        facts = load_as(dump(self.facts), SessionFacts)
        facts.base = self.base or facts.base
        parent = facts.parent_session and captured_context_id(
            facts.parent_agent or self.agent, facts.parent_session
        )
        if self.related:
            parent, facts.parent_session, relation = self.related
            facts.relation = relation  # type: ignore[assignment]
        fresh = self.facts_rows == self.rows and self.reader_digest == readers.reader_digest(
            self.agent
        )
        return ContextRow(
            context_id=self.context_id,
            agent=self.agent,
            session_id=self.session_id,
            version=self.version(),
            nodes=len(self.places),
            facts=facts,
            stale=not fresh,
            parent_id=ContextId(parent) if parent else None,
            stored_at=self.stored_at,
        )


class MemoryStore:
    """Spaces that know nothing of each other."""

    def __init__(self) -> None:
        self._spaces: dict[str, MemorySpaceStore] = {}

    def within(self, space: str) -> MemorySpaceStore:
        if not space:
            raise ValueError("a space has a name")
        return self._spaces.setdefault(space, MemorySpaceStore(space))

    def maintain(self) -> None:
        """There is nothing to do."""

    def sound(self, halted: Callable[[], bool]) -> bool | None:
        """Nothing of it lies on a disk."""
        del halted
        return True

    @property
    def damaged(self) -> bool:
        return False

    def close(self) -> None:
        """Nothing is open; what was stored stays until the store is collected."""


class MemorySpaceStore(History):
    """One space."""

    def __init__(self, space: str) -> None:
        self.space = space
        self._lock = RLock()
        self._rows = MemoryRows()
        self._roots: dict[str, Root] = {}
        self._brought: dict[str, set[int]] = {}
        """Sources of sessions that were wiped."""
        self._events: dict[EventId, tuple[Root, int, KnownEvent]] = {}
        self._dedup: dict[EventId, tuple[KnownEvent, int]] = {}
        self._sources: dict[int, Checkpoint] = {}
        self._notes: dict[str, bytes] = {}
        self._totals: dict[str, int] = {}
        self._digests: set[bytes] = set()
        self._next_source = 1
        self._hits = 0
        self._purged_at: datetime | None = None

    def _in_read(self, work: Callable[[Rows], T]) -> T:
        with self._lock:
            return work(self._rows)

    def _in_write(self, work: Callable[[Rows], T], *, context: str = "") -> T:
        with self._lock, self._rows.writing() as rows:
            found = work(rows)
        self._forget_wiped()
        return found

    def _forget_wiped(self) -> None:
        """Roots of captured sessions go with their rows."""
        gone = [name for name in self._roots if name not in self._rows.tables]
        for name in gone:
            places = self._roots.pop(name).places
            self._brought[name] = {int(n.source_path) for nodes in places.values() for n in nodes}
        if gone:
            lost = {e for e, found in self._events.items() if found[0].context_id in gone}
            self._events = {e: f for e, f in self._events.items() if e not in lost}
            self._dedup = {e: f for e, f in self._dedup.items() if e not in lost}
        for name in self._rows.again:
            self._read_again(name)
        self._rows.again.clear()

    def _read_again(self, name: str) -> None:
        refused = dict(self.noted(REFUSED) or {})
        ids = self._brought.pop(name, set()) | set(refused.pop(name, ()))
        for source in ids & self._sources.keys():
            self._sources[source] = msgspec.structs.replace(
                self._sources[source], position=0, ordinal=0, prefix=b"", size=0, mtime_ns=0,
                ctime_ns=0, mode="all", branch=None, state={},
            )  # fmt: skip
        self.note(AGAIN, sorted(ids | set(self.noted(AGAIN) or ())))
        self.note(REFUSED, refused)

    def scrub(self) -> bool:
        """There are no files."""
        return True

    # capture

    def new_source_id(self) -> int:
        with self._lock:
            self._next_source += 1
            return self._next_source - 1

    def checkpoints(self) -> list[Checkpoint]:
        return [self._sources[key] for key in sorted(self._sources)]

    def known_events(self, ids: Sequence[EventId]) -> dict[EventId, KnownEvent]:
        with self._lock:
            found = {}
            for name in ids:
                if name in self._dedup:
                    found[name] = self._dedup[name][0]
                elif name in self._events:
                    found[name] = self._events[name][2]
            self._hits += sum(name in self._dedup for name in dict.fromkeys(ids))
            return found

    def knows_any(self, head: bytes) -> bool:
        with self._lock:
            return any(name.startswith(head) for name in (*self._dedup, *self._events))

    def position_of(self, event: EventId) -> int | None:
        found = self._events.get(event)
        return None if found is None else found[1]

    def append(self, batch: CaptureBatch, *, now: datetime) -> None:
        for event in batch.events:
            require_masked(event.record)
        with self._lock:
            mtimes = {c.source_id: c.mtime_ns // 1_000_000 for c in batch.checkpoints}
            starts: dict[str, int] = {}
            for event in batch.events:
                if (time_ms := sane_time(event.time_ms)) is not None:
                    starts.setdefault(event.session_id, time_ms)
            for checkpoint in batch.checkpoints:
                self._sources[checkpoint.source_id] = checkpoint
                self._next_source = max(self._next_source, checkpoint.source_id + 1)
            for event in batch.events:
                self._next_source = max(self._next_source, event.source_id + 1)
                if event.replaces and not self._buried(event):
                    self._take_out(event.event_id)
                if self._buried(event):
                    self._add("skipped.wiped", 1)
                elif event.event_id in self._events:
                    self._add("present", 1)
                else:
                    start = starts.get(event.session_id) or mtimes.get(event.source_id)
                    self._put(event, now, start)
            self._save(batch.facts, None)
            for name, number in batch.counts.items():
                self._add(name, number)

    def _buried(self, event: Event) -> bool:
        """Whether the session, or the one that it is a copy of, was wiped and not taken back."""
        for session_id in (event.session_id, event.session_id.partition("~")[0]):
            name = captured_context_id(event.record.agent, session_id)
            found = self._rows.stones.get(name)
            if found is not None and found.lifted_at is None:
                return True
        return False

    def _add(self, name: str, number: int) -> None:
        if number:
            self._totals[name] = self._totals.get(name, 0) + number

    def _put(self, event: Event, now: datetime, start: int | None) -> None:
        agent, time_ms = event.record.agent, sane_time(event.time_ms)
        context_id = captured_context_id(agent, event.session_id)
        root = self._roots.get(context_id)
        if root is None:
            start = sane_time(start) or milliseconds(now)
            root = self._roots[context_id] = Root(
                context_id, agent, event.session_id, start, start, now
            )
            self._begin(root)
        if event.version is not None:
            when = max(root.updated_ms, time_ms or root.updated_ms)
            context = Context(self._rows.tables[context_id], self._events)
            begin(context, event.version, now_ms=when)
        first = self._events.get(event.first) if event.revision and event.first else None
        free = self._rows.tables[context_id].root.next_position
        position = first[1] if first and first[0] is root else free
        node = _stored(event, position, time_ms)
        self._row(root, node, now)
        root.places.setdefault(position, []).append(node)
        root.updated_ms = max(root.updated_ms, time_ms or root.updated_ms)
        known = KnownEvent(event.record.digest, event.source_id)
        self._events[event.event_id] = (root, position, known)
        self._dedup.setdefault(event.event_id, (known, milliseconds(now) // 1000))

    def _take_out(self, event: EventId) -> None:
        """The newest revision of a streaming record, before the next content comes in."""
        root, position, _ = self._events.get(event, (None, 0, None))
        if root is None:
            return
        table = self._rows.tables[root.context_id]
        rows = table.between((position, -1, -1), position + 1)
        for key in [row.key for row in rows if row.event_id == event and row.revision]:
            gone = table.rows[key]
            del self._events[event], table.rows[key], table.bodies[key]
            table.keys.remove(key)
            table.nodes.pop(key, None)
            table.root.nodes -= 1
            self._dedup.pop(event, None)
            kept = [node for node in root.places[position] if node.event_id != event]
            root.places[position], root.facts_rows = kept, -1
            before = [r for r in table.between((position, -1, -1), position + 1) if r.captured]
            if before and gone.superseded is None:
                table.rows[before[-1].key] = before[-1]._replace(superseded=None)

    def _begin(self, root: Root) -> None:
        known = HistoryRoot(
            ref=root.context_id, context_id=root.context_id, agent=root.agent,
            session_id=root.session_id, created_ms=root.created_ms, updated_ms=root.created_ms,
        )  # fmt: skip
        head = Head(
            version=0, head_id=f"ver_{root.context_id[4:]}", operation="create",
            created_ms=root.created_ms,
        )  # fmt: skip
        tables, name = self._rows.tables, root.context_id
        tables[name] = Table(root=known, heads=[head])
        root.version = lambda: tables[name].root.version

    def _row(self, root: Root, node: StoredNode, now: datetime) -> None:
        """The node as a row of the context's history."""
        table = self._rows.tables[root.context_id]
        known = table.root
        here = [r for r in table.between((node.position, -1, -1), node.position + 1) if r.captured]
        body = node.body if node.text is None else encode_text(node.text)
        before = here[-1].chain or b"" if here else known.tail
        chain = link(before, content_digest(body, None))
        hidden = bool(here) and all(row.superseded is not None for row in here)
        row = Row(
            position=node.position, born=known.version, revision=node.revision,
            superseded=known.version if hidden else None, event_id=node.event_id, parent=None,
            form=None, time_ms=node.time_ms, stored_ms=milliseconds(now), rule_set=node.rule_set,
            chain=chain, base=None,
        )  # fmt: skip
        shown = [r for r in here if r.superseded is None]
        newest = max([*shown, row], key=lambda r: r.revision)
        for older in [*shown, row]:
            if older is not newest and not hidden:
                table.rows[older.key] = older._replace(superseded=known.version)
        if row is not newest and not hidden:
            row = row._replace(superseded=known.version)
        self._rows.put(root.context_id, row, body, node)
        known.nodes += 1
        if not here:
            known.next_position, known.tail = node.position + 1, chain

    def purge_dedup(self, *, older_than: datetime, now: datetime) -> int:
        with self._lock:
            limit = milliseconds(older_than) // 1000
            old = [name for name, (_, stored) in self._dedup.items() if stored < limit]
            for name in old:
                del self._dedup[name]
            self._purged_at = now
            return len(old)

    def dedup_status(self) -> DedupStatus:
        return DedupStatus(rows=len(self._dedup), hits=self._hits, purged_at=self._purged_at)

    def note(self, key: str, value: Any) -> None:
        self._notes[key] = dump(value)

    def noted(self, key: str) -> Any:
        return load(self._notes[key]) if key in self._notes else None

    def totals(self) -> dict[str, int]:
        return dict(self._totals)

    # reading

    def contexts(
        self,
        *,
        agent: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        limit: int = 50,
        children: bool = False,
    ) -> list[ContextRow]:
        path = project.rstrip("/") if project is not None else None
        found = []
        newest = sorted(self._roots.values(), key=lambda r: r.updated_ms, reverse=True)
        for root in newest:
            row = root.row()
            place = row.facts.project_path
            if (
                (agent is None or row.agent == agent)
                and (path is None or (place is not None and f"{place}/".startswith(f"{path}/")))
                and (since is None or root.updated_ms >= milliseconds(since))
                and (children or row.facts.relation != "subagent")
            ):
                found.append(row)
        return found[:limit] if limit else found

    def find(self, name: str) -> ContextRow:
        rows = [root.row() for root in self._roots.values()]
        exact = [r for r in rows if r.context_id == name] or [
            r for r in rows if r.session_id == name
        ]
        found = exact or [
            r
            for r in rows
            if len(name) >= 4 and (r.context_id.startswith(name) or r.session_id.startswith(name))
        ]
        found = found or [root.row() for root in self._roots.values() if self._aliased(root, name)]
        if not found:
            raise NotFoundError(
                f"no session named {name!r}", hint="`ultracontext sessions --all` lists them"
            )
        if len(found) > 1:
            shown = ", ".join(f"{r.context_id} ({r.agent} {r.session_id})" for r in found[:5])
            raise StoreError(
                f"{name!r} could be {shown}", hint="Give more of the id", code="ambiguous"
            )
        return found[0]

    def _aliased(self, root: Root, name: str) -> bool:
        """Whether a source of this file name brought its first or last record."""
        places = (
            [root.places[min(root.places)], root.places[max(root.places)]] if root.places else []
        )
        ends = [revisions[0].source_path for revisions in places]
        sources = [self._sources[int(number)] for number in ends if int(number) in self._sources]
        names = [source.path.rpartition("/")[2] for source in sources]
        return bool(name) and any(n == name or n.startswith(f"{name}.") for n in names)

    def by_session(self, agent: str, session_id: str) -> ContextRow | None:
        root = self._roots.get(captured_context_id(agent, session_id))
        return None if root is None else root.row()

    def nodes(
        self,
        context_id: ContextId,
        *,
        first: int = 0,
        until: int | None = None,
        all_revisions: bool = False,
        version: int | None = None,
    ) -> Iterator[StoredNode]:
        table = self._rows.tables.get(context_id)
        if table is None:
            return
        time_ms = table.root.created_ms
        with self._lock:
            rows = list(table.between((0, -1, -1), table.root.next_position))
        for row in rows if until is None else (row for row in rows if row.position < until):
            wanted = all_revisions or row.superseded is None
            if version is not None:
                wanted = shown(row.born, row.superseded, version)
            if wanted:
                time_ms = time_ms if row.time_ms is None else row.time_ms
                if row.position >= first:
                    yield self._timed(_node(table, row), time_ms)

    def _timed(self, node: StoredNode, time_ms: int) -> StoredNode:
        path = self._sources.get(int(node.source_path or -1))
        return msgspec.structs.replace(
            node,
            time_ms=time_ms,
            time_inherited=node.time_ms is None,
            source_path=path.path if path else "",
        )

    def save_facts(self, updates: Sequence[FactsUpdate], *, nodes: Mapping[str, int]) -> None:
        with self._lock:
            self._save(updates, nodes)

    def _save(self, updates: Sequence[FactsUpdate], nodes: Mapping[str, int] | None) -> None:
        for update in updates:
            root = self._roots.get(captured_context_id(update.agent, update.session_id))
            if root is None:
                continue
            root.base = update.base or root.base
            if update.facts is None:
                continue
            if nodes is not None and nodes.get(root.context_id) != len(root.places):
                continue
            root.facts, root.facts_rows = update.facts, root.rows
            root.reader_digest = readers.reader_digest(update.agent)
            root.created_ms = _time(update.facts.started_at, root.created_ms)
            root.updated_ms = _time(update.facts.updated_at, root.updated_ms)
            known = self._rows.tables[root.context_id].root
            known.facts, known.created_ms = update.facts, root.created_ms
            known.updated_ms = root.updated_ms

    def set_kinds(self, kinds: Mapping[EventId, tuple[str, str, str]]) -> None:
        with self._lock:
            for event, (kind, role, event_type) in kinds.items():
                known = self._events.get(event)
                for node in known[0].places[known[1]] if known else ():
                    if node.event_id == event:
                        node.kind, node.role, node.event_type = kind, role, event_type

    def set_relation(self, context_id: ContextId, *, parent_session: str, relation: str) -> None:
        root = self._roots.get(context_id)
        if root is None:
            raise NotFoundError(f"no context {context_id}", hint="It may have been wiped meanwhile")
        others = [
            r for r in self._roots.values() if r.session_id == parent_session and r is not root
        ]
        others.sort(key=lambda r: r.agent != root.agent)
        parent = others[0].context_id if others else captured_context_id(root.agent, parent_session)
        root.related = (parent, parent_session, relation)

    def share_bodies(self, copy: ContextId, original: ContextId) -> Iterator[int]:
        return iter(())  # what is in memory is not worth it

    def stale(self, limit: int) -> list[ContextRow]:
        return [row for root in self._roots.values() if (row := root.row()).stale][:limit]

    def pulse(self) -> int | None:
        return None

    def child_counts(self) -> dict[ContextId, int]:
        rows = [root.row() for root in self._roots.values()]
        return dict(Counter(
            row.parent_id for row in rows
            if row.facts.relation == "subagent" and row.parent_id is not None
        ))  # fmt: skip

    def source_paths(self, contexts: Sequence[ContextId]) -> dict[ContextId, list[str]]:
        found: dict[ContextId, list[str]] = {}
        for context in contexts:
            if context in self._roots:
                nodes = [node for places in self._roots[context].places.values() for node in places]
                known = sorted({int(node.source_path) for node in nodes})
                found[context] = [self._sources[n].path for n in known if n in self._sources]
        return found

    # masks: this store is never older than its program
    def behind(self, rule_set: int) -> int:
        return 0

    def remask_names(self, redactor: Redactor) -> None:
        """Nothing to do."""

    def remask(self, redactor: Redactor) -> Iterator[int]:
        return iter(())

    def remasks(self, context_id: ContextId) -> list[Remask]:
        return []

    def marks(self) -> list[MarkRow]:
        return []

    def keep_digests(self, digests: Sequence[bytes]) -> None:
        self._digests.update(digests)

    def forget_digests(self) -> None:
        self._digests.clear()

    def digests(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for digest in sorted(self._digests):
            found.setdefault(digest.hex()[:8], []).append(digest.hex())
        return found


def _time(text: str | None, otherwise: int) -> int:
    found = sane_time(parse_time(text))
    return otherwise if found is None else found


def _node(table: Table, row: Row) -> StoredNode:
    """A row as a node; a message that a program gave has its body `[metadata, content]`."""
    if row.key in table.nodes:
        return msgspec.structs.replace(
            table.nodes[row.key], position=row.position, event_id=EventId(row.event_id)
        )
    return StoredNode(
        event_id=EventId(row.event_id), position=row.position, revision=0, kind=MESSAGE_KIND,
        role="user", event_type=MESSAGE_KIND, time_ms=row.time_ms, source_path="", start=0, end=0,
        damage=None, text=None, body=table.bodies[row.key], companions={}, rule_set=0,
    )  # fmt: skip


def _stored(event: Event, position: int, time_ms: int | None) -> StoredNode:
    record = event.record
    return StoredNode(
        event_id=event.event_id,
        position=position,
        revision=event.revision,
        kind=event.kind,
        role=event.role,
        event_type=event.event_type,
        time_ms=time_ms,
        source_path=str(event.source_id),
        start=record.start,
        end=record.end,
        damage=record.damage,
        text=record.text,
        body=join_parts(record.body, record.parts) if record.text is None else b"",
        companions=dict(record.companions),
        rule_set=record.rule_set,
        too_large=record.too_large,
    )
