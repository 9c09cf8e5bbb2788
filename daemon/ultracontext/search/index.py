"""`index.db`: which message holds which words. Derived from the store; deleting it costs time only.

    contexts   what is indexed of each session, and what searches are narrowed by
    docs       messages: the row of the store they come from, and their place in `show`
    shard_N    FTS5 tables without content; a session lies in one of them whole

FTS5 without content cannot take a row out again. So a row that changed is marked dead, and when a
session is wiped its shard is dropped and filled anew: no byte of it stays.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from ultracontext.errors import StoreError

VERSION = 2
APPLICATION_ID = 0x55435849
SHARD_DOCS = 50_000
"""Messages after which new sessions go to a new shard."""

_SCHEMA = """
CREATE TABLE contexts (
    ref INTEGER PRIMARY KEY,
    context_id TEXT NOT NULL UNIQUE,
    session_id TEXT NOT NULL,
    agent TEXT NOT NULL,
    project_path TEXT,
    git_remote TEXT,
    title TEXT,
    files TEXT NOT NULL,
    shard INTEGER NOT NULL,
    stamp BLOB
);
CREATE TABLE docs (
    id INTEGER PRIMARY KEY,
    context INTEGER NOT NULL,
    position INTEGER NOT NULL,
    part INTEGER NOT NULL,
    place INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    tool INTEGER,
    time_ms INTEGER,
    digest BLOB NOT NULL,
    dead INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX docs_context ON docs (context);
CREATE INDEX docs_dead ON docs (id) WHERE dead = 1;
CREATE TABLE tools (ref INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE shards (shard INTEGER PRIMARY KEY, docs INTEGER NOT NULL);
CREATE TABLE notes (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
"""


KINDS = ("user", "assistant", "reasoning", "tool_call", "tool_result", "system", "meta")
"""Kinds of messages by number; the order is part of the format."""


class IndexedContext(msgspec.Struct, kw_only=True):
    """What the index knows of a session."""

    ref: int
    context_id: str
    shard: int
    stamp: bytes | None


class Doc(msgspec.Struct, kw_only=True, frozen=True):
    """One message, as a row of `docs`."""

    position: int
    part: int
    place: int
    kind: str
    tool: str | None
    time_ms: int | None
    digest: bytes
    text: str = ""
    """Only to be written."""


class IndexState(msgspec.Struct, kw_only=True):
    """How far the index is."""

    messages: int
    sessions: int
    behind: int | None
    """Sessions that have more than is indexed; None: not known."""
    bytes: int


class Index:
    """One `index.db`, which holds one space and no other. One writer (the daemon, or a command
    while no daemon runs); any readers."""

    def __init__(self, path: Path, *, space: str = "local", write: bool) -> None:
        self.path = path
        self.space = space
        self._lock = threading.RLock()
        self._write = write
        self._db = self._open()

    def close(self) -> None:
        with self._lock:
            self._db.close()

    # ---- reading -------------------------------------------------------------------------------
    def shards(self) -> list[int]:
        """Newest first."""
        return [n for (n,) in self.rows("SELECT shard FROM shards ORDER BY shard DESC")]

    def rows(self, sql: str, bound: Sequence[Any] | dict[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Rows of a reading statement. Raises StoreError."""
        with self._lock, self._faults():
            return self._db.execute(sql, bound).fetchall()

    def context(self, context_id: str) -> IndexedContext | None:
        found = self.rows(
            "SELECT ref, context_id, shard, stamp FROM contexts WHERE context_id = ?", (context_id,)
        )
        if not found:
            return None
        ref, name, shard, stamp = found[0]
        return IndexedContext(ref=ref, context_id=name, shard=shard, stamp=stamp)

    def docs(self, ref: int) -> dict[tuple[int, int], tuple[int, Doc]]:
        """Living rows of a session: (position, part) → (row id, row)."""
        found = self.rows(
            "SELECT id, position, part, place, kind, t.name, time_ms, digest FROM docs"
            " LEFT JOIN tools t ON t.ref = docs.tool WHERE context = ? AND dead = 0",
            (ref,),
        )
        return {
            (row[1], row[2]): (
                row[0],
                Doc(position=row[1], part=row[2], place=row[3], kind=KINDS[row[4]], tool=row[5],
                    time_ms=row[6], digest=row[7]),
            )
            for row in found
        }  # fmt: skip

    def note(self, name: str) -> Any:
        found = self.rows("SELECT value FROM notes WHERE name = ?", (name,))
        return found[0][0] if found else None

    def state(self, behind: int | None = None) -> IndexState:
        ((written,),) = self.rows("SELECT coalesce(sum(docs), 0) FROM shards")
        ((dead,),) = self.rows("SELECT count(*) FROM docs WHERE dead = 1")
        ((sessions,),) = self.rows("SELECT count(*) FROM contexts")
        size = self.path.stat().st_size if self.path.exists() else 0
        return IndexState(messages=written - dead, sessions=sessions, behind=behind, bytes=size)

    # ---- writing -------------------------------------------------------------------------------
    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction."""
        with self._lock, self._faults():
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")

    def tool(self, db: sqlite3.Connection, name: str | None) -> int | None:
        """The number of a tool's name."""
        if not name:
            return None
        db.execute("INSERT OR IGNORE INTO tools (name) VALUES (?)", (name,))
        (ref,) = db.execute("SELECT ref FROM tools WHERE name = ?", (name,)).fetchone()
        return int(ref)

    def shard_for_new(self, db: sqlite3.Connection) -> int:
        """The shard that new sessions go to."""
        row = db.execute("SELECT shard, docs FROM shards ORDER BY shard DESC LIMIT 1").fetchone()
        if row is not None and row[1] < SHARD_DOCS:
            return int(row[0])
        shard = (row[0] if row else 0) + 1
        self._make_shard(db, shard)
        return int(shard)

    def drop(self, context_ids: Iterable[str]) -> list[str]:
        """Takes sessions out without a trace. What else lay in their shards is to be filled anew:
        the ids of those sessions."""
        names = list(context_ids)
        again: list[str] = []
        with self.writing() as db:
            for shard in sorted({c.shard for n in names if (c := self.context(n)) is not None}):
                lost = db.execute(
                    "SELECT ref, context_id FROM contexts WHERE shard = ?", (shard,)
                ).fetchall()
                for ref, name in lost:
                    db.execute("DELETE FROM docs WHERE context = ?", (ref,))
                    db.execute("DELETE FROM contexts WHERE ref = ?", (ref,))
                    if name not in names:
                        again.append(name)
                db.execute(f"DROP TABLE shard_{shard:d}")
                db.execute("DELETE FROM shards WHERE shard = ?", (shard,))
            db.execute(
                "DELETE FROM tools WHERE ref NOT IN (SELECT tool FROM docs WHERE tool IS NOT NULL)"
            )
        if names:
            self.settle()
        return again

    def settle(self) -> bool:
        """Leaves no free page and no WAL with older text; False while a reader needs the WAL."""
        with self._lock, self._faults():
            self._db.execute("PRAGMA incremental_vacuum").fetchall()
            ((busy, _, _),) = self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return not busy

    def _make_shard(self, db: sqlite3.Connection, shard: int) -> None:
        db.execute(
            f"CREATE VIRTUAL TABLE shard_{shard:d} USING fts5(t, w, content='',"
            " tokenize='unicode61 remove_diacritics 2')"
        )
        db.execute(f"INSERT INTO shard_{shard:d}(shard_{shard:d}, rank) VALUES('pgsz', 4050)")
        db.execute("INSERT INTO shards VALUES (?, 0)", (shard,))

    def _open(self) -> sqlite3.Connection:
        with self._faults():
            if not self._write and not self.path.exists():
                raise StoreError(
                    "nothing is indexed yet",
                    code="index-missing",
                    hint="Start the daemon by `ultracontext daemon start`",
                )
            mode = "rwc" if self._write else "ro"
            uri = f"{self.path.absolute().as_uri()}?mode={mode}"
            db = sqlite3.connect(
                uri, uri=True, isolation_level=None, check_same_thread=False, timeout=5.0
            )
            if self._write:
                self.path.chmod(0o600)
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version == VERSION:
                self._check_space(db)
                if self._write:
                    db.execute("PRAGMA secure_delete=ON")
                    db.execute("PRAGMA synchronous=NORMAL")
                return db
            if not self._write:
                db.close()
                raise StoreError(
                    "the search index is of another version", code="index-version",
                    hint="The daemon makes it anew: `ultracontext daemon restart`",
                )  # fmt: skip
            db.close()
            return self._anew()

    def _check_space(self, db: sqlite3.Connection) -> None:
        found = db.execute("SELECT value FROM notes WHERE name = 'space'").fetchone()
        if found is None or found[0] != self.space:
            db.close()
            raise StoreError(
                f"the search index {self.path.name} is of another space", code="index-space"
            )

    def _anew(self) -> sqlite3.Connection:
        """Another version, or none: it is derived, so it begins anew."""
        for end in ("", "-wal", "-shm"):
            with suppress(FileNotFoundError):
                self.path.with_name(self.path.name + end).unlink()
        db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=5.0)
        self.path.chmod(0o600)
        db.execute(f"PRAGMA application_id={APPLICATION_ID}")
        db.execute("PRAGMA auto_vacuum=INCREMENTAL")
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("PRAGMA secure_delete=ON")
        db.execute("PRAGMA synchronous=NORMAL")
        db.executescript(_SCHEMA)
        db.execute("INSERT INTO notes VALUES ('space', ?)", (self.space,))
        db.execute(f"PRAGMA user_version={VERSION}")
        return db

    @contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            busy = "locked" in str(error) or "busy" in str(error)
            raise StoreError(
                f"the search index {self.path.name} cannot be used ({type(error).__name__})",
                code="index-busy" if busy else "index",
                hint="Delete it; the daemon makes it anew from the store",
            ) from error
        except sqlite3.DatabaseError as error:
            raise StoreError(
                f"the search index {self.path.name} is damaged",
                code="index-damaged",
                hint="Delete it; the daemon makes it anew from the store",
            ) from error
