"""Versions that capture makes, where a session's agent went back or compacted it: what they put
aside.

Nothing of what was captured is superseded: a version is sealed, and what comes from here on is born
in the next. `affected` names the messages that the agent put aside; the reader marks them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Protocol

from ultracontext.chain import HeadFacts, load_json
from ultracontext.model import EventId, message_id
from ultracontext.store.base import NewVersion
from ultracontext.store.values import dump

COMPACTION = "compaction"
CAUSES = frozenset({"rewind", COMPACTION, "edit"})


class Captured(Protocol):
    """What a backend knows of the context at this moment."""

    @property
    def end(self) -> int:
        """Position of the next record."""

    def place(self, name: EventId) -> int | None:
        """Position of a record; -1 for one of another context, which this one goes on from."""

    def behind(self, position: int) -> Sequence[EventId]:
        """The newest captured rows from a position on."""

    def made(self) -> Iterable[tuple[bytes | None, bytes | None]]:
        """(metadata, affected) of the versions so far, newest first."""


def put_aside(asked: NewVersion, context: Captured) -> Sequence[EventId] | None:
    """The records that a version puts aside; None: no version begins."""
    if asked.events:
        return [name for name in asked.events if context.place(name) is not None]
    start = _start(asked, context)
    if start is None:
        return None
    gone = {name for _, affected in context.made() for name in load_json(affected or b"[]")}
    return [name for name in context.behind(start) if message_id(name) not in gone]


def facts_of(
    asked: NewVersion,
    affected: Sequence[EventId],
    context: Captured,
    *,
    context_id: str,
    version: int,
    created_ms: int,
    removed: int,
) -> HeadFacts:
    """The head of the version."""
    return HeadFacts(
        context_id=context_id,
        version=version,
        operation="update",
        operation_id=None,
        affected=dump([message_id(name) for name in affected]),
        metadata=dump({"cause": asked.cause, "position": context.end}),
        context_metadata=None,
        repair=None,
        created_ms=created_ms,
        positions=context.end,
        removed=removed,
    )


class Head(Protocol):
    """What is asked of a stored head."""

    @property
    def metadata(self) -> bytes | None: ...
    @property
    def positions(self) -> int: ...


def supersedes_nothing(head: Head) -> bool:
    """Whether a head is of a version that capture made: what it names still stands."""
    known = load_json(head.metadata or b"null")
    return (
        type(known) is dict
        and known.keys() == {"cause", "position"}
        and known["cause"] in CAUSES
        and known["position"] == head.positions
    )


def head_id(context_id: str, version: int) -> str:
    """`ver_` + 24 hex of a captured context's version, the same on every machine."""
    return "ver_" + blake2b(f"{context_id}/{version}".encode(), digest_size=12).hexdigest()


def _start(asked: NewVersion, context: Captured) -> int | None:
    """Position of the first record that is put aside."""
    if asked.cause == COMPACTION:
        return _compacted(context)
    if asked.after:
        above = _first_of(asked.after, context)
        turn = None if asked.unless_behind is None else context.place(asked.unless_behind)
        if above is None or (turn is not None and above >= turn):
            return None
        return above + 1
    if asked.first:
        found = _first_of(asked.first, context)
        return context.end if found is None else max(found, 0)
    return 0


def _first_of(names: Iterable[EventId], context: Captured) -> int | None:
    places = map(context.place, names)
    return next((place for place in places if place is not None), None)


def _compacted(context: Captured) -> int:
    """Where the last compaction was: what it put aside is not put aside again."""
    for metadata, _ in context.made():
        known = load_json(metadata or b"null")
        if type(known) is dict and known.get("cause") == COMPACTION:
            return int(known.get("position") or 0)
    return 0
