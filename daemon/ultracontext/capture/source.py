"""One source of one agent: who it is, how far it is read, whether it is still the same.

A file is known by device, inode and a fingerprint of its head, never by its path. Everything here
is in memory; what must survive is in the `Checkpoint` that commits with the events.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

import msgspec

from ultracontext.capture.places import (
    HEAD_BYTES,
    PrefixDigest,
    keyed_digest,
    opened,
    read_at,
)
from ultracontext.formats import AgentSpec, Assigner, Engine, SourceFacts
from ultracontext.redaction import Frame
from ultracontext.store.base import Checkpoint

if TYPE_CHECKING:
    from ultracontext.capture.database import RowProgress
    from ultracontext.capture.tail import LongLine, Stream

TAIL_BYTES = 64
FRAME = "frame"
"""Where a checkpoint's state keeps what is open."""

VERIFY_BYTES = 8 << 20


class Change(Enum):
    """What a look at a source's file found."""

    NONE = "none"
    GROWN = "grown"
    REWRITTEN = "rewritten"
    REPLACED = "replaced"
    """The path holds another file now, or the inode another content."""


@dataclass(frozen=True, slots=True)
class Look:
    """The facts of one `stat`."""

    device: int
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, found: os.stat_result) -> Look:
        return cls(found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


NOWHERE = Look(0, 0, 0, 0, 0)
"""Stands in a checkpoint while a file is not read to its end: the next start reads on."""


@dataclass(slots=True, eq=False)
class Source:
    """A file being followed. `saved` is what the store holds, the rest runs ahead of it."""

    spec: AgentSpec
    path: str
    masked_path: str
    facts: SourceFacts
    look: Look
    saved: Checkpoint
    position: int
    """How far the file is read; the records before it are in the batch or in the store."""
    ordinal: int
    branch: str | None
    skip_until: int = 0
    """Bytes before it lay there at the first start and are left out."""
    assigner: Assigner | None = None
    prefix: PrefixDigest | None = None
    tail: bytes = b""
    """The last bytes before `position`, to see at once that they are still there."""
    long_line: LongLine | None = None
    """A line above 8 MiB whose end is being looked for."""
    rows: RowProgress | None = None
    """How far each table is read, for a database; saved as `rows` beside the assigner's state."""
    stream: Stream | None = None
    """Decompression under way, for a compressed log."""
    scanned: int = 0
    """No line end lies between `position` and here."""
    stored: bool = False
    """Whether the store has a row of this source."""
    dirty: bool = False
    edited: bool = False
    """The last new record was a changed one; changes right behind each other are one."""
    seen: Look | None = None
    """The file as of the last look that found nothing left to do."""
    sweep: int = 0
    """Number of the last sweep that met it."""
    verify_from: bool = False
    """Changed while nobody looked: to be compared with what was read of it, once it is read on."""
    grown_at: float = 0.0
    """Monotonic time of the last complete record."""
    waiting_since: float = 0.0
    retry_at: float = 0.0
    failures: int = 0
    problem: str | None = None
    pinned: bool = False
    """Records between `saved` and here wait for an answer: the checkpoint stays."""
    state: Mapping[str, Any] = field(default_factory=dict)
    frame: Frame | None = None
    """A framed secret whose end has not come; saved as `frame` beside the assigner's state."""

    def rewind(self) -> None:
        """Back to the begin: the content changed. Ids make the second reading harmless."""
        self.edited = False
        self.position = self.ordinal = self.scanned = 0
        self.long_line = self.stream = self.rows = None
        self.assigner = None
        self.state = {}
        self.frame = None
        self.prefix = None
        self.tail = b""
        self.branch = None
        self.skip_until = 0
        self.dirty = True

    def restore(self) -> None:
        """Back to what is stored, after a commit that failed."""
        self.position, self.ordinal = self.saved.position, self.saved.ordinal
        self.branch, self.state = self.saved.branch, self.saved.state
        self.frame = Frame.of(self.saved.state.get(FRAME))
        self.skip_until = skip_of(self.saved.mode)
        self.scanned = 0
        self.long_line = self.stream = self.rows = None
        self.assigner = None
        self.prefix = None
        self.tail = b""
        self.seen = None
        self.dirty = not self.stored

    def rest(self) -> None:
        """Lets go of what the checkpoint and at most one block of the file give again."""
        if not self.dirty and self.stored and not self.pinned:
            self.state = self.saved.state
            self.assigner = self.prefix = self.stream = self.rows = None
            self.tail = b""

    def checkpoint(self, secret: bytes) -> Checkpoint:
        """The row that says how far this source is read now."""
        if self.pinned:
            return self._here(secret, NOWHERE)
        state = self.assigner.state() if self.assigner is not None else self.state
        if self.rows is not None:
            state = {**state, "rows": self.rows.state()}
        state = {name: value for name, value in state.items() if name != FRAME}
        if self.frame is not None:
            state[FRAME] = self.frame.state()
        read = self.seen is self.look or self.skip_until >= self.look.size > 0
        end = self.look if read else NOWHERE
        prefix = self.prefix.value() if self.prefix is not None else self.saved.prefix
        return msgspec.structs.replace(
            self._here(secret, end),
            position=self.position,
            ordinal=self.ordinal,
            prefix=prefix if self.position else b"",
            mode=f"skip:{self.skip_until}" if self.skip_until > self.position else "all",
            branch=self.branch,
            state=state,
        )

    def _here(self, secret: bytes, end: Look) -> Checkpoint:
        """The saved row at the path where the source is now, read as far as it says."""
        return msgspec.structs.replace(
            self.saved,
            path=self.masked_path,
            path_digest=keyed_digest(secret, os.fsencode(self.path)),
            device=self.look.device,
            inode=self.look.inode,
            size=end.size,
            mtime_ns=end.mtime_ns,
            ctime_ns=end.ctime_ns,
            problem=self.problem,
            gone=False,
        )

    @property
    def pending_bytes(self) -> int:
        """Bytes that are written and may hold complete records; 0 for a database."""
        if self.facts.engine is Engine.DATABASE:
            return 0
        return max(0, self.look.size - max(self.position, self.scanned))


def skip_of(mode: str) -> int:
    """Where a checkpoint's `mode` says that the part left out ends."""
    return int(mode[5:]) if mode.startswith("skip:") else 0


def fingerprint(secret: bytes, descriptor: int, length: int) -> bytes:
    """Keyed digest of a file's first `length` bytes."""
    return keyed_digest(secret, read_at(descriptor, 0, length)) if length else b""


def refresh_fingerprint(source: Source, secret: bytes, descriptor: int) -> bool:
    """Whether the head is still what it was; lets the fingerprint grow with the file."""
    saved = source.saved
    if source.look.size < saved.fingerprint_length:
        return False
    if saved.fingerprint_length and (
        fingerprint(secret, descriptor, saved.fingerprint_length) != saved.fingerprint
    ):
        return False
    length = min(source.look.size, HEAD_BYTES)
    if length > saved.fingerprint_length:
        source.saved = msgspec.structs.replace(
            saved,
            fingerprint=fingerprint(secret, descriptor, length),
            fingerprint_length=length,
        )
    return True


def reset_fingerprint(source: Source, secret: bytes, descriptor: int) -> None:
    """Takes the head as it is now."""
    length = min(source.look.size, HEAD_BYTES)
    source.saved = msgspec.structs.replace(
        source.saved,
        fingerprint=fingerprint(secret, descriptor, length),
        fingerprint_length=length,
    )


def resume_prefix(source: Source, secret: bytes, descriptor: int) -> bool:
    """Readies `source.prefix` for reading on; False when the bytes before `position` changed.

    Reads at most one block again: an older block that was edited in place is found by
    `verify_prefix`.
    """
    if source.prefix is not None and source.prefix.place == source.position:
        start = source.position - len(source.tail)
        return not source.tail or read_at(descriptor, start, len(source.tail)) == source.tail
    if source.position == 0:
        source.prefix = PrefixDigest(secret)
        return True
    start = PrefixDigest.block_start(source.position)
    block = read_at(descriptor, start, source.position - start)
    source.prefix = PrefixDigest.resume(secret, source.saved.prefix, source.position, block)
    source.tail = block[-TAIL_BYTES:]
    return source.prefix is not None


def verify_blocks(source: Source, secret: bytes) -> Iterator[bool | None]:
    """Reads all bytes before `position` again, 8 MiB a step: None after each step, then the
    verdict.

    Raises OSError when the file is gone. A verdict for a position that has moved on means nothing.
    """
    position = source.position
    expected = source.prefix.value() if source.prefix is not None else source.saved.prefix
    digest = PrefixDigest(secret)
    while digest.place < position:
        with opened(source.path) as descriptor:
            block = read_at(descriptor, digest.place, min(VERIFY_BYTES, position - digest.place))
        if not block:
            yield False
            return
        digest.update(block)
        yield None
    yield digest.value() == expected
