"""The end of a context: its rows go, a tombstone stays."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from ultracontext.model import ContextId
from ultracontext.store.contexts import Tombstone, Wiped
from ultracontext.store.history.listing import info_of
from ultracontext.store.history.message import no_context
from ultracontext.store.history.rows import Root, Rows
from ultracontext.store.history.selection import origin_of


def descendants(rows: Rows, context_id: str) -> list[Root]:
    """Contexts made from it, also by way of others that are gone by now; oldest first."""
    found: dict[str, Root] = {}
    gone: dict[str, list[str]] = {}
    for tombstone in rows.tombstones():
        if tombstone.origin is not None:
            gone.setdefault(tombstone.origin, []).append(tombstone.context_id)
    waiting, seen = [context_id], {context_id}
    while waiting:
        name = waiting.pop()
        children = rows.children(name)
        found.update((root.context_id, root) for root in children)
        fresh = {root.context_id for root in children} | set(gone.get(name, ()))
        waiting += sorted(fresh - seen)
        seen |= fresh
    found.pop(context_id, None)
    return sorted(found.values(), key=lambda root: (root.created_ms, root.context_id))


def wipe(
    rows: Rows, context_id: str, *, forks: bool, reason: str, metadata: Any, now: datetime
) -> Wiped:
    root = rows.root(context_id, lock=True)
    if root is None:
        raise no_context(context_id)
    family = descendants(rows, context_id)
    gone = [root]
    if forks:
        gone += [found for one in family if (found := rows.root(one.context_id, lock=True))]
    heirs = [] if forks else family
    for one in reversed(gone):
        rows.put_tombstone(_tombstone(one, reason, metadata, now))
        rows.wipe(one, heirs)
    return Wiped(
        context_id=ContextId(context_id),
        contexts=[ContextId(one.context_id) for one in gone],
        kept_forks=[info_of(rows, heir) for heir in heirs],
    )


def _tombstone(root: Root, reason: str, metadata: Any, now: datetime) -> Tombstone:
    origin = origin_of(root)
    return Tombstone(
        context_id=ContextId(root.context_id),
        wiped_at=now,
        reason=reason,
        agent=root.agent,
        session_id=root.session_id,
        origin=None if origin is None else origin.fork.source,
        metadata=metadata,
        versions=root.version + 1,
        messages=root.next_position - root.removed,
    )


def lifted(tombstone: Tombstone, now: datetime) -> Tombstone:
    return msgspec.structs.replace(tombstone, lifted_at=now)
