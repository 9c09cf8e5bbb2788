"""The SQLite backend: `<home>/store.db`, one writer at a time, readers beside it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from ultracontext.chain import Remask
from ultracontext.errors import StoreBusyError, StoreError
from ultracontext.model import ContextId, EventId
from ultracontext.redaction import Redactor
from ultracontext.store.base import (
    CaptureBatch,
    Checkpoint,
    ContextRow,
    DedupStatus,
    FactsUpdate,
    KnownEvent,
    MarkRow,
    StoredNode,
)
from ultracontext.store.history import History, Rows
from ultracontext.store.sqlite import (
    behind,
    contexts,
    dedup,
    facts,
    faults,
    lists,
    marks,
    roots,
    sources,
)
from ultracontext.store.sqlite import connection as links
from ultracontext.store.sqlite.append import Append, without_present
from ultracontext.store.sqlite.blocks import BlockReader, pack_loose
from ultracontext.store.sqlite.bodies import Bodies
from ultracontext.store.sqlite.content import Remasker
from ultracontext.store.sqlite.names import Kinds
from ultracontext.store.sqlite.nodes import Reading
from ultracontext.store.sqlite.remasking import Remasking, remasks_of
from ultracontext.store.sqlite.rows import SqliteRows
from ultracontext.store.sqlite.sharing import Sharing
from ultracontext.store.sqlite.soundness import Soundness
from ultracontext.store.values import milliseconds, moment, words

T = TypeVar("T")
END = 1 << 62
HISTORY_VERSION = 1002
"""Of the schema, from which on contexts have history."""
REMASKED = "redaction.done"
"""Note: the rules under which all is masked, with nothing older left in the WAL."""


class SqliteStore:
    """One file. `within` is all that it offers for reading and writing."""

    def __init__(self, path: Path, *, write: bool) -> None:
        self.path = path
        self._writer = links.Connection(path, write=True) if write else None
        self._reader = links.Connection(path, write=False)
        self._spaces: dict[str, SqliteSpaceStore] = {}
        self._lock = Lock()
        self._unsound = False

    def within(self, space: str) -> SqliteSpaceStore:
        if not space:
            raise ValueError("a space has a name")
        with self._lock:
            if space not in self._spaces:
                self._spaces[space] = SqliteSpaceStore(space, self._reader, self._writer)
            return self._spaces[space]

    def maintain(self) -> None:
        if self._writer is None:
            return
        for space in list(self._spaces.values()):
            with suppress(StoreError):
                space.pack_loose()
        with suppress(StoreError):
            self._writer.tidy()

    def sound(self, halted: Callable[[], bool]) -> bool | None:
        found = Soundness(self.path, halted).sound()
        self._unsound = self._unsound or found is False
        return found

    @property
    def damaged(self) -> bool:
        met = self._reader.damaged or (self._writer is not None and self._writer.damaged)
        return met or self._unsound

    def close(self) -> None:
        self._reader.close()
        if self._writer is not None:
            self._writer.close()


def open_sqlite(path: Path, *, write: bool, migrate: bool) -> SqliteStore:
    """Opens the store in a file; `migrate` makes it or brings it up to date first."""
    try:
        if migrate and write:
            links.create(path)
            links.migrate(path)
        elif not path.exists():
            raise StoreError(
                f"there is no store at {path}",
                hint="Run `ultracontext daemon start`",
                code="store-missing",
            )
        connection = links.connect(path, write=False)
        try:
            links.check(connection, path)
        finally:
            connection.close()
    except (sqlite3.Error, OSError) as error:
        raise faults.translate(error, str(path)) from error
    return SqliteStore(path, write=write)


class SqliteSpaceStore(History):
    """One space of the file."""

    def __init__(
        self, space: str, reader: links.Connection, writer: links.Connection | None
    ) -> None:
        self.space = space
        self._reader = reader
        self._maybe_writer = writer
        self._bodies = Bodies(space)
        self._kinds = Kinds(space)
        self._next_source = 0
        self._hits = 0
        self._has_history = False

    # history

    def _in_read(self, work: Callable[[Rows], T]) -> T:
        with self._reader.snapshot() as connection:
            self._check_history(connection)
            return work(SqliteRows(connection, self.space, bodies=self._bodies, kinds=self._kinds))

    def _in_write(self, work: Callable[[Rows], T], *, context: str = "") -> T:
        writer = self._writer()
        with writer.lock:
            try:
                with writer.writing() as connection:
                    self._check_history(connection)
                    rows = SqliteRows(
                        connection, self.space, bodies=self._bodies, kinds=self._kinds,
                        now_ms=int(time.time() * 1000),
                    )  # fmt: skip
                    found = work(rows)
                    rows.finish()
                    return found
            except BaseException:
                self._bodies.forget()
                self._kinds.forget()
                raise

    def _check_history(self, connection: sqlite3.Connection) -> None:
        if self._has_history:
            return
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version < HISTORY_VERSION:
            raise StoreError(
                f"the store {self._reader.path} has an older schema ({version})",
                hint="Run `ultracontext daemon restart`, which brings it up to date",
                code="store-older",
            )
        self._has_history = True

    def scrub(self) -> bool:
        return self._writer().empty_wal()

    # capture

    def new_source_id(self) -> int:
        with self._writer().reading() as connection:
            if not self._next_source:
                self._next_source = connection.execute(
                    "SELECT coalesce(max(next_source), 1) FROM spaces WHERE space = ?",
                    (self.space,),
                ).fetchone()[0]
            self._next_source += 1
            return self._next_source - 1

    def checkpoints(self) -> list[Checkpoint]:
        with self._reader.reading() as connection:
            return sources.all_of(connection, self.space)

    def known_events(self, ids: Sequence[EventId]) -> dict[EventId, KnownEvent]:
        if not ids:
            return {}
        with (self._maybe_writer or self._reader).reading() as connection:
            found, hits = dedup.known(connection, self.space, ids)
            self._hits += hits
            return found

    def knows_any(self, head: bytes) -> bool:
        with (self._maybe_writer or self._reader).reading() as connection:
            return dedup.knows_any(connection, self.space, head)

    def position_of(self, event: EventId) -> int | None:
        with (self._maybe_writer or self._reader).reading() as connection:
            found = connection.execute(
                "SELECT position FROM nodes WHERE space = ? AND event_id = ?", (self.space, event)
            ).fetchone()
            return None if found is None else int(found[0])

    def append(self, batch: CaptureBatch, *, now: datetime) -> None:
        try:
            self._append(batch, now)
        except StoreError as error:
            if not isinstance(error.__cause__, sqlite3.IntegrityError):
                raise
            self._append(batch, now, again=True)

    def _append(self, batch: CaptureBatch, now: datetime, *, again: bool = False) -> None:
        writer = self._writer()
        with writer.lock:
            hits = self._hits
            try:
                with writer.writing() as connection:
                    if again:
                        batch = without_present(connection, self.space, batch)
                    Append(
                        connection, self.space, bodies=self._bodies, kinds=self._kinds, now=now
                    ).run(batch, hits=hits)
            except BaseException:
                self._bodies.forget()
                self._kinds.forget()
                raise
            self._hits -= hits

    def purge_dedup(self, *, older_than: datetime, now: datetime) -> int:
        after: bytes | None = b""
        purged = 0
        while after is not None:
            with self._writer().writing() as connection:
                after, deleted = dedup.purge_some(
                    connection, self.space, after, milliseconds(older_than) // 1000
                )
                if deleted:
                    sources.add(connection, self.space, {"dedup.rows": -deleted})
                if after is None:
                    sources.note(connection, self.space, "dedup.purged", milliseconds(now))
                purged += deleted
        return purged

    def dedup_status(self) -> DedupStatus:
        with self._reader.reading() as connection:
            counted = sources.total(connection, self.space, "dedup.rows")
            purged = sources.noted(connection, self.space, "dedup.purged")
            return DedupStatus(
                rows=dedup.rows(connection, self.space, counted=counted),
                hits=sources.total(connection, self.space, "dedup.hits") + self._hits,
                purged_at=None if purged is None else moment(purged),
            )

    def note(self, key: str, value: Any) -> None:
        with self._writer().writing() as connection:
            sources.note(connection, self.space, key, value)

    def noted(self, key: str) -> Any:
        with self._reader.reading() as connection:
            return sources.noted(connection, self.space, key)

    def totals(self) -> dict[str, int]:
        with self._reader.reading() as connection:
            found = sources.totals(connection, self.space)
        return {name: value for name, value in found.items() if not name.startswith("dedup.")}

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
        with self._reader.reading() as connection:
            return contexts.listed(
                connection,
                self.space,
                agent=agent,
                project=project,
                since=since,
                limit=limit,
                children=children,
            )

    def find(self, name: str) -> ContextRow:
        with self._reader.reading() as connection:
            return contexts.find(connection, self.space, name)

    def by_session(self, agent: str, session_id: str) -> ContextRow | None:
        with self._reader.reading() as connection:
            return contexts.by_session(connection, self.space, agent, session_id)

    def nodes(
        self,
        context_id: ContextId,
        *,
        first: int = 0,
        until: int | None = None,
        all_revisions: bool = False,
        version: int | None = None,
    ) -> Iterator[StoredNode]:
        reading = Reading(
            space=self.space,
            link=self._reader,
            blocks=BlockReader(self.space, self._bodies),
            kinds=self._kinds,
            newest_only=not all_revisions,
            version=version,
        )
        return reading.walk(context_id, first, END if until is None else until)

    def save_facts(self, updates: Sequence[FactsUpdate], *, nodes: Mapping[str, int]) -> None:
        with self._writer().writing() as connection:
            roots.save_facts(connection, self.space, updates, nodes)

    def set_kinds(self, kinds: Mapping[EventId, tuple[str, str, str]]) -> None:
        with self._writer().lock:
            try:
                with self._writer().writing() as connection:
                    connection.executemany(
                        "UPDATE nodes SET kind = ? WHERE space = ? AND event_id = ?",
                        [
                            (
                                self._kinds.ref(connection, (kind, role, words(said))),
                                self.space,
                                event,
                            )
                            for event, (kind, role, said) in kinds.items()
                        ],
                    )
            except BaseException:
                self._kinds.forget()
                raise

    def set_relation(self, context_id: ContextId, *, parent_session: str, relation: str) -> None:
        with self._writer().writing() as connection:
            contexts.set_relation(connection, self.space, context_id, parent_session, relation)

    def share_bodies(self, copy: ContextId, original: ContextId) -> Iterator[int]:
        work = Sharing(
            space=self.space, reader=self._reader, writer=self._writer(), bodies=self._bodies
        )
        return work.run(copy, original)

    def stale(self, limit: int) -> list[ContextRow]:
        with self._reader.reading() as connection:
            return contexts.stale(connection, self.space, limit)

    def pulse(self) -> int | None:
        with self._reader.reading() as connection:
            (version,) = connection.execute("PRAGMA data_version").fetchone()
            return hash((id(connection), version))

    def child_counts(self) -> dict[ContextId, int]:
        with self._reader.reading() as connection:
            return lists.child_counts(connection, self.space)

    def source_paths(self, contexts: Sequence[ContextId]) -> dict[ContextId, list[str]]:
        with self._reader.reading() as connection:
            return lists.source_paths(connection, self.space, contexts)

    # masks

    def behind(self, rule_set: int) -> int:
        with self._reader.reading() as connection:
            return behind.rows(connection, self.space, rule_set)

    def remask_names(self, redactor: Redactor) -> None:
        with self._writer().writing() as connection:
            facts.mask_names(connection, self.space, redactor)

    def remask(self, redactor: Redactor) -> Iterator[int]:
        writer = self._writer()
        if self.noted(REMASKED) == redactor.rule_set and not self.behind(redactor.rule_set):
            return
        self.remask_names(redactor)
        yield 0
        work = Remasking(
            space=self.space,
            reader=self._reader,
            writer=writer,
            bodies=self._bodies,
            remasker=Remasker(redactor),
            now_ms=lambda: int(time.time() * 1000),
        )
        yield from work.run()
        self._kinds.forget()
        if not writer.empty_wal():
            raise StoreBusyError(
                f"a program that reads {writer.path} keeps older pages of it",
                hint="It is tried again in a minute",
            )
        self.note(REMASKED, redactor.rule_set)

    def remasks(self, context_id: ContextId) -> list[Remask]:
        with self._reader.reading() as connection:
            return remasks_of(connection, self.space, context_id)

    def marks(self) -> list[MarkRow]:
        with self._reader.reading() as connection:
            return marks.all_of(connection, self.space)

    def keep_digests(self, digests: Sequence[bytes]) -> None:
        with self._writer().writing() as connection:
            marks.keep_digests(connection, self.space, digests)

    def forget_digests(self) -> None:
        with self._writer().writing() as connection:
            marks.forget_digests(connection, self.space)

    def digests(self) -> dict[str, list[str]]:
        with self._reader.reading() as connection:
            return marks.digests(connection, self.space)

    def pack_loose(self) -> None:
        """Puts the records of sessions that grew one by one into larger blocks; a bounded step."""
        with self._writer().writing() as connection:
            pack_loose(connection, self.space, self._bodies)

    def _writer(self) -> links.Connection:
        if self._maybe_writer is None:
            raise StoreError(
                "the store is open for reading only",
                hint="Nothing was changed",
                code="store-readonly",
            )
        return self._maybe_writer
