"""Versions that capture makes, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ultracontext.chain import head_link
from ultracontext.model import EventId
from ultracontext.store.base import NewVersion
from ultracontext.store.history import Head
from ultracontext.store.memory_rows import Table
from ultracontext.store.version_start import facts_of, head_id, put_aside


class Context:
    """One context, and where all captured records are: `(root, position, …)` by event."""

    def __init__(self, table: Table, places: Mapping[EventId, tuple[Any, int, Any]]) -> None:
        self.table = table
        self.places = places

    @property
    def end(self) -> int:
        return self.table.root.next_position

    def place(self, name: EventId) -> int | None:
        found = self.places.get(name)
        if found is None:
            return None
        return found[1] if found[0].context_id == self.table.root.context_id else -1

    def behind(self, position: int) -> Sequence[EventId]:
        rows = self.table.between((position, -1, -1), self.end)
        return [EventId(r.event_id) for r in rows if r.captured and r.superseded is None]

    def made(self) -> Iterator[tuple[bytes | None, bytes | None]]:
        for head in reversed(self.table.heads):
            yield head.metadata, head.affected


def begin(context: Context, asked: NewVersion, *, now_ms: int) -> None:
    """Makes a version if one begins."""
    affected = put_aside(asked, context)
    if affected is None:
        return
    root, before = context.table.root, context.table.heads[-1]
    facts = facts_of(
        asked, affected, context, context_id=root.context_id, version=root.version + 1,
        created_ms=now_ms, removed=root.removed,
    )  # fmt: skip
    context.table.heads.append(
        Head(
            version=facts.version,
            head_id=head_id(root.context_id, facts.version),
            prev_id=before.head_id,
            operation=facts.operation,
            affected=facts.affected,
            metadata=facts.metadata,
            positions=facts.positions,
            removed=facts.removed,
            digest=head_link(before.digest or b"", facts, root.tail, ()),
            created_ms=now_ms,
        )
    )
    root.version = facts.version
