"""Large strings taken out of a record, so that what is parsed and indexed stays small."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import msgspec
import zstandard

from ultracontext.redaction.parse import dump_json, load_json

PART_BYTES = 256 * 1024
"""A masked string above this is kept beside its record."""

KEPT_CHARACTERS = 1000
"""What stays of it in the record."""

KEPT_OF_SHORTER = 200
"""What stays of one that was only taken out because there are so many."""

BODY_BYTES = 8 << 20
"""A body that is still larger without its parts gives up smaller strings as well."""


class Part(msgspec.Struct, frozen=True):
    """A masked string over 256 KiB, kept beside its record."""

    path: tuple[str | int, ...]
    """Keys and indexes from the root of the native record."""
    digest: str
    """blake2b-128 hex of `data`."""
    size: int
    """Bytes of `data`."""
    stored: bytes
    packed: bool = False
    """Whether `stored` is compressed: then `data` is made anew each time it is asked for."""

    @property
    def data(self) -> bytes:
        """UTF-8 (`surrogatepass`)."""
        if not self.packed:
            return self.stored
        return zstandard.ZstdDecompressor().decompress(self.stored, max_output_size=self.size)

    @classmethod
    def of(cls, path: tuple[str | int, ...], data: bytes) -> Part:
        return cls(path, blake2b(data, digest_size=16).hexdigest(), len(data), data)

    def compressed(self) -> Part:
        """The same part in less memory."""
        if self.packed:
            return self
        stored = zstandard.ZstdCompressor(level=1).compress(self.stored)
        return Part(self.path, self.digest, self.size, stored, True)


def slim(native: Any, body: bytes) -> tuple[bytes, tuple[Part, ...]]:
    """Takes strings over 256 KiB out of `native`, in place; the body without them, and they.

    A body of very many strings gives up shorter ones too, until it fits `BODY_BYTES`.
    """
    parts: list[Part] = []
    limit = PART_BYTES
    while len(body) > PART_BYTES:
        taken = list(_take(native, limit))
        if taken:
            parts += taken
            body = dump_json(native)
        if len(body) <= BODY_BYTES or limit <= 4096:
            break
        limit //= 4
    return body, tuple(parts)


def join_parts(body: bytes, parts: Sequence[Part]) -> bytes:
    """The JSON of a record with the strings of its parts put back."""
    if not parts:
        return body
    native = load_json(body)
    for part in parts:
        node = native
        for step in part.path[:-1]:
            node = node[step]
        node[part.path[-1]] = part.data.decode("utf-8", "surrogatepass")
    return dump_json(native)


def _take(native: Any, limit: int) -> list[Part]:
    parts: list[Part] = []
    stack: list[tuple[tuple[str | int, ...], Any]] = [((), native)]
    while stack:
        path, node = stack.pop()
        members = list(node.items()) if type(node) is dict else list(enumerate(node))
        for key, value in members:
            if type(value) is dict or type(value) is list:
                stack.append(((*path, key), value))
            elif type(value) is str and len(value) > limit // 4:
                data = value.encode("utf-8", "surrogatepass")
                if len(data) > limit:
                    parts.append(Part.of((*path, key), data))
                    node[key] = value[: KEPT_CHARACTERS if limit == PART_BYTES else KEPT_OF_SHORTER]
    return parts
