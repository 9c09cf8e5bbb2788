"""What every store offers, and the shapes that cross its edge.

A `Store` has no read method: `within(space)` gives a `SpaceStore`, and every look-up, list and
append hangs there. Nothing but a `MaskedRecord` can be appended by capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Protocol

import msgspec

from ultracontext.chain import Remask
from ultracontext.model import Base, ContextId, EventId, SessionFacts
from ultracontext.redaction import MaskedRecord, Redactor
from ultracontext.store.contexts import ContextStore

LOCAL_SPACE = "local"
"""The space that holds what this machine captures."""
MEND = (
    "Run `ultracontext daemon stop`, move the store's files elsewhere and start again: what the"
    " agents still have is captured anew"
)
"""The way out of a damaged store."""


class NewVersion(msgspec.Struct, kw_only=True, frozen=True):
    """A version that begins with an event. What it puts aside: `events`, or all from the first
    stored one of `first` on, or all behind `after`, or, where none is given, all; after a
    compaction all since the one before."""

    cause: str
    """`rewind`, `compaction`; `edit`: a record of a log was changed in place, which none should."""
    events: tuple[EventId, ...] = ()
    first: tuple[EventId, ...] = ()
    after: tuple[EventId, ...] = ()
    """Of these the first that is stored; none is: no version begins. One in another context counts
    as what stands before all of this one."""
    unless_behind: EventId | None = None
    """No version begins where `after` stands here or behind it."""


AGAIN, REFUSED = "capture.again", "capture.refused"
"""Notes: ids of sources to be read from their start; those that brought records of a wiped session
since, by context id."""
MESSAGE_KIND = "ultracontext/message"
"""`kind` and `event_type` of a node that a program gave; its body is `[metadata, content]`."""


class Event(msgspec.Struct, kw_only=True):
    """One captured record, ready to become a node."""

    event_id: EventId
    session_id: str
    record: MaskedRecord
    source_id: int
    ordinal: int
    """Of the complete record in its source, from 0."""
    revision: int = 0
    first: EventId | None = None
    """Event id of revision 0 of the same record, for a revision."""
    kind: str = "meta"
    role: str = "system"
    event_type: str = ""
    call_id: str | None = None
    time_ms: int | None = None
    """The event's own time, milliseconds since 1970; None = unknown (the store takes the one
    before)."""
    version: NewVersion | None = None
    """The version of its context that begins with it."""
    replaces: bool = False
    """It takes the place of what is stored under the same event id: the newest revision of a record
    that still streams."""


class Checkpoint(msgspec.Struct, kw_only=True):
    """How far one source is read. Written in the transaction of the events up to there."""

    source_id: int
    """Made by `SpaceStore.new_source_id`, stable for the life of the store."""
    agent: str
    path: str
    """Masked."""
    path_digest: bytes
    """Keyed digest of the real path, 16 bytes."""
    device: int
    inode: int
    fingerprint: bytes
    """Keyed digest of the first `fingerprint_length` bytes."""
    fingerprint_length: int
    size: int
    mtime_ns: int
    ctime_ns: int
    position: int
    """End of the last complete record whose events are stored (or decidedly skipped)."""
    ordinal: int
    """Records before `position`."""
    prefix: bytes
    """Chained keyed digest of all bytes before `position`."""
    mode: str = "all"
    """Backfill decision, made once: `all` or `skip` (what lay there at the first start was left
    out)."""
    branch: str | None = None
    """Suffix `~<8 hex>` once this copy continued on its own."""
    state: Mapping[str, Any] = {}
    """The assigner's."""
    problem: str | None = None
    """Stable code while the source is set aside, else None."""
    gone: bool = False


class FactsUpdate(msgspec.Struct, kw_only=True):
    """Facts of one session as of its last node in this batch."""

    agent: str
    session_id: str
    facts: SessionFacts | None
    """None: not computed; the row is marked stale and is computed on read or by the daemon."""
    base: Base | None = None
    """Where a copy that continued on its own begins (`unit="position"`)."""


