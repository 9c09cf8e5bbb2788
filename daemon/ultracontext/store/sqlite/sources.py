"""Checkpoints, notes and totals of capture."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from ultracontext.store.base import Checkpoint
from ultracontext.store.values import column, dump, load, words

COLUMNS = (
    "source_id, agent, path, path_digest, device, inode, fingerprint, fingerprint_length, size,"
    " mtime_ns, ctime_ns, position, ordinal, prefix, mode, branch, state, problem, gone"
)
PUT = (
    f"INSERT OR REPLACE INTO sources (space, {COLUMNS})"  # noqa: S608
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
GET = f"SELECT {COLUMNS} FROM sources WHERE space = ? ORDER BY source_id"  # noqa: S608
_WRAP = 1 << 64


def _signed(number: int) -> int:
    """Devices and inodes are unsigned 64-bit numbers; a column is signed."""
    return number - _WRAP if number >= 1 << 63 else number


def put(connection: sqlite3.Connection, space: str, checkpoints: Iterable[Checkpoint]) -> None:
    connection.executemany(
        PUT,
        [
            (
                space,
                c.source_id,
                c.agent,
                words(c.path),
                c.path_digest,
                _signed(c.device),
                _signed(c.inode),
                c.fingerprint,
                c.fingerprint_length,
                c.size,
                c.mtime_ns,
                c.ctime_ns,
                c.position,
                c.ordinal,
                c.prefix,
                c.mode,
                column(c.branch),
                dump(c.state) if c.state else None,
                c.problem,
                c.gone,
            )
            for c in checkpoints
        ],
    )


def all_of(connection: sqlite3.Connection, space: str) -> list[Checkpoint]:
    rows = connection.execute(GET, (space,)).fetchall()
    return [_checkpoint(row) for row in rows]


def _checkpoint(row: tuple[Any, ...]) -> Checkpoint:
    (
        source_id,
        agent,
        path,
        path_digest,
        device,
        inode,
        fingerprint,
        fingerprint_length,
        size,
        mtime_ns,
        ctime_ns,
        position,
        ordinal,
        prefix,
        mode,
        branch,
        state,
        problem,
        gone,
    ) = row
    return Checkpoint(
        source_id=source_id,
        agent=agent,
        path=path,
        path_digest=path_digest,
        device=device % _WRAP,
        inode=inode % _WRAP,
        fingerprint=fingerprint,
        fingerprint_length=fingerprint_length,
        size=size,
        mtime_ns=mtime_ns,
        ctime_ns=ctime_ns,
        position=position,
        ordinal=ordinal,
        prefix=prefix,
        mode=mode,
        branch=branch,
        state=load(state) if state else {},
        problem=problem,
        gone=bool(gone),
    )


def paths(connection: sqlite3.Connection, space: str) -> dict[int, str]:
    return dict(
        connection.execute(
            "SELECT source_id, path FROM sources WHERE space = ?", (space,)
        ).fetchall()
    )


def note(connection: sqlite3.Connection, space: str, name: str, value: Any) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO notes (space, name, value) VALUES (?, ?, ?)",
        (space, words(name), dump(value)),
    )


def noted(connection: sqlite3.Connection, space: str, name: str) -> Any:
    found = connection.execute(
        "SELECT value FROM notes WHERE space = ? AND name = ?", (space, words(name))
    ).fetchone()
    return load(found[0]) if found else None


def add(connection: sqlite3.Connection, space: str, counts: Mapping[str, int]) -> None:
    """Adds to running totals."""
    connection.executemany(
        "INSERT INTO totals (space, name, value) VALUES (?, ?, ?)"
        " ON CONFLICT (space, name) DO UPDATE SET value = value + excluded.value",
        [(space, words(name), number) for name, number in counts.items() if number],
    )


def totals(connection: sqlite3.Connection, space: str) -> dict[str, int]:
    return dict(
        connection.execute("SELECT name, value FROM totals WHERE space = ?", (space,)).fetchall()
    )


def total(connection: sqlite3.Connection, space: str, name: str) -> int:
    found = connection.execute(
        "SELECT value FROM totals WHERE space = ? AND name = ?", (space, name)
    ).fetchone()
    return int(found[0]) if found else 0
