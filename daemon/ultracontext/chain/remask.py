"""The record of re-masking: how a node's content may differ from that at its birth.

A change by newer masking rules is the only one that a chain of digests allows. Each is recorded
with the digest of the content before and after it, in a chain of its own for each context, so that
no change can be added, dropped or moved unseen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b

from ultracontext.chain.digest import DIGEST_BYTES


@dataclass(frozen=True, slots=True, kw_only=True)
class Remask:
    """One recorded change. `before` and `after` are content digests."""

    event_id: bytes
    rule_set: int
    before: bytes
    after: bytes
    chain: bytes
    """`remask_link` over the record before it in its context."""


def remask_link(
    previous: bytes, *, event_id: bytes, rule_set: int, before: bytes, after: bytes
) -> bytes:
    """The link of a record; `previous` is empty for the first of a context."""
    data = b"".join((previous, event_id, rule_set.to_bytes(8, "big"), before, after))
    return blake2b(data, digest_size=DIGEST_BYTES, person=b"remask").digest()


def first_break(remasks: Iterable[Remask]) -> int | None:
    """Number of the first record of a context that its chain does not bear out, from 0."""
    previous = b""
    for number, found in enumerate(remasks):
        link = remask_link(
            previous,
            event_id=found.event_id,
            rule_set=found.rule_set,
            before=found.before,
            after=found.after,
        )
        if link != found.chain:
            return number
        previous = link
    return None


def birth_digest(current: bytes, remasks: Iterable[Remask]) -> bytes | None:
    """Content digest at birth of a node whose content has the digest `current` now.

    `remasks` are the node's records, oldest first. None when they do not lead there: the content
    was changed by something else.
    """
    birth: bytes | None = None
    at = b""
    for found in remasks:
        if birth is not None and found.before != at:
            return None
        birth = found.before if birth is None else birth
        at = found.after
    if birth is None:
        return current
    return birth if at == current else None