class CaptureBatch(msgspec.Struct, kw_only=True):
    """All that commits together."""

    events: list[Event]
    checkpoints: list[Checkpoint]
    facts: list[FactsUpdate]
    counts: Mapping[str, int] = {}
    """Running totals to add, by name (`duplicates`, `skipped.vendor-request` …)."""


class KnownEvent(msgspec.Struct, frozen=True):
    """What is remembered of an event id."""

    digest: bytes
    source_id: int | None
    """Source that first brought it; None when only the dedup table knows it."""


class ContextRow(msgspec.Struct, kw_only=True):
    """One context as lists show it."""

    context_id: ContextId
    agent: str
    session_id: str
    version: int
    nodes: int
    """Records stored, revisions not counted: what `nodes` gives and `save_facts` compares."""
    facts: SessionFacts
    """`facts.base` is the stored base where capture set one (`FactsUpdate.base`)."""
    stale: bool
    """`facts` lag behind the nodes, or were made by another state of the reader's code."""
    parent_id: ContextId | None
    stored_at: datetime
    rule_set: int | None = None
    """Rules under which all of it is masked; None: several, or not known."""


class StoredNode(msgspec.Struct, kw_only=True):
    """A node as stored: the masked native record and where it came from."""

    event_id: EventId
    position: int
    """Place in the context, from 0, in append order."""
    revision: int
    kind: str
    role: str
    event_type: str
    time_ms: int | None
    source_path: str
    start: int
    end: int
    damage: str | None
    text: str | None
    """Opaque records: the masked text. Else None."""
    body: bytes
    """Masked JSON, parts put back; opaque records: empty."""
    companions: Mapping[str, str]
    rule_set: int
    too_large: tuple[int, str] | None = None
    time_inherited: bool = False
    """`time_ms` is that of the node before, or of the file, because the record has none."""


class MarkRow(msgspec.Struct, kw_only=True, frozen=True):
    """A mask that stands in one context."""

    kind: str
    fingerprint: str
    """8 hex digits."""
    context_id: ContextId
    count: int
    first_at: datetime
    last_at: datetime


class DedupStatus(msgspec.Struct, kw_only=True):
    rows: int
    hits: int
    purged_at: datetime | None


