"""What was written, by whom it was meant, and how to take it back: `state/switch.db`.

A row is `writing` before the first byte is written and `written` once all was read back; `undone`
and `failed` rows stay as a record. Rows hold no text of a session.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

import msgspec

from ultracontext.errors import NotFoundError, StoreError
from ultracontext.switch.done import Done

State = Literal["writing", "written", "undone", "failed"]
BUSY_SECONDS = 5.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS writes (
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    batch TEXT,
    source_agent TEXT NOT NULL,
    source_session TEXT NOT NULL,
    agent TEXT NOT NULL,
    session_id TEXT NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX IF NOT EXISTS by_source ON writes (source_agent, source_session, agent);
CREATE INDEX IF NOT EXISTS by_target ON writes (agent, session_id);
"""


class Came(msgspec.Struct, frozen=True, kw_only=True):
    """The session that was read."""

    agent: str
    session_id: str
    context_id: str


class Row(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One written session."""

    id: str
    """`sw_` + 16 hex digits."""
    state: State
    at: datetime
    agent: str
    session_id: str
    path: str
    root: str
    source: Came
    operation: str = "switch"
    """`switch`, `restore`, `heal`, `relocate`."""
    batch: str | None = None
    version: str = ""
    verdict: str = ""
    forced: bool = False
    unmasked: bool = False
    turns: int = 0
    messages: int = 0
    tool_calls: int = 0
    digest: str = ""
    """Of the source's entries as they were carried: tells a source that has grown."""
    losses: list[dict[str, int | str]] = []
    command: list[str] = []
    cwd: str = ""
    done: list[Done] = []
    reason: str = ""
    """Why a write failed."""


class Ledger:
    """Opened for one command; several processes may."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            fresh = not self._path.exists()
            with closing(
                sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)
            ) as database:
                if fresh:
                    self._path.chmod(0o600)
                database.execute("PRAGMA synchronous=FULL")
                database.execute("PRAGMA secure_delete=ON")
                database.executescript(_SCHEMA)
                yield database
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"the ledger {self._path} cannot be used ({type(error).__name__})",
                hint="Make its folder writable; nothing is written without it", code="ledger",
            ) from error  # fmt: skip

    def put(self, row: Row) -> None:
        """Writes a row, on disk when it returns."""
        with self._open() as database:
            database.execute(
                "INSERT OR REPLACE INTO writes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    row.id, row.state, int(row.at.timestamp() * 1000), row.batch, row.source.agent,
                    row.source.session_id, row.agent, row.session_id, msgspec.json.encode(row),
                ),
            )  # fmt: skip

    def settle(self) -> None:
        """Leaves no free page with older text."""
        if self._path.exists():
            with self._open() as database:
                database.execute("VACUUM")

    def rows(self) -> list[Row]:
        """Newest first."""
        return self._found("SELECT body FROM writes ORDER BY at_ms DESC, rowid DESC", ())

    def of_source(self, agent: str, session_id: str, target: str) -> list[Row]:
        """What was written of a session for an agent and is still there; newest first."""
        return self._found(
            "SELECT body FROM writes WHERE source_agent = ? AND source_session = ? AND agent = ?"
            " AND state = 'written' ORDER BY at_ms DESC, rowid DESC",
            (agent, session_id, target),
        )

    def of_target(self, agent: str, session_id: str) -> Row | None:
        """The row of a session that we wrote."""
        found = self._found(
            "SELECT body FROM writes WHERE agent = ? AND session_id = ? AND state <> 'failed'"
            " ORDER BY at_ms DESC",
            (agent, session_id),
        )
        return found[0] if found else None

    def stranded(self, before: datetime) -> list[Row]:
        """Rows that are `writing` since before a moment: their writer died."""
        return self._found(
            "SELECT body FROM writes WHERE state = 'writing' AND at_ms < ?",
            (int(before.timestamp() * 1000),),
        )

    def find(self, name: str) -> list[Row]:
        """The rows of a batch, or the one of a ledger id or a written session, or a unique prefix
        of one. Raises NotFoundError."""
        rows = self.rows()
        batch = [row for row in rows if row.batch == name]
        if batch:
            return batch
        exact = [row for row in rows if name in (row.id, row.session_id)]
        if not exact and len(name) >= 4:
            exact = [r for r in rows if r.id.startswith(name) or r.session_id.startswith(name)]
        names = {row.id for row in exact}
        if len(names) == 1:
            return exact
        if names:
            raise StoreError(
                f"{name} names {len(names)} written sessions", code="ambiguous",
                hint="Give more of the id",
            )  # fmt: skip
        raise NotFoundError(
            f"nothing was written under {name}", hint="`ultracontext switch list` shows all",
            code="not-found",
        )  # fmt: skip

    def _found(self, sql: str, values: tuple[object, ...]) -> list[Row]:
        if not self._path.exists():
            return []
        with self._open() as database:
            found = database.execute(sql, values).fetchall()
        return [msgspec.json.decode(body, type=Row) for (body,) in found]


def now() -> datetime:
    return datetime.now(UTC)
