"""The chained digest of nodes.

A node's link is the hash of the link before it and the hash of its content at birth, so that no
node can be changed, dropped or moved unseen. The link before an appended node is that of the first
row at the position before; before an edit or a revision it is that of the row which it replaces.
"""

from __future__ import annotations

from hashlib import blake2b

DIGEST_BYTES = 16


def content_digest(body: bytes, extra: bytes | None) -> bytes:
    """Of the stored content: the masked body and what came along (`extra`, uncompressed)."""
    if extra is None:
        return blake2b(body, digest_size=DIGEST_BYTES).digest()
    head = len(body).to_bytes(8, "big")
    return blake2b(head + body + extra, digest_size=DIGEST_BYTES, person=b"extra").digest()


def link(previous: bytes, content: bytes) -> bytes:
    """The link of a node; `previous` is empty for the first."""
    return blake2b(previous + content, digest_size=DIGEST_BYTES).digest()