class SpaceStore(ContextStore, Protocol):
    """One space of a store. Every statement binds it."""

    space: str

    # capture
    def new_source_id(self) -> int: ...
    def checkpoints(self) -> list[Checkpoint]: ...
    def known_events(self, ids: Sequence[EventId]) -> dict[EventId, KnownEvent]:
        """The dedup table answers first, the nodes for what it does not know."""

    def knows_any(self, head: bytes) -> bool:
        """Whether the id of any known event begins with these bytes."""

    def position_of(self, event: EventId) -> int | None:
        """Place of a captured node in its context, None if there is no such node."""

    def append(self, batch: CaptureBatch, *, now: datetime) -> None:
        """Nodes, dedup rows, facts and checkpoints in one transaction; raises StoreError, then
        nothing is stored.

        An event id that is stored already is left out and counted in the total `present`."""

    def purge_dedup(self, *, older_than: datetime, now: datetime) -> int: ...
    def dedup_status(self) -> DedupStatus: ...
    def note(self, key: str, value: Any) -> None:
        """Small durable facts of capture (`roots`, last sweep …), JSON."""

    def noted(self, key: str) -> Any: ...
    def totals(self) -> dict[str, int]: ...

    # reading
    def contexts(
        self,
        *,
        agent: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        limit: int = 50,
        children: bool = False,
    ) -> list[ContextRow]:
        """Newest activity first; `limit=0` = all; `children` includes sub-agents."""

    def find(self, name: str) -> ContextRow:
        """By context id, native session id, or a unique prefix of either (≥ 4 characters).

        Raises NotFoundError, or StoreError with code `ambiguous` that names up to five candidates.
        """

    def by_session(self, agent: str, session_id: str) -> ContextRow | None: ...
    def nodes(
        self,
        context_id: ContextId,
        *,
        first: int = 0,
        until: int | None = None,
        all_revisions: bool = False,
        version: int | None = None,
    ) -> Iterator[StoredNode]:
        """In order of position, by keyset pages; no read transaction is held between pages. With
        `version` what that version shows.

        Without `all_revisions`, only the newest revision of each record, at the place of the
        first."""

    def save_facts(self, updates: Sequence[FactsUpdate], *, nodes: Mapping[str, int]) -> None:
        """Facts computed later; kept only while the context still has as many nodes as given.

        `nodes` is keyed by context id and holds `ContextRow.nodes` as of the computation."""

    def set_kinds(self, kinds: Mapping[EventId, tuple[str, str, str]]) -> None:
        """(kind, role, event type) of captured nodes, where a reader that knows the whole session
        says otherwise than the one that was asked when they came."""

    def set_relation(
        self, context_id: ContextId, *, parent_session: str, relation: str
    ) -> None: ...
    def share_bodies(self, copy: ContextId, original: ContextId) -> Iterator[int]:
        """Stores what a native fork holds of its parent's records only once, a bounded step (one
        transaction of ≤ 50 ms) at each turn. Nothing that is read changes. It may be left at any
        step and done again."""

    def stale(self, limit: int) -> list[ContextRow]: ...
    def pulse(self) -> int | None:
        """Another number whenever anything was written, by whatever program; None: not known.
        Cheap, however much is stored. Equal numbers mean something within one process only."""

    def child_counts(self) -> dict[ContextId, int]:
        """How many sub-agents name each context as their parent; contexts without one left out."""

    def source_paths(self, contexts: Sequence[ContextId]) -> dict[ContextId, list[str]]:
        """Masked paths of the sources that brought a context's first and last nodes."""

    # masks
    def behind(self, rule_set: int) -> int:
        """Captured rows that are masked under other rules; cheap, and where there are very many an
        upper bound."""

    def remask_names(self, redactor: Redactor) -> None:
        """Masks again what is not a node's: paths of sources, notes of capture, names of kinds.

        To be called before capture reads them; quick, and does nothing when it was done."""

    def remask(self, redactor: Redactor) -> Iterator[int]:
        """Masks rows again that are behind, a bounded step (one transaction of ≤ 50 ms) at each
        turn; gives how many rows it looked at.

        It may be left at any step: what is done is stored, and the next one goes on there. At the
        end no byte of what was masked is left in the files. Raises RedactionError."""

    def remasks(self, context_id: ContextId) -> list[Remask]:
        """What was recorded of a context's re-masking, oldest first."""

    def marks(self) -> list[MarkRow]:
        """Every mask in every context, those of one secret together."""

    def keep_digests(self, digests: Sequence[bytes]) -> None:
        """Whole keyed digests of masked secrets; never leave this machine."""

    def forget_digests(self) -> None:
        """Drops everything that a local key made: after it, stored events count as known whatever
        their content, and no source is recognised. For a change of the key, and nobody else."""

    def digests(self) -> dict[str, list[str]]:
        """The same as hex, by the 8 digits that a mask shows."""


class Store(Protocol):
    """A store as a whole. It reads nothing: that needs a space."""

    def within(self, space: str) -> SpaceStore: ...
    def maintain(self) -> None:
        """A bounded step (≤ 50 ms) of upkeep for idle moments, say each minute; never raises
        StoreError."""

    def sound(self, halted: Callable[[], bool]) -> bool | None:
        """Looks through the whole store for damage, slowly: False for damage, None when `halted`
        or writers ended it. Raises StoreError."""

    @property
    def damaged(self) -> bool:
        """Whether any statement met damage since the store was opened, or `sound` found some."""

    def close(self) -> None: ...
