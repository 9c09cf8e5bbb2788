"""What comes along with a record: damage, companions, size of what was left out, large strings.

A string of 256 KiB or more (redaction's parts, companions of that size) stands in `parts`, in
pieces of ≤ 512 KiB under its digest; the node's `extra` names it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

from ultracontext.redaction import MaskedRecord
from ultracontext.store.sqlite.bodies import expand, squeeze
from ultracontext.store.values import dump, encode_text, load

PIECE_BYTES = 512 * 1024
LARGE_BYTES = 256 * 1024
SQUEEZED_FROM = 512
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=16).hexdigest()


def of(record: MaskedRecord) -> bytes | None:
    """The `extra` of a record as JSON; None for the ordinary one."""
    if not (record.damage or record.companions or record.too_large or record.parts):
        return None
    extra: dict[str, Any] = {}
    if record.damage:
        extra["damage"] = record.damage
    if record.too_large:
        extra["too_large"] = list(record.too_large)
    if record.parts:
        extra["parts"] = [[list(part.path), part.digest] for part in record.parts]
    small, large = {}, {}
    for name, text in record.companions.items():
        data = encode_text(text)
        if len(data) >= LARGE_BYTES:
            large[name] = _digest(data)
        else:
            small[name] = text
    if small:
        extra["companions"] = small
    if large:
        extra["large"] = large
    return dump(extra)


def keep(connection: sqlite3.Connection, space: str, event_id: bytes, record: MaskedRecord) -> None:
    """Stores the large strings of a record."""
    put(connection, space, event_id, _large(record))


def put(
    connection: sqlite3.Connection,
    space: str,
    event_id: bytes,
    large: Iterable[tuple[str, bytes]],
) -> None:
    """Stores large strings of a node, by digest."""
    for digest, data in large:
        key = bytes.fromhex(digest)
        connection.execute(
            "INSERT OR IGNORE INTO part_users (space, digest, event_id) VALUES (?, ?, ?)",
            (space, key, event_id),
        )
        connection.executemany(
            "INSERT OR IGNORE INTO parts (space, digest, part, data) VALUES (?, ?, ?, ?)",
            (
                (space, key, part, squeeze(data[start : start + PIECE_BYTES]))
                for part, start in enumerate(range(0, len(data) or 1, PIECE_BYTES))
            ),
        )


def drop(
    connection: sqlite3.Connection, space: str, event_id: bytes, digests: Iterable[str]
) -> None:
    """A node no longer holds these; those that no other does are gone."""
    for digest in digests:
        key = (space, bytes.fromhex(digest))
        connection.execute(
            "DELETE FROM part_users WHERE space = ? AND digest = ? AND event_id = ?",
            (*key, event_id),
        )
        connection.execute(
            "DELETE FROM parts WHERE space = ?1 AND digest = ?2 AND NOT EXISTS"
            " (SELECT 1 FROM part_users WHERE space = ?1 AND digest = ?2)",
            key,
        )


def _large(record: MaskedRecord) -> Iterator[tuple[str, bytes]]:
    for part in record.parts:
        yield part.digest, part.data
    for text in record.companions.values():
        if len(text) * 4 >= LARGE_BYTES and len(data := encode_text(text)) >= LARGE_BYTES:
            yield _digest(data), data


def squeezed(extra: bytes | None) -> bytes | None:
    return extra if extra is None or len(extra) < SQUEEZED_FROM else squeeze(extra)


def unsqueezed(extra: bytes | None) -> bytes | None:
    return expand(extra) if extra is not None and extra.startswith(ZSTD_MAGIC) else extra


def read(extra: bytes | None) -> dict[str, Any]:
    if not extra:
        return {}
    found = load(unsqueezed(extra) or b"{}")
    return found if isinstance(found, dict) else {}


def fetch(connection: sqlite3.Connection, space: str, digest: str) -> bytes:
    """A large string; empty when it is gone."""
    rows = connection.execute(
        "SELECT data FROM parts WHERE space = ? AND digest = ? ORDER BY part",
        (space, bytes.fromhex(digest)),
    )
    return b"".join(expand(row[0]) for row in rows)
