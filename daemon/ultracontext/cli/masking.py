"""Text of any length masked piece by piece, each piece with enough around it.

A secret may stand on several lines (a private key, an entry of `.netrc`) but never on more than
`REACH_BYTES`. So a piece is let go when as much as that is known behind it, and only at a line end
where the text before and the text after are masked the same alone as together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ultracontext.redaction import Redactor

REACH_BYTES = 40 * 1024
PIECE_BYTES = 256 * 1024
MOST_BYTES = 32 << 20
"""A line, or a secret, that is longer is cut wherever that may be."""

_OPENED = re.compile(rb"-----BEGIN |PuTTY-User-Key-File|b3BlbnNzaC1rZXktdjE")
_CLOSED = re.compile(rb"-----END |Private-MAC:")


class Pieces:
    """Takes bytes, gives (bytes, masked bytes) that follow each other without a gap."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = b""

    def feed(self, data: bytes) -> Iterator[tuple[bytes, bytes]]:
        self._held += data
        while len(self._held) >= PIECE_BYTES + REACH_BYTES:
            cut = self._cut()
            if cut is None:
                return
            yield cut

    def idle(self) -> Iterator[tuple[bytes, bytes]]:
        """Nothing came for a while: all whole lines, unless a key was begun."""
        end = self._held.rfind(b"\n") + 1
        ready = self._held[:end]
        opened = [match.start() for match in _OPENED.finditer(ready)]
        if ready and not (opened and _CLOSED.search(ready, opened[-1]) is None):
            self._held = self._held[end:]
            yield ready, self.masked(ready)

    def close(self) -> Iterator[tuple[bytes, bytes]]:
        held, self._held = self._held, b""
        if held:
            yield held, self.masked(held)

    def masked(self, data: bytes) -> bytes:
        """Bytes that are no UTF-8 stay as they are."""
        text = data.decode("utf-8", "surrogateescape")
        masked = self._redactor.text(text)
        return data if masked == text else masked.encode("utf-8", "surrogateescape")

    def _cut(self) -> tuple[bytes, bytes] | None:
        """The first piece of what is held; None when more has to be known."""
        whole = self.masked(self._held)
        end = len(self._held) - REACH_BYTES
        for _ in range(16):
            end = self._held.rfind(b"\n", 0, end) + 1
            if not end:
                break
            rest = self.masked(self._held[end:])
            before = whole[: len(whole) - len(rest)]
            if whole.endswith(rest) and before == self.masked(self._held[:end]):
                piece, self._held = self._held[:end], self._held[end:]
                return piece, before
            end -= 1
        if len(self._held) < MOST_BYTES:
            return None
        held, self._held = self._held, b""
        return held, whole


def pieces(redactor: Redactor, blocks: Iterable[bytes | None]) -> Iterator[tuple[bytes, bytes]]:
    """The pieces of a stream; a block None says that nothing came for a while."""
    work = Pieces(redactor)
    for block in blocks:
        yield from work.idle() if block is None else work.feed(block)
    yield from work.close()
