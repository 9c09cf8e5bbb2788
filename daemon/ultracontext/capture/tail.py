"""Reading a log forward, slice by slice, in bounded memory.

A record up to 8 MiB is read whole; up to 64 MiB it is left to the redactor's child process, by its
place in the file; above, only its size and digest are taken. A line without its end waits.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import zstandard

from ultracontext.capture.lines import split_lines
from ultracontext.capture.places import PrefixDigest, opened, read_at
from ultracontext.capture.source import (
    TAIL_BYTES,
    Change,
    Look,
    Source,
    refresh_fingerprint,
    reset_fingerprint,
    resume_prefix,
)
from ultracontext.errors import CaptureError
from ultracontext.formats import Engine
from ultracontext.model import RawRecord

SLICE_BYTES = 512 << 10
INLINE_BYTES = 8 << 20
CHILD_BYTES = 64 << 20
SCAN_BYTES = 64 << 20
"""Of a very long line, so much is looked through before others get their turn."""

WINDOW_BYTES = 64 << 20
ZSTD_INPUT_BYTES = 1 << 10
"""Fed to the decompressor at once: a bomb of 128 KiB per 4 bytes stays below 32 MiB."""


@dataclass(slots=True)
class Slice:
    """What one read gave. `more`: there may be more complete records now."""

    records: list[RawRecord] = field(default_factory=list)
    more: bool = False
    change: Change = Change.NONE
    read_bytes: int = 0


@dataclass(slots=True)
class LongLine:
    """The search for the end of a line above 8 MiB."""

    start: int
    upto: int
    digest: Any
    prefix: PrefixDigest


@dataclass(slots=True)
class Stream:
    """A zstd stream being decompressed; no descriptor is held between slices."""

    look: Look
    decompressor: Any
    file_place: int = 0
    buffer: bytes = b""
    buffer_start: int = 0
    ended: bool = False


def read_slice(source: Source, secret: bytes, limit: int = SLICE_BYTES) -> Slice:
    """The next complete records. Moves `position` past them; `ordinal` is moved by who counts
    records.

    Raises OSError when the file cannot be read, CaptureError when its compression is damaged.
    """
    with opened(source.path) as descriptor:
        look = Look.of(os.fstat(descriptor))
        if (look.device, look.inode) != (source.look.device, source.look.inode):
            return Slice(change=Change.REPLACED)
        source.look = look
        if source.facts.engine is Engine.COMPRESSED_LOG:
            part = _compressed_slice(source, secret, descriptor, limit)
        else:
            change = _still_itself(source, secret, descriptor)
            part = _log_slice(source, descriptor, limit)
            part.change = change
    return part


def _still_itself(source: Source, secret: bytes, descriptor: int) -> Change:
    """Rewinds the source when what was read of it is no longer there."""
    same_head = refresh_fingerprint(source, secret, descriptor)
    if (
        same_head
        and source.look.size >= source.position
        and resume_prefix(source, secret, descriptor)
    ):
        return Change.NONE
    source.rewind()
    reset_fingerprint(source, secret, descriptor)
    resume_prefix(source, secret, descriptor)
    return Change.REWRITTEN


def _log_slice(source: Source, descriptor: int, limit: int) -> Slice:
    if source.long_line is not None:
        return _long_slice(source, descriptor)
    available = source.look.size - source.position
    if available <= 0:
        return Slice()
    if source.scanned > source.position and not _ends_after(source, descriptor):
        return Slice()
    chunk = read_at(descriptor, source.position, min(available, limit))
    cut = chunk.rfind(b"\n")
    if cut < 0 and available > len(chunk):
        chunk = read_at(descriptor, source.position, min(available, INLINE_BYTES))
        cut = chunk.find(b"\n")
        if cut < 0 and len(chunk) >= INLINE_BYTES:
            return _long_slice(source, descriptor)
    if cut < 0:
        source.scanned = source.position + len(chunk)
        return Slice()
    whole = chunk[: cut + 1]
    part = Slice(records=_records(source, whole), read_bytes=len(whole))
    _advance(source, whole)
    part.more = source.look.size > source.position and source.scanned <= source.position
    return part


def _ends_after(source: Source, descriptor: int) -> bool:
    """Whether a line end has come since the last look."""
    place = source.scanned
    while place < source.look.size:
        block = read_at(descriptor, place, 1 << 20)
        if not block:
            break
        if b"\n" in block:
            source.scanned = 0
            return True
        place += len(block)
        if place - source.position >= INLINE_BYTES:
            source.scanned = 0
            return True
    source.scanned = place
    return False


def _records(source: Source, whole: bytes) -> list[RawRecord]:
    slug = source.spec.slug
    path = source.path
    return [
        RawRecord(agent=slug, source=path, start=start, end=end, data=data)
        for start, end, data in split_lines(whole, source.position)
    ]


def _advance(source: Source, whole: bytes) -> None:
    if source.prefix is not None:
        source.prefix.update(whole)
    source.tail = (
        whole[-TAIL_BYTES:] if len(whole) >= TAIL_BYTES else (source.tail + whole)[-TAIL_BYTES:]
    )
    source.position += len(whole)
    source.dirty = True


def _long_slice(source: Source, descriptor: int) -> Slice:
    """Looks on for the end of a very long line; takes the line once it is found."""
    if source.long_line is None:
        prefix = source.prefix.copy() if source.prefix is not None else PrefixDigest(b"")
        source.long_line = LongLine(source.position, source.position, sha256(), prefix)
    line = source.long_line
    stop = line.upto + SCAN_BYTES
    while line.upto < min(stop, source.look.size):
        block = read_at(descriptor, line.upto, 1 << 20)
        if not block:
            break
        cut = block.find(b"\n")
        taken = block if cut < 0 else block[: cut + 1]
        line.digest.update(taken if cut < 0 else taken[:-1])
        line.prefix.update(taken)
        line.upto += len(taken)
        if cut >= 0:
            source.tail = read_at(descriptor, line.upto - TAIL_BYTES, TAIL_BYTES)
            return _take_long(source, line)
    source.scanned = line.upto
    return Slice(more=line.upto < source.look.size)


def _take_long(source: Source, line: LongLine) -> Slice:
    size = line.upto - 1 - line.start
    raw = RawRecord(
        agent=source.spec.slug,
        source=source.path,
        start=line.start,
        end=line.upto,
        data=b"",
        too_large=(size, line.digest.hexdigest()) if size > CHILD_BYTES else None,
    )
    source.position = line.upto
    source.prefix = line.prefix
    source.long_line = None
    source.scanned = 0
    source.dirty = True
    return Slice(records=[raw], more=source.look.size > source.position, read_bytes=size)


def _compressed_slice(source: Source, secret: bytes, descriptor: int, limit: int) -> Slice:
    """Complete lines of a zstd stream; a frame that is cut off gives what it holds and waits."""
    change = Change.NONE
    if not refresh_fingerprint(source, secret, descriptor):
        source.rewind()
        reset_fingerprint(source, secret, descriptor)
        change = Change.REWRITTEN
    stream = source.stream
    if stream is None or stream.look != source.look:
        reader = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES)
        stream = source.stream = Stream(source.look, reader.decompressobj())
        source.prefix = PrefixDigest(secret)
    try:
        _fill(stream, descriptor, source.position, limit)
    except zstandard.ZstdError as error:
        raise CaptureError("a compressed session is damaged", code="damaged") from error
    cut = stream.buffer.rfind(b"\n")
    if cut < 0:
        return Slice(change=change)
    whole, stream.buffer = stream.buffer[: cut + 1], stream.buffer[cut + 1 :]
    records = _records(source, whole)
    stream.buffer_start += len(whole)
    _advance(source, whole)
    return Slice(records=records, more=not stream.ended, change=change, read_bytes=len(whole))


def _fill(stream: Stream, descriptor: int, position: int, limit: int) -> None:
    """Decompresses until `limit` bytes from `position` on are there, or the file ends."""
    while not stream.ended and (b"\n" not in stream.buffer or len(stream.buffer) < limit):
        if len(stream.buffer) > CHILD_BYTES:
            raise CaptureError("a line of a compressed session is above 64 MiB", code="too-large")
        block = read_at(descriptor, stream.file_place, ZSTD_INPUT_BYTES)
        stream.file_place += len(block)
        if not block:
            stream.ended = True
            return
        stream.buffer += _decompress(stream, block)
        if stream.buffer_start < position:
            drop = min(position - stream.buffer_start, len(stream.buffer))
            stream.buffer = stream.buffer[drop:]
            stream.buffer_start += drop


def _decompress(stream: Stream, block: bytes) -> bytes:
    """Goes over the border of frames: an append writes a frame of its own."""
    out = b""
    while block:
        if stream.decompressor.eof:
            reader = zstandard.ZstdDecompressor(max_window_size=WINDOW_BYTES)
            stream.decompressor = reader.decompressobj()
        out += stream.decompressor.decompress(block)
        block = stream.decompressor.unused_data if stream.decompressor.eof else b""
    return out
