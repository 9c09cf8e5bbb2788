"""The local secret, and the fingerprints that it makes.

A fingerprint says "the same secret" on this machine and nothing to anyone without the key.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

from ultracontext.errors import RedactionError

SECRET_BYTES = 32
MOST_NOTED = 10_000
"""Digests that wait to be stored; more are forgotten until they are met again."""

_NOISE = re.compile(rb"(?:\\+[nrt]|\s)+(?:\d+[\t|:])?")
_MARK = re.compile(rb"(\[redacted:[a-z0-9-]{1,40}):[0-9a-f]{8}\]")


class Fingerprinter:
    """Keyed digests: 8 hex digits for masks, 16 bytes for records."""

    def __init__(self, secret: bytes) -> None:
        if not secret:
            raise RedactionError(
                "the local redaction key is empty",
                hint="Bring back the masking key by `ultracontext config key import FILE`",
            )
        key = secret if len(secret) <= 64 else blake2b(secret).digest()
        self._mask = blake2b(digest_size=16, key=key, person=b"mask")
        self._record = blake2b(digest_size=16, key=key, person=b"record")
        self._noted: set[str] = set()

    def mask(self, value: bytes) -> str:
        """8 hex digits; line ends inside a value, real or escaped, do not count."""
        full = self.full(value)
        if len(self._noted) < MOST_NOTED:
            self._noted.add(full)
        return full[:8]

    def drain(self) -> list[bytes]:
        """Whole digests of the secrets that were masked since the last time."""
        noted, self._noted = self._noted, set()
        return [bytes.fromhex(digest) for digest in sorted(noted)]

    def note(self, digests: Iterable[bytes]) -> None:
        """Whole digests of what another process masked with the same key."""
        for digest in digests:
            if len(self._noted) < MOST_NOTED:
                self._noted.add(digest.hex())

    def full(self, value: bytes) -> str:
        """All 32 hex digits of the keyed digest of a secret."""
        digest = self._mask.copy()
        digest.update(_NOISE.sub(b"", value))
        return digest.hexdigest()

    def record(self, data: bytes, companions: Mapping[str, bytes]) -> bytes:
        """16 bytes over an unmasked record and the files that belong to it."""
        return self.over(blake2b(data, digest_size=16).digest(), companions)

    def over(self, content: bytes, companions: Mapping[str, bytes]) -> bytes:
        """The same from the record's plain digest, where that is at hand."""
        digest = self._record.copy()
        digest.update(content)
        for name in sorted(companions):
            framed = name.encode("utf-8", "surrogatepass")
            body = companions[name]
            digest.update(b"\0%d\0%b\0%d\0" % (len(framed), framed, len(body)))
            digest.update(body)
        return digest.digest()


def without_fingerprints(data: bytes) -> bytes:
    """Masked bytes with the fingerprint of every mask left out: equal on every machine."""
    return _MARK.sub(rb"\1]", data) if b"[redacted:" in data else data


def load_secret(path: Path) -> bytes:
    """The key in `path`, made there (mode 0600) when there is none yet.

    Two processes that start at once get the same key. Raises RedactionError for a file that is
    no key of ours: a new one would give every known secret another mask.
    """
    try:
        return _checked(path)
    except FileNotFoundError:
        _create(path)
        return _checked(path)
    except OSError as error:
        raise RedactionError(
            f"the local redaction key cannot be read: {error.strerror}",
            hint=f"Check the permissions of {path}",
        ) from error


def _checked(path: Path) -> bytes:
    data = path.read_bytes()
    if len(data) != SECRET_BYTES:
        raise RedactionError(
            f"the local redaction key has {len(data)} bytes, not {SECRET_BYTES}",
            hint=f"Restore {path} from a backup, or move it away to start with a new key",
        )
    return data


def _create(path: Path) -> None:
    """Writes a whole key beside `path` and links it there, unless another starter was first.

    On a file system without links the key is written in place; who meets it
    half written starts again.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    _write_new(temporary)
    try:
        os.link(temporary, path)
    except FileExistsError:
        return
    except OSError:
        with contextlib.suppress(FileExistsError):
            _write_new(path)
    finally:
        temporary.unlink()


def _write_new(path: Path) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_bytes(SECRET_BYTES))
        file.flush()
        os.fsync(file.fileno())
