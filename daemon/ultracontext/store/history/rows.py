"""What the operations ask of a backend: rows inside one transaction, of one space.

A backend knows tables and statements, and no rule of a context. `Rows` is valid until its
transaction ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import msgspec

from ultracontext.chain import Remask
from ultracontext.model import SessionFacts
from ultracontext.store.base import StoredNode
from ultracontext.store.contexts import Tombstone

Key = tuple[int, int, int]
"""(position, born, revision), the order of rows."""

WIRE = 1
"""`form` of a message that a program gave, its body `[metadata, content]`; None = a captured
record."""


def copied_id(context_id: str, event_id: bytes) -> bytes:
    """The id of a fork's row, from that of the row copied; the same in every store."""
    return sha256(context_id.encode() + event_id).digest()[:12]


class Root(msgspec.Struct, kw_only=True):
    """One context. Writes change it and save it."""

    ref: Any
    """The backend's short name."""
    context_id: str
    agent: str | None = None
    session_id: str | None = None
    origin: bytes | None = None
    """JSON of the Fork."""
    copied: int = 0
    """Positions taken from the origin."""
    version: int = 0
    nodes: int = 0
    """Rows."""
    next_position: int = 0
    removed: int = 0
    """Positions without a message in the newest version."""
    tail: bytes = b""
    metadata: bytes | None = None
    """JSON, as set by hand."""
    facts: SessionFacts | None = None
    created_ms: int = 0
    updated_ms: int = 0
    written_ms: int = 0
    """Of the last write that was not capture's."""


class Head(msgspec.Struct, kw_only=True):
    """One version."""

    version: int
    head_id: str
    prev_id: str | None = None
    operation: str
    operation_id: str | None = None
    affected: bytes | None = None
    metadata: bytes | None = None
    context_metadata: bytes | None = None
    repair: bytes | None = None
    positions: int = 0
    removed: int = 0
    digest: bytes | None = None
    """None of versions that capture made before heads had one."""
    created_ms: int


class Row(NamedTuple):
    """A row without its content."""

    position: int
    born: int
    revision: int
    superseded: int | None
    event_id: bytes
    """16 bytes of a captured record, 12 of what a program made."""
    parent: bytes | None
    form: int | None
    time_ms: int | None
    stored_ms: int | None
    rule_set: int | None
    chain: bytes | None
    base: bytes | None
    size: int = 0
    """Of the body, in bytes, as near as the backend knows."""
    at: Any = None
    """Where the backend has the content."""

    @property
    def key(self) -> Key:
        return self.position, self.born, self.revision

    @property
    def captured(self) -> bool:
        return self.form is None and len(self.event_id) == 16


class Content(NamedTuple):
    """What the digest of a row is over."""

    body: bytes
    extra: bytes | None = None


class Made(NamedTuple):
    """A row to be stored, with its body."""

    row: Row
    body: bytes
    role: str


class ContextFilter(msgspec.Struct, kw_only=True):
    labels: Mapping[str, str] = {}
    after_ms: int | None = None
    """Strictly later."""
    before_ms: int | None = None
    limit: int
    cursor: tuple[int, str] | None = None
    """(created_ms, context id) of the last one of the page before."""


class Rows(Protocol):
    """Tables of one space, inside one transaction."""

    # contexts
    def root(self, context_id: str, *, lock: bool = False) -> Root | None: ...
    def add_root(self, root: Root) -> None:
        """Fills `ref`."""

    def save_root(self, root: Root) -> None: ...
    def set_labels(self, root: Root, labels: Mapping[str, str]) -> None:
        """What lists find the context by, in place of what was there."""

    def list_roots(self, wanted: ContextFilter) -> list[Root]:
        """Newest `created_ms` first, then by id. What is known of a captured session counts as
        labels too (`source`, `session_id`, `project_path`)."""

    def children(self, context_id: str) -> list[Root]:
        """Contexts whose `origin` names it, and captured sessions that their agent forked from it,
        oldest first."""

    # heads
    def head(self, root: Root, version: int) -> Head | None: ...
    def head_before(self, root: Root, ms: int) -> Head | None:
        """The newest made at or before a time."""

    def heads(self, root: Root) -> list[Head]: ...
    def add_head(self, root: Root, head: Head) -> None: ...

    # rows
    def page(self, root: Root, after: Key, until: int, limit: int) -> list[Row]:
        """Rows behind a key, at positions before `until`, in order."""

    def at_positions(self, root: Root, positions: Sequence[int]) -> list[Row]:
        """All rows at positions, in order."""

    def by_name(self, event_id: bytes) -> tuple[str, Row] | None:
        """(context id, row) by the 12 bytes of a message id, or the whole event id."""

    def contents(self, rows: Sequence[Row]) -> list[Content]: ...
    def nodes(self, root: Root, rows: Sequence[Row]) -> list[StoredNode]:
        """Captured records, large strings put back."""

    def add_rows(self, root: Root, rows: Sequence[Made]) -> None: ...
    def supersede(self, root: Root, keys: Sequence[Key], version: int) -> None: ...
    def copy_rows(self, source: Root, target: Root, *, version: int, until: int) -> int:
        """Puts the rows that a version of the source shows before a position into the target, with
        positions from 0 and new ids, in one statement and without bodies; how many they were."""

    def links(self, root: Root, until: int) -> Iterable[bytes]:
        """Links of the rows of a fork's own beginning, in order."""

    def changed(self, root: Root, low: int, high: int, until: int) -> list[int]:
        """Positions before `until` with a row born or superseded in low < version <= high,
        ascending."""

    def last_written(self, root: Root, ms: int, *, version: int, until: int) -> int | None:
        """Position of the last row written by a time; rows without a time of their own left
        out."""

    def next_timed(self, root: Root, position: int, until: int) -> int | None:
        """The next position, from one on, that has a time of its own."""

    def time_before(self, root: Root, position: int) -> int:
        """Time of the last row before a position that has one of its own, else the context's."""

    def gaps(self, root: Root) -> list[tuple[int, int]]:
        """(bucket, removed positions) of the newest version, ascending."""

    def add_gaps(self, root: Root, counts: Mapping[int, int]) -> None: ...
    def gaps_at(self, root: Root, version: int, until: int) -> list[tuple[int, int]]:
        """The same for an older version; costs a look at all its rows."""

    def shown_in(self, root: Root, version: int, first: int, until: int) -> list[int]:
        """Positions in [first, until) that a version shows, ascending."""

    def remasks(self, root: Root) -> list[Remask]: ...
    def add_remasks(self, root: Root, remasks: Sequence[Remask]) -> None:
        """Those of a new context, from number 0 on."""

    # names
    def operation(self, context_id: str, operation_id: str) -> tuple[bytes, bytes] | None:
        """(digest of the request, result) of what was done under a name."""

    def add_operation(
        self, context_id: str, operation_id: str, request: bytes, result: bytes
    ) -> None: ...
    def named(self, root: Root, names: Sequence[bytes]) -> dict[bytes, bytes]:
        """Event ids of messages by the digests of their writer's names."""

    def add_names(self, root: Root, names: Mapping[bytes, bytes]) -> None: ...

    # the end
    def wipe(self, root: Root, heirs: Sequence[Root]) -> None:
        """Deletes everything of a context; forks get the bodies that they share first."""

    def tombstone(self, context_id: str) -> Tombstone | None: ...
    def tombstones(self) -> list[Tombstone]: ...
    def put_tombstone(self, tombstone: Tombstone) -> None: ...
    def read_again(self, context_id: str) -> None:
        """Puts the checkpoints of the sources that brought a wiped session back to their start."""
