"""The local masking key: shown whole only on purpose, and never changed under a store unseen.

A store notes which key it was written with, as a check value that says nothing of the key. Under
another key each known record would look changed, so capture does not start with one.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

from ultracontext.errors import RedactionError, UltraContextError, WriteRefusedError
from ultracontext.paths import Paths
from ultracontext.redaction.fingerprint import SECRET_BYTES
from ultracontext.store.base import SpaceStore

NOTE = "redaction.key"
PREFIX = "ultracontext-key-1:"


def check_value(secret: bytes) -> str:
    return blake2b(b"ultracontext store", key=secret[:64], digest_size=8).hexdigest()


def claim(space: SpaceStore, secret: bytes) -> None:
    """Notes the key of a store that has none; raises RedactionError when it is another's."""
    noted = space.noted(NOTE)
    if noted is None:
        space.note(NOTE, check_value(secret))
    elif noted != check_value(secret):
        raise RedactionError(
            "the store was written with another masking key",
            code="key",
            hint="Bring its key back by `ultracontext config key import FILE`",
        )


def as_text(secret: bytes) -> str:
    return PREFIX + secret.hex()


def from_text(text: str) -> bytes:
    """Raises UltraContextError for what is no key; the text is not repeated."""
    body = text.strip().removeprefix(PREFIX)
    with suppress(ValueError):
        secret = bytes.fromhex(body)
        if len(secret) == SECRET_BYTES and body.isascii() and len(body) == 2 * SECRET_BYTES:
            return secret
    raise UltraContextError(
        "this is no masking key", code="key", hint="It is what `config key export` wrote"
    )


def foreign_masks(space: SpaceStore | None, secret: bytes) -> bool:
    """Whether the store holds what was written with another key than this."""
    if space is None:
        return False
    noted = space.noted(NOTE)
    return noted != check_value(secret) and bool(noted is not None or space.contexts(limit=1))


def write_new(path: Path, text: str) -> None:
    """Mode 0600; never over a file that is there."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError as error:
        raise WriteRefusedError(f"{path} is there already", hint="Name another file") from error
    except OSError as error:
        raise _cannot(path, error) from error
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(text + "\n")


def replace(paths: Paths, secret: bytes) -> None:
    """Puts a key in the place of the one that is there."""
    target = paths.secret_file
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(secret)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise _cannot(target, error) from error


def _cannot(path: Path, error: OSError) -> UltraContextError:
    reason = error.strerror or type(error).__name__
    return UltraContextError(f"cannot write {path}: {reason}", hint="Check its folder", code="home")
