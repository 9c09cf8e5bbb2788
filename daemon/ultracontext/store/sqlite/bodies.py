"""Bodies as stored: compressed with a dictionary that was shipped with the program.

The dictionary holds the shapes of agents' records (keys, type names), never a person's text. It is
copied into the space at its first use, so that rows stay readable whatever a later program ships.
"""

from __future__ import annotations

import sqlite3
from functools import cache
from hashlib import blake2b
from importlib.resources import files

import zstandard

from ultracontext.errors import StoreError

LEVEL = 1
SMALLEST_BYTES = 48
"""Below that a body stands as it is (codec 0)."""

_plain = zstandard.ZstdCompressor(level=3)
_unplain = zstandard.ZstdDecompressor()


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
                "INSERT INTO dictionaries (space, ref, digest, body) SELECT ?1, coalesce(max(ref), 0) + 1,"
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

    def pack(self, body: bytes) -> tuple[int, bytes]:
        """(codec, stored bytes)."""
        if self._compressor is None or len(body) < SMALLEST_BYTES:
            return 0, body
        packed = self._compressor.compress(body)
        return (self._ref, packed) if len(packed) < len(body) else (0, body)

    def unpack(self, codec: int, data: bytes, connection: sqlite3.Connection) -> bytes:
        if codec == 0:
            return data
        decompressor = self._decompressors.get(codec) or self._load(codec, connection)
        try:
            return decompressor.decompress(data)
        except zstandard.ZstdError as error:
            raise StoreError(
                "a stored body is damaged", hint="Run `ultracontext store check`", code="store-corrupt"
            ) from error

    def _load(self, codec: int, connection: sqlite3.Connection) -> zstandard.ZstdDecompressor:
        found = connection.execute(
            "SELECT body FROM dictionaries WHERE space = ? AND ref = ?", (self.space, codec)
        ).fetchone()
        if found is None:
            raise StoreError(
                f"dictionary {codec} of the store is missing",
                hint="Run `ultracontext store check`", code="store-corrupt",
            )
        made = zstandard.ZstdDecompressor(dict_data=zstandard.ZstdCompressionDict(found[0]))
        self._decompressors[codec] = made
        return made
