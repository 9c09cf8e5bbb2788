"""Takes the newest revision of a streaming record out, before the next content comes in."""

from __future__ import annotations

import sqlite3
from collections import Counter

from ultracontext.model import EventId
from ultracontext.store.sqlite import extras, marks
from ultracontext.store.sqlite.blocks import LOOSE_BYTES, BlockReader, BlockWriter

ROW = (
    "SELECT context, block, place, size, extra, time_ms, superseded FROM nodes"
    " WHERE space = ? AND event_id = ? AND revision > 0"
)
BLOCK = "SELECT first, last, size, shared FROM blocks WHERE space = ? AND block = ?"
OTHERS = (
    "SELECT event_id, position, place, size FROM nodes WHERE space = ? AND context = ?"
    " AND position BETWEEN ? AND ? AND block = ? ORDER BY place"
)


def remove(
    connection: sqlite3.Connection,
    space: str,
    event: EventId,
    writer: BlockWriter,
    summary: marks.MarkWriter,
) -> tuple[int | None] | None:
    """None when there was no such revision, else in which version it was superseded, by hand.
    Nothing of its text stays, but in blocks that others share."""
    found = connection.execute(ROW, (space, event)).fetchone()
    if found is None:
        return None
    context, block, place, size, packed, time_ms, superseded = found
    reader = BlockReader(space, writer.bodies)
    gone = marks.in_bytes(reader.read(connection, block, place or 0, size or 0))
    gone += marks.in_bytes(extras.unsqueezed(packed) or b"")
    extra = extras.read(packed)
    digests = [digest for _, digest in extra.get("parts", ())] + list(
        extra.get("large", {}).values()
    )
    for digest in digests:
        gone += marks.in_bytes(extras.fetch(connection, space, digest))
    connection.execute("DELETE FROM nodes WHERE space = ? AND event_id = ?", (space, event))
    extras.drop(connection, space, event, digests)
    lost = {mark: -count for mark, count in Counter(gone).items()}
    summary.add(context, lost, time_ms or 0)
    if block is not None:
        _empty(connection, space, context, block, writer, reader)
    return (superseded,)


def _empty(
    connection: sqlite3.Connection,
    space: str,
    context: int,
    block: int,
    writer: BlockWriter,
    reader: BlockReader,
) -> None:
    """Writes what else is in the block elsewhere."""
    first, last, size, shared = connection.execute(BLOCK, (space, block)).fetchone()
    if shared:
        return
    rows = connection.execute(OTHERS, (space, context, first, last, block)).fetchall()
    moved = []
    for name, position, place, length in rows:
        body = reader.read(connection, block, place, length)
        moved.append((*writer.add(context, position, body)[:2], space, name))
    connection.executemany(
        "UPDATE nodes SET block = ?, place = ? WHERE space = ? AND event_id = ?", moved
    )
    connection.execute("DELETE FROM blocks WHERE space = ? AND block = ?", (space, block))
    if size < LOOSE_BYTES:
        connection.execute(
            "UPDATE contexts SET loose = max(0, loose - 1) WHERE space = ? AND ref = ?",
            (space, context),
        )
