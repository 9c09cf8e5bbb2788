"""From `version`, `before` and `at` to rows: which version, up to which position, which indexes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import msgspec

from ultracontext.chain import Places, load_json, window
from ultracontext.errors import InvalidIndexError, VersionNotFoundError
from ultracontext.store.contexts import Fork
from ultracontext.store.history.rows import Head, Root, Rows
from ultracontext.store.values import milliseconds


class Origin(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What a fork's root says of its source."""

    fork: Fork
    """As asked."""
    version: int
    seal: str = ""
    """Hex, over the links of the rows that were taken."""


def origin_of(root: Root) -> Origin | None:
    return None if root.origin is None else msgspec.json.decode(root.origin, type=Origin)


def seal_of(root: Root) -> bytes:
    found = origin_of(root)
    return b"" if found is None else bytes.fromhex(found.seal)


@dataclass(slots=True)
class Selection:
    """Rows that were chosen."""

    root: Root
    version: int
    until: int
    """First position behind them."""
    places: Places
    first: int
    """Index of the first one wanted."""
    last: int
    """Index behind the last one."""
    total: int
    complete: bool = False
    """Nothing that the version shows up to `until` is left out."""


def select(
    rows: Rows,
    root: Root,
    *,
    version: int | None = None,
    before: datetime | None = None,
    at: int | None = None,
    first: int | None = None,
    last: int | None = None,
) -> Selection:
    """Raises VersionNotFoundError, InvalidIndexError."""
    if at is not None and at < 0:
        raise InvalidIndexError(at)
    chosen, until = extent(rows, root, version, before)
    places = places_of(rows, root, chosen, until)
    end = end_of(rows, root, chosen)
    full = total = places.index_of(until) if until < end else end - removed_at(rows, root, chosen)
    if at is not None:
        if at >= total:
            raise InvalidIndexError(at, code="index-range")
        total = at + 1
    seen = window(total, first=first, last=last)
    complete = seen.first == 0 and seen.until == full
    return Selection(root, chosen, until, places, seen.first, seen.until, total, complete)


def extent(rows: Rows, root: Root, version: int | None, before: datetime | None) -> tuple[int, int]:
    """(version, first position behind what it shows)."""
    ms = None if before is None else milliseconds(before)
    if version is not None:
        if not 0 <= version <= root.version:
            raise VersionNotFoundError(
                f"no version {version} of {root.context_id}",
                hint=f"There are 0 to {root.version}",
            )
        chosen = version
    elif ms is not None:
        chosen = _head_before(rows, root, ms).version
    else:
        chosen = root.version
    until = end_of(rows, root, chosen)
    return chosen, until if ms is None else cut(rows, root, chosen, until, ms)


def _head_before(rows: Rows, root: Root, ms: int) -> Head:
    found = rows.head_before(root, ms)
    if found is None:
        raise VersionNotFoundError(
            f"{root.context_id} has no version of that time",
            hint="It is younger",
            code="no-version-before",
        )
    return found


def end_of(rows: Rows, root: Root, version: int) -> int:
    """First position behind a version: where the next one began."""
    if version == root.version:
        return root.next_position
    following = rows.head(root, version + 1)
    return root.next_position if following is None else following.positions


def removed_at(rows: Rows, root: Root, version: int) -> int:
    """Positions without a message, as counted when the version was made."""
    if version == root.version:
        return root.removed
    head = rows.head(root, version)
    return 0 if head is None else head.removed


def cut(rows: Rows, root: Root, version: int, until: int, ms: int) -> int:
    """First position behind the last row written by a time. Rows without a time of their own have
    that of the row before, the first ones that of the context."""
    last = rows.last_written(root, ms, version=version, until=until)
    if last is None and root.created_ms > ms:
        return 0
    following = rows.next_timed(root, 0 if last is None else last + 1, until)
    return until if following is None else following


def places_of(rows: Rows, root: Root, version: int, until: int) -> Places:
    def removed_in(first: int, end: int) -> list[int]:
        there = set(rows.shown_in(root, version, first, min(end, until)))
        return [place for place in range(first, min(end, until)) if place not in there]

    return Places(until, gaps_of(rows, root, version, until), removed_in)


def gaps_of(rows: Rows, root: Root, version: int, until: int) -> list[tuple[int, int]]:
    if version == root.version:
        return rows.gaps(root) if root.removed else []
    return rows.gaps_at(root, version, until) if removed_at(rows, root, version) else []


def metadata_at(rows: Rows, root: Root, version: int) -> bytes | None:
    """The context's metadata as set by hand, as of a version."""
    if version == root.version:
        return root.metadata
    for head in reversed(rows.heads(root)):
        if head.version <= version and head.context_metadata is not None:
            return head.context_metadata
    return None


def parsed(data: bytes | None, otherwise: object = None) -> object:
    return otherwise if data is None else load_json(data)
