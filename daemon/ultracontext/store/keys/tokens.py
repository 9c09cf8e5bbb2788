"""The text of a key: `uc_live_` or `uc_test_` and 48 base62 characters from the system's generator.

The first 12 of them (71 bits) find the key and may be shown; the other 36 (214 bits) are the
secret. Random keys of this length need no slow hash.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import string

MARKS = ("uc_live_", "uc_test_")
SHOWN, RANDOM = 12, 48
ALPHABET = string.ascii_letters + string.digits
PREFIX_LENGTH = len(MARKS[0]) + SHOWN
MOST = 200
"""Longer texts are no keys and are not hashed."""


def new_key(*, test: bool = False) -> str:
    return MARKS[test] + "".join(secrets.choice(ALPHABET) for _ in range(RANDOM))


def prefix_of(key: str) -> str:
    return key[:PREFIX_LENGTH]


def digest_of(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def same(given: bytes, kept: bytes) -> bool:
    """Of two digests, in a time that says nothing."""
    return hmac.compare_digest(given, kept)
