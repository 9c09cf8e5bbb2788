"""From raw records to a batch: masked first, then assigned, told from what is known, and read.

The order of steps is the promise: nothing after `redact` sees an unmasked byte, and nothing is fed
to a reader that the store already holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any

import msgspec

from ultracontext.capture.admission import Admission
from ultracontext.capture.copies import Copies
from ultracontext.capture.fresh import Fresh
from ultracontext.capture.lines import salvage
from ultracontext.capture.places import fetch_need
from ultracontext.capture.readers import Readers
from ultracontext.capture.source import Source
from ultracontext.capture.status import SourceError
from ultracontext.capture.streams import Streams
from ultracontext.formats import Assignment, Engine
from ultracontext.model import Base, EventId, RawRecord, event_id, message_id
from ultracontext.model.failpoint import failpoint
from ultracontext.redaction import Frame, MaskedRecord, Redactor
from ultracontext.store.base import (
    CaptureBatch,
    Checkpoint,
    Event,
    FactsUpdate,
    KnownEvent,
    NewVersion,
    SpaceStore,
)

IN_PLACE = (Engine.DOCUMENT, Engine.DATABASE)
"""Sources in which other content under a known name is always an edit."""
MAX_ERRORS = 100
"""Damaged records that a summary names one by one; all are counted."""


@dataclass(slots=True)
class Batch:
    """What is gathered for the next commit."""

    events: list[Event] = field(default_factory=list)
    sources: dict[int, Source] = field(default_factory=dict)
    pending: dict[EventId, KnownEvent] = field(default_factory=dict)
    bases: dict[tuple[str, str], Base] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    errors: list[SourceError] = field(default_factory=list)
    bytes: int = 0
    masked: int = 0
    touched: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    """(agent, session) → kinds of its new nodes."""

    def take_back(self, identity: EventId) -> Event | None:
        """The event of this id, which is no longer in the batch."""
        for place in range(len(self.events) - 1, -1, -1):
            if self.events[place].event_id == identity:
                return self.events.pop(place)
        return None

    def count(self, name: str, by: int = 1) -> None:
        self.counts[name] = self.counts.get(name, 0) + by

    def __bool__(self) -> bool:
        return bool(self.events or self.sources or self.counts)


class Candidate(msgspec.Struct):
    """A masked record with its place and names, not yet known to be new."""

    source: Source
    record: MaskedRecord
    assignment: Assignment
    session_id: str
    ordinal: int
    name: str | int
    event_id: EventId


class Ingest:
    """The middle of the path of data. One per engine; not thread-safe."""

    def __init__(
        self,
        store: SpaceStore,
        redactor: Redactor,
        secret: bytes,
        roots: Mapping[str, Sequence[str]],
        readers: Readers,
        still_there: Callable[[int], bool],
        admission: Admission,
    ) -> None:
        self._store = store
        self._redactor = redactor
        self._secret = secret
        self._roots = roots
        self._readers = readers
        self._copies = Copies(store, still_there)
        self._streams = Streams()
        self._admission = admission
        self._fresh = Fresh(store)
        self._still_there = still_there
        """Whether the source that brought an event exists beside the one being read."""

    def take(self, source: Source, raws: Sequence[RawRecord], batch: Batch) -> None:
        """Adds a slice of one source to the batch. On an error the caller takes the source back."""
        batch.sources[source.saved.source_id] = source
        failpoint("after_read")
        in_order = source.facts.engine is not Engine.DOCUMENT  # which is read whole each time
        frame = source.frame if in_order else None
        masked = self._redactor.sequence(raws, frame)
        records = self._sound(raws, masked, frame, batch)
        source.frame = masked[-1].frame if masked and in_order else None
        failpoint("after_redact")
        candidates = self._admission.sift(source, self._assign(source, records, batch), batch)
        failpoint("after_assign")
        known = self._store.known_events(self._unsure(source, candidates, batch))
        failpoint("after_known")
        for candidate in candidates:
            self._settle(candidate, known, batch)

    def _unsure(
        self, source: Source, candidates: Sequence[Candidate], batch: Batch
    ) -> list[EventId]:
        """The ids that the store may know."""
        slug, is_new, pending = source.spec.slug, self._fresh.is_new, batch.pending
        return [
            c.event_id
            for c in candidates
            if c.event_id not in pending
            and not is_new((slug, c.session_id), c.event_id, batch.touched)
        ]

    def _sound(
        self,
        raws: Sequence[RawRecord],
        masked: Sequence[MaskedRecord],
        frame: Frame | None,
        batch: Batch,
    ) -> list[MaskedRecord]:
        """The records, with what can be saved of damaged ones in their place. `frame` is what was
        open before the first."""
        records: list[MaskedRecord] = []
        frames = [frame, *(record.frame for record in masked)]
        for raw, record, before in zip(raws, masked, frames, strict=False):
            batch.bytes += raw.end - raw.start
            if record.native is not None:
                records.append(record)
            elif record.too_large is not None:
                self._error(batch, record, "too-large")
                records.append(record)
            elif raw.data:
                records.extend(self._salvaged(raw, record, before, batch))
            else:
                records.append(record)
        return records

    def _salvaged(
        self, raw: RawRecord, whole: MaskedRecord, frame: Frame | None, batch: Batch
    ) -> Iterable[MaskedRecord]:
        pieces = salvage(raw.data)
        self._error(batch, whole, "damaged")
        if len(pieces) == 1 and pieces[0].damage is None:
            return [whole]
        last = len(pieces) - 1
        return self._redactor.sequence(
            [
                RawRecord(
                    agent=raw.agent,
                    source=raw.source,
                    start=raw.start + piece.offset,
                    end=raw.end if i == last else raw.start + piece.offset + len(piece.data),
                    data=piece.data,
                    damage=piece.damage,
                )
                for i, piece in enumerate(pieces)
            ],
            frame,
        )

    def _error(self, batch: Batch, record: MaskedRecord, code: str) -> None:
        batch.count(f"errors.{code}")
        if len(batch.errors) < MAX_ERRORS:
            batch.errors.append(
                SourceError(
                    agent=record.agent, path=record.source, position=record.start, code=code
                )
            )

    def _assign(
        self, source: Source, records: Iterable[MaskedRecord], batch: Batch
    ) -> list[Candidate]:
        if source.assigner is None:
            source.assigner = source.spec.assigner(source.facts, source.state or None)
        assign = source.assigner.assign
        slug = source.spec.slug
        candidates = []
        for record in records:
            ordinal = source.ordinal
            source.ordinal += 1
            assignment = assign(record)
            if assignment.needs:
                record = self._with_companions(source, record, assignment)
            if assignment.skip is not None:
                batch.count(f"skipped.{assignment.skip}")
                continue
            if record.start < source.skip_until:
                batch.count("skipped.backfill")
                continue
            session_id = assignment.session_id or _own_name(source)
            name = ordinal if assignment.record_id is None else assignment.record_id
            if source.branch is not None:
                session_id += source.branch
            identity = event_id(slug, session_id, name, assignment.revision or 0)
            candidates.append(
                Candidate(source, record, assignment, session_id, ordinal, name, identity)
            )
        return candidates

    def _with_companions(
        self, source: Source, record: MaskedRecord, assignment: Assignment
    ) -> MaskedRecord:
        """The record once more, with the files that it refers to, masked like itself."""
        roots = list(self._roots.get(source.spec.slug, ()))
        found = {}
        for need in assignment.needs:
            data = fetch_need(need, source.path, roots)
            if data is not None:
                found[need.name] = data
        return self._redactor.with_companions(record, found) if found else record

    def _settle(
        self, candidate: Candidate, known: Mapping[EventId, KnownEvent], batch: Batch
    ) -> None:
        """Decides whether a record is new, known, a revision, or the begin of a branch."""
        source, record = candidate.source, candidate.record
        identity, revision = candidate.event_id, candidate.assignment.revision or 0
        if source.branch is not None and not candidate.session_id.endswith(source.branch):
            candidate.session_id += source.branch
            identity = self._identity(candidate, revision)
        before = batch.pending.get(identity)
        if before is None:
            fresh = identity == candidate.event_id
            before = known.get(identity) if fresh else self._known(identity)
        if before is None and not revision and (first := self._copies.parting(candidate, batch)):
            self._branch(candidate, batch, first)
            identity = self._identity(candidate, 0)
            before = batch.pending.get(identity) or self._known(identity)
        in_place = before is not None and source.facts.engine in IN_PLACE
        while before is not None:
            same = before.digest in (b"", record.digest)  # empty: of another key, not known
            if same and not in_place:
                batch.count("duplicates")
                return
            if not same and not in_place and revision == 0 and self._is_copy(source, before):
                if self._is_revision(candidate, batch):
                    batch.count("duplicates")
                    return
                first = event_id(source.spec.slug, candidate.session_id, candidate.name)
                self._branch(candidate, batch, first)
            else:
                revision += 1
            identity = self._identity(candidate, revision)
            before = batch.pending.get(identity) or self._known(identity)
            if same and before is None:
                batch.count("duplicates")
                return
        replaces = in_place and self._streams.goes_on(candidate, revision)
        if replaces:
            revision -= 1
            identity = self._identity(candidate, revision)
        self._add(candidate, identity, revision, batch, replaces=replaces)

    def _identity(self, candidate: Candidate, revision: int) -> EventId:
        return event_id(candidate.source.spec.slug, candidate.session_id, candidate.name, revision)

    def _known(self, identity: EventId) -> KnownEvent | None:
        return self._store.known_events([identity]).get(identity)

    def _is_revision(self, candidate: Candidate, batch: Batch) -> bool:
        """Whether a copy holds a later content of the record that is stored already."""
        revision = 1
        while True:
            identity = self._identity(candidate, revision)
            found = batch.pending.get(identity) or self._known(identity)
            if found is None or found.digest == candidate.record.digest:
                return found is not None
            revision += 1

    def _is_copy(self, source: Source, before: KnownEvent) -> bool:
        """Whether other content under a known name is a copy gone on elsewhere, not an edit in
        place."""
        return (
            source.branch is None
            and before.source_id is not None
            and before.source_id != source.saved.source_id
            and self._still_there(before.source_id)
        )

    def _branch(self, candidate: Candidate, batch: Batch, first: EventId) -> None:
        """From here on this copy is a session of its own: `<native>~<8 hex>`. `first` is the event
        of the session that no longer belongs to it."""
        source, record = candidate.source, candidate.record
        where = (
            candidate.name
            if candidate.assignment.parent is None
            else "after " + (candidate.assignment.parent)
        )
        origin = f"{source.spec.slug}\0{candidate.session_id}\0{where}\0".encode(
            "utf-8", "surrogatepass"
        )
        suffix = "~" + blake2b(origin + unmarked(record), digest_size=4).hexdigest()
        native = candidate.session_id
        source.branch = suffix
        candidate.session_id = native + suffix
        batch.bases[(source.spec.slug, candidate.session_id)] = Base(
            session_id=native,
            end=self._place(source.spec.slug, native, first, batch),
            unit="position",
        )

    def _place(self, agent: str, session_id: str, first: EventId, batch: Batch) -> int:
        """Place in its context of a node that is stored, or about to be."""
        stored = self._store.position_of(first)
        if stored is not None:
            return stored
        row = self._store.by_session(agent, session_id)
        place = row.nodes if row is not None else 0
        for event in batch.events:
            if event.event_id == first:
                break
            if event.session_id == session_id and not event.revision:
                place += 1
        return place

    def _add(
        self,
        candidate: Candidate,
        identity: EventId,
        revision: int,
        batch: Batch,
        *,
        replaces: bool = False,
    ) -> None:
        source, record = candidate.source, candidate.record
        slug, session_id = source.spec.slug, candidate.session_id
        messages = self._readers.feed(slug, session_id, record, message_id(identity), revision)
        first = messages[0] if messages else None
        failpoint("after_feed")
        if replaces and (older := batch.take_back(identity)) is not None:
            replaces = older.replaces
        self._fresh.add((slug, session_id), identity)
        batch.pending[identity] = KnownEvent(record.digest, source.saved.source_id)
        if candidate.assignment.record_id is not None:
            self._copies.grew(slug, session_id, source.saved.source_id)
        batch.events.append(
            Event(
                event_id=identity,
                session_id=session_id,
                record=record,
                source_id=source.saved.source_id,
                ordinal=candidate.ordinal,
                revision=revision,
                first=event_id(slug, session_id, candidate.name) if revision else None,
                kind=first.kind if first else "meta",
                role=first.role if first else "system",
                event_type=first.event_type if first else "",
                call_id=first.tool.call_id if first and first.tool else None,
                time_ms=milliseconds(record.native),
                version=_version(candidate) or _edited(candidate, revision),
                replaces=replaces,
            )
        )
        batch.touched.setdefault((slug, session_id), []).append(first.kind if first else "meta")
        if record.masks:
            batch.masked += sum(record.masks.values())

    def close(self, batch: Batch, secret: bytes) -> CaptureBatch:
        """The batch as the store takes it: events, facts of the touched sessions, checkpoints."""
        facts = [
            FactsUpdate(
                agent=agent,
                session_id=session_id,
                facts=self._readers.facts(agent, session_id),
                base=batch.bases.get((agent, session_id)),
            )
            for agent, session_id in batch.touched
        ]
        checkpoints: list[Checkpoint] = [
            source.checkpoint(secret) for source in batch.sources.values()
        ]
        return CaptureBatch(
            events=batch.events, checkpoints=checkpoints, facts=facts, counts=batch.counts
        )


def _version(candidate: Candidate) -> NewVersion | None:
    """The version that begins with a record, its names as event ids; those of a fork may be of the
    session that it goes on from."""
    begins = candidate.assignment.version
    if begins is None:
        return None
    slug, session = candidate.source.spec.slug, candidate.session_id
    sessions = (session, session.partition("~")[0]) if "~" in session else (session,)

    def named(*names: str | int | None) -> tuple[EventId, ...]:
        known = (name for name in names if name is not None)
        return tuple(event_id(slug, held, name) for name in known for held in sessions)

    turn = begins.unless_behind
    return NewVersion(
        cause=begins.cause,
        events=named(*begins.records),
        first=named(*begins.first),
        after=named(begins.after),
        unless_behind=None if turn is None else event_id(slug, session, turn),
    )


def _edited(candidate: Candidate, revision: int) -> NewVersion | None:
    """A log was changed where it had been read: the first of its records that differ begins a
    version, so that the one before shows all as it was."""
    source = candidate.source
    log = source.facts.engine in (Engine.APPEND_LOG, Engine.COMPRESSED_LOG)
    edited = bool(revision) and log and candidate.assignment.revision is None
    begins, source.edited = edited and not source.edited, edited
    if not begins:
        return None
    slug, session = source.spec.slug, candidate.session_id
    before = event_id(slug, session, candidate.name, revision - 1)
    return NewVersion(cause="edit", events=(before,))


def _own_name(source: Source) -> str:
    """The session of records that belong to none: named after the file."""
    return source.facts.session_hint or source.masked_path.rsplit("/", 1)[-1]


def unmarked(record: MaskedRecord) -> bytes:
    """The masked content without the fingerprints of its masks: the same on every machine."""
    from ultracontext.redaction import without_fingerprints

    return without_fingerprints(record.body or (record.text or "").encode("utf-8", "replace"))


def milliseconds(native: Any) -> int | None:
    """A record's own `timestamp`, None when it has none that can be read."""
    if type(native) is not dict:
        return None
    text = native.get("timestamp")
    if type(text) is not str or len(text) > 40:
        return None
    try:
        when = datetime.fromisoformat(text)
        if when.tzinfo is None:
            when = when.replace(tzinfo=UTC)
        return int(when.timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
