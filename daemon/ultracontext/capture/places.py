"""Read-only access to agents' files: by path, one short-lived descriptor at a time."""

from __future__ import annotations

import os
import stat as stat_module
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

from ultracontext.formats import Need

HEAD_BYTES = 1024
"""Fingerprints cover at most so many bytes of a file's head."""

BLOCK_BYTES = 1 << 20
NEED_LIMIT_BYTES = 8 << 20
"""A companion file is fetched up to so many bytes."""

_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOATIME", 0)
_PLAIN_FLAGS = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def opened(path: str | bytes, extra: int = 0) -> Iterator[int]:
    """A read-only descriptor that leaves the access time alone where the system allows it."""
    try:
        descriptor = os.open(path, _FLAGS | extra)
    except PermissionError:
        descriptor = os.open(path, _PLAIN_FLAGS | extra)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def read_at(descriptor: int, place: int, length: int) -> bytes:
    """Up to `length` bytes from `place`; fewer only at the end of the file."""
    parts = []
    while length > 0:
        part = os.pread(descriptor, min(length, 8 << 20), place)
        if not part:
            break
        parts.append(part)
        place += len(part)
        length -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def keyed_digest(secret: bytes, data: bytes) -> bytes:
    """16 bytes that say nothing of `data` to who lacks the local secret."""
    return blake2b(data, digest_size=16, key=secret[:64]).digest()


class PrefixDigest:
    """Chained digest of a file's bytes from its begin, block by block.

    The value depends on the bytes alone, not on how they were read. After `resume` at most one
    block of the file has to be read again.
    """

    __slots__ = ("_block", "_chain", "_filled", "_secret", "place")

    def __init__(self, secret: bytes) -> None:
        self._secret = secret[:64]
        self._chain = b""
        self._block = blake2b(digest_size=16, key=self._secret)
        self._filled = 0
        self.place = 0

    def update(self, data: bytes) -> None:
        view = memoryview(data)
        while len(view):
            part = view[: BLOCK_BYTES - self._filled]
            self._block.update(part)
            self._filled += len(part)
            self.place += len(part)
            view = view[len(part) :]
            if self._filled == BLOCK_BYTES:
                self._close_block()

    def _close_block(self) -> None:
        chained = blake2b(self._chain, digest_size=16, key=self._secret)
        chained.update(self._block.digest())
        self._chain = chained.digest()
        self._block = blake2b(digest_size=16, key=self._secret)
        self._filled = 0

    def value(self) -> bytes:
        """32 bytes: the chain of whole blocks, and the digest of the last one so far."""
        return self._chain.ljust(16, b"\0") + self._block.digest()

    def copy(self) -> PrefixDigest:
        """A digest that goes on by itself."""
        twin = PrefixDigest(self._secret)
        twin._chain, twin._block = self._chain, self._block.copy()
        twin._filled, twin.place = self._filled, self.place
        return twin

    @classmethod
    def resume(cls, secret: bytes, value: bytes, place: int, block: bytes) -> PrefixDigest | None:
        """Goes on from a saved value; `block` are the file's bytes from the last block's begin to
        `place`.

        None when those bytes are not the ones that were digested.
        """
        digest = cls(secret)
        digest._chain = value[:16] if place >= BLOCK_BYTES else b""
        digest.place = place - len(block)
        digest.update(block)
        return digest if digest.place == place and digest.value() == value else None

    @staticmethod
    def block_start(place: int) -> int:
        return place - place % BLOCK_BYTES


def fetch_need(need: Need, source: str, roots: list[str]) -> bytes | None:
    """Bytes of a companion file inside the agent's roots, None if it cannot be had.

    A path that lies elsewhere (a copied home) is tried by its tail below the source's folder.
    Links are not followed out of a root.
    """
    for path in _candidates(need.path, source):
        real = os.path.realpath(path)
        if not any(real == root or real.startswith(root + os.sep) for root in roots):
            continue
        try:
            with opened(
                real, getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            ) as descriptor:
                if not stat_module.S_ISREG(os.fstat(descriptor).st_mode):
                    continue
                return read_at(
                    descriptor, need.start, min(need.length or NEED_LIMIT_BYTES, NEED_LIMIT_BYTES)
                )
        except OSError:
            continue
    return None


def _candidates(path: str, source: str) -> Iterator[str]:
    if "\0" in path:
        return
    folder = Path(source).parent
    wanted = Path(path)
    if not wanted.is_absolute():
        yield str(folder / wanted)
        return
    yield path
    parts = wanted.parts
    for count in (1, 2, 3, 4):
        if count < len(parts):
            yield str(folder.joinpath(*parts[-count:]))
