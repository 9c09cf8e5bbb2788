"""Looks once through one of the agents' files for what would be masked in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import zstandard

from ultracontext.capture.places import opened, read_at
from ultracontext.model import RawRecord
from ultracontext.redaction import MaskedRecord, Redactor

BLOCK_BYTES = 1 << 20
MOST_BYTES = 64 << 20
"""A longer line is looked through in pieces."""
ZSTD = b"\x28\xb5\x2f\xfd"

_MARK = re.compile(r"\[redacted:([a-z0-9-]{1,40}:[0-9a-f]{8})\]")


def marks_in_file(path: str, redactor: Redactor) -> set[str]:
    """`kind:fingerprint` of every secret in a session file of any engine. Raises OSError."""
    found: set[str] = set()
    for line in _lines(path):
        raw = RawRecord(agent="", source="", start=0, end=len(line), data=line)
        record = redactor.redact(raw, whole=True)
        if record.masks:
            found.update(_MARK.findall(_text(record)))
    return found


def _text(record: MaskedRecord) -> str:
    return record.text if record.text is not None else record.body.decode("utf-8", "replace")


def _lines(path: str) -> Iterator[bytes]:
    """Records of a log; of a document or a database, pieces of it."""
    held = b""
    for block in _blocks(path):
        held += block
        *lines, held = held.split(b"\n")
        yield from filter(None, lines)
        if len(held) > MOST_BYTES:
            yield held
            held = b""
    if held:
        yield held


def _blocks(path: str) -> Iterator[bytes]:
    with opened(path) as descriptor:
        place = 0
        unpacker = None
        while block := read_at(descriptor, place, BLOCK_BYTES):
            if not place and block.startswith(ZSTD):
                unpacker = zstandard.ZstdDecompressor().decompressobj(read_across_frames=True)
            place += len(block)
            yield block if unpacker is None else unpacker.decompress(block)
