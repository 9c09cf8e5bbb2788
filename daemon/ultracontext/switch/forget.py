"""What a wipe takes out of the ledger: texts, handoffs, kept copies. That something was written,
where, and by which session stays, so that `switch undo` still removes the files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from ultracontext.model import captured_context_id
from ultracontext.switch.ledger import Ledger, Row

STAYS = ("file", "folder")
"""Kinds of `Done` that hold a path and a digest; the others hold lines, values and rows."""


def forget(ledger: Ledger, keep: Path, contexts: Collection[str]) -> list[Row]:
    """Leaves no text of wiped contexts in the ledger and in `keep`, our folder beside it. Gives the
    rows whose sessions still lie in an agent's folder. Raises StoreError."""
    left = []
    for row in ledger.rows():
        if not contexts_of(row) & set(contexts):
            continue
        _remove_files(row, keep)
        row.done = [one for one in row.done if one.kind in STAYS]
        row.losses, row.command, row.reason = [], [], ""
        if row.operation == "handoff":
            row.state, row.done = "undone", []
        ledger.put(row)
        if row.state in ("writing", "written"):
            left.append(row)
    ledger.settle()
    return left


def copies(ledger: Ledger, contexts: Collection[str]) -> set[str]:
    """Contexts that capture made of sessions that we wrote from these, and from those in turn."""
    found: set[str] = set()
    reached = set(contexts)
    rows = [row for row in ledger.rows() if row.state == "written" and row.session_id]
    while True:
        new = {_target(row) for row in rows if _sources(row) & reached} - reached
        if not new:
            return found
        found |= new
        reached |= new


def contexts_of(row: Row) -> set[str]:
    """The session that was read, and the one that was written."""
    return _sources(row) | ({_target(row)} if row.session_id else set())


def _sources(row: Row) -> set[str]:
    came = row.source
    return {came.context_id, str(captured_context_id(came.agent, came.session_id))} - {""}


def _target(row: Row) -> str:
    return str(captured_context_id(row.agent, row.session_id))


def _remove_files(row: Row, keep: Path) -> None:
    """Only what lies in our own folder."""
    names = [one.copy for one in row.done if one.copy] + [str(keep / f"{row.id}.jsonl")]
    if row.operation == "handoff":
        names.append(row.path)
    for path in map(Path, names):
        if path.parent == keep:
            path.unlink(missing_ok=True)
