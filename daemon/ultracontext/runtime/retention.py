"""What is no longer kept: whole sessions with their sub-agents, by age, project or room on disk.

A tombstone of each stays, so that its agent's file does not bring it back; `capture again` does.
What is chosen for the remote and is not there yet is never pruned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ultracontext.capture import Rules
from ultracontext.errors import NotFoundError
from ultracontext.model import ContextId
from ultracontext.settings import Settings
from ultracontext.store.base import ContextRow, SpaceStore

REASON = "retention"


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """A session and its sub-agents, which go together."""

    root: ContextRow
    children: tuple[ContextRow, ...]

    @property
    def rows(self) -> tuple[ContextRow, ...]:
        """Children first, so that what ends half-way leaves no orphan."""
        return (*self.children, self.root)

    @property
    def last(self) -> datetime:
        """Newest activity in it."""
        return max(activity(row) for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """`waiting`: sessions that would go and are not at the remote yet."""

    families: Sequence[Family]
    waiting: int


def activity(row: ContextRow) -> datetime:
    """When it was last written; when it was stored, where its agent does not tell."""
    try:
        moment = datetime.fromisoformat(row.facts.updated_at or "")
    except ValueError:
        return row.stored_at
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def choose(
    space: SpaceStore,
    settings: Settings,
    home: Path,
    *,
    before: datetime | None = None,
    project: str | None = None,
) -> Choice:
    """Oldest first. `before`: whole families whose newest activity is older. `project`: a glob.

    None is at the remote yet, because nothing is sent yet: all that are chosen for it wait."""
    wanted = Rules(exclude=() if project is None else (project,), home=str(home))
    chosen: list[Family] = []
    waiting = 0
    remote = settings.remote
    # The same globs as those of capture, to other ends.
    awaited = Rules(exclude=remote.include if remote.url else (), home=str(home))
    for family in families(space):
        if before is not None and family.last >= before:
            continue
        if project is not None and not wanted.excludes(family.root.facts.project_path or ""):
            continue
        if awaited.excludes(family.root.facts.project_path or ""):
            waiting += 1
        else:
            chosen.append(family)
    return Choice(families=sorted(chosen, key=lambda one: one.last), waiting=waiting)


def families(space: SpaceStore) -> Iterator[Family]:
    """All of them; a sub-agent whose parent is gone is a family of its own."""
    rows = {row.context_id: row for row in space.contexts(limit=0, children=True)}
    below: dict[str, list[ContextRow]] = {}
    for row in rows.values():
        top, seen = row, {row.context_id}
        while top.parent_id in rows and top.parent_id not in seen:
            top = rows[top.parent_id]
            seen.add(top.context_id)
        below.setdefault(top.context_id, []).append(row)
    for name, members in below.items():
        children = tuple(row for row in members if row.context_id != name)
        yield Family(root=rows[ContextId(name)], children=children)


def prune(
    space: SpaceStore,
    families: Sequence[Family],
    *,
    now: datetime,
    stop: Callable[[], bool] = lambda: False,
) -> int:
    """Wipes them, one transaction a session; how many sessions went, sub-agents counted too."""
    gone = 0
    for family in families:
        for row in family.rows:
            if stop():
                break
            try:
                space.wipe(row.context_id, reason=REASON, now=now)
            except NotFoundError:  # somebody else was faster
                continue
            gone += 1
    if gone:
        space.scrub()
    return gone


def expired(space: SpaceStore, settings: Settings, home: Path, now: datetime) -> Choice:
    """By `retention.days`."""
    days = settings.retention.days
    if not days:
        return Choice(families=[], waiting=0)
    return choose(space, settings, home, before=now - timedelta(days=days))
