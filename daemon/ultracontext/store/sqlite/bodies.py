"""How blocks of bodies are compressed.

A small block (a live session's single record) is compressed with a dictionary that was shipped with
the program and holds the shapes of agents' records (keys, type names), never a person's text; it is
copied into the space at its first use, so that rows stay readable whatever a later program ships. A
large block does without: it is its own dictionary.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from hashlib import blake2b
from importlib.resources import files

import zstandard

from ultracontext.errors import StoreError
from ultracontext.store.base import MEND

LEVEL = 1
RAW, PLAIN = 0, -1
"""Codecs without a dictionary; a positive codec is the number of one, one below `PLAIN` names the
block that is the dictionary (`codec_over`)."""
SMALLEST_BYTES = 48
"""Below that a block stands as it is."""
LARGE_BYTES = 8192
"""From here on a dictionary costs more than it saves."""

_fast = zstandard.ZstdCompressor(level=LEVEL)
_plain = zstandard.ZstdCompressor(level=3)
_unplain = zstandard.ZstdDecompressor()


def codec_over(block: int) -> int:
    """The codec of a difference to a block."""
    return PLAIN - 1 - block


def base_of(codec: int) -> int:
    """The block that a difference is over."""
    return PLAIN - 1 - codec


@cache
def shipped() -> bytes:
    """The dictionary of this program."""
    return files("ultracontext.store.sqlite").joinpath("bodies.dict").read_bytes()


def squeeze(data: bytes) -> bytes:
    """Without a dictionary: parts and companions."""
    return _plain.compress(data)


def expand(data: bytes) -> bytes:
    return _unplain.decompress(data)


class Bodies:
    """The compression of one space. `forget` after a transaction that failed."""

    def __init__(self, space: str) -> None:
        self.space = space
        self._ref = 0
        self._compressor: zstandard.ZstdCompressor | None = None
        self._decompressors: dict[int, zstandard.ZstdDecompressor] = {}

    def forget(self) -> None:
        self._ref = 0

    def prepare(self, connection: sqlite3.Connection) -> None:
        """Makes the shipped dictionary known to the space. Inside a write transaction."""
        if self._ref:
            return
        body = shipped()
        digest = blake2b(body, digest_size=16).digest()
        found = connection.execute(
            "SELECT ref FROM dictionaries WHERE space = ? AND digest = ?", (self.space, digest)
        ).fetchone()
        if found is None:
            found = connection.execute(
                "INSERT INTO dictionaries (space, ref, digest, body) SELECT ?1,"
                " coalesce(max(ref), 0) + 1,"
                " ?2, ?3 FROM dictionaries WHERE space = ?1 RETURNING ref",
                (self.space, digest, body),
            ).fetchone()
        self._ref = int(found[0])
        if self._compressor is None:
            data = zstandard.ZstdCompressionDict(body)
            data.precompute_compress(level=LEVEL)
            self._compressor = zstandard.ZstdCompressor(
                level=LEVEL, dict_data=data, write_dict_id=False, write_checksum=False
            )

    def pack(self, body: bytes, *, thoroughly: bool = False) -> tuple[int, bytes]:
        """(codec, stored bytes)."""
        if len(body) < SMALLEST_BYTES:
            return RAW, body
        if len(body) < LARGE_BYTES and self._compressor is not None:
            codec, packed = self._ref, self._compressor.compress(body)
        else:
            codec, packed = PLAIN, (_plain if thoroughly else _fast).compress(body)
        return (codec, packed) if len(packed) < len(body) else (RAW, body)

    def difference(self, body: bytes, base: bytes) -> bytes:
        """The body as a difference to another, for `codec_over` its block; with a checksum, so that
        another base is noticed."""
        made = zstandard.ZstdCompressor(level=6, dict_data=_raw(base), write_checksum=True)
        return made.compress(body)

    def unpack_over(self, data: bytes, base: bytes) -> bytes:
        """A difference put together again."""
        try:
            return zstandard.ZstdDecompressor(dict_data=_raw(base)).decompress(data)
        except zstandard.ZstdError as error:
            raise _damaged() from error

    def unpack(self, codec: int, data: bytes, connection: sqlite3.Connection) -> bytes:
        if codec == RAW:
            return data
        try:
            if codec == PLAIN:
                return expand(data)
            return (self._decompressors.get(codec) or self._load(codec, connection)).decompress(
                data
            )
        except zstandard.ZstdError as error:
            raise _damaged() from error

    def _load(self, codec: int, connection: sqlite3.Connection) -> zstandard.ZstdDecompressor:
        found = connection.execute(
            "SELECT body FROM dictionaries WHERE space = ? AND ref = ?", (self.space, codec)
        ).fetchone()
        if found is None:
            raise StoreError(
                f"dictionary {codec} of the store is missing",
                hint=MEND,
                code="store-corrupt",
            )
        made = zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(found[0]))
        self._decompressors[codec] = made
        return made


def _raw(base: bytes) -> zstandard.ZstdCompressionDict:
    return zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)


def _damaged() -> StoreError:
    return StoreError("a stored body is damaged", hint=MEND, code="store-corrupt")
