"""Masking a record of 8 to 64 MiB in a process of its own, which ends after it.

The parent hands over where the bytes stand, never the bytes; the child reads, masks, takes large
strings out and answers through a pipe:

    8 bytes   length of the head, big endian
    head      JSON: masks, digest, the frame left open, digests of secrets, size of the body, path,
              digest and sizes of each part
    body      masked JSON
    parts     one after the other, compressed

The local key goes through the child's standard input: neither its arguments nor its environment
show it.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import orjson

import ultracontext
from ultracontext.errors import RedactionError
from ultracontext.redaction.slim import Part

HEAD_LIMIT = 4 << 20
BODY_LIMIT = 16 << 20
PARTS_LIMIT = 80 << 20
TIMEOUT_SECONDS = 120.0
OTHER_RULES = 3
"""How a child ends whose rules do not load, or are not those of who asked."""

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    "from ultracontext.redaction.child import main; sys.exit(main())"
)


class ChildError(Exception):
    """The child did not bring a masked record. Holds no byte of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a child needs to mask one range of a file."""

    path: str
    start: int
    end: int
    secret: bytes
    engine: str
    cache_dir: str | None
    rule_set: int
    custom: str = ""
    """A person's rules, packed."""
    frame: Mapping[str, Any] = field(default_factory=dict)
    """The state of the frame that is open before the record."""

    def packed(self) -> bytes:
        return orjson.dumps(
            {
                "path": self.path.encode("utf-8", "surrogateescape").hex(),
                "start": self.start,
                "end": self.end,
                "secret": self.secret.hex(),
                "engine": self.engine,
                "cache_dir": self.cache_dir,
                "rule_set": self.rule_set,
                "custom": self.custom,
                "frame": self.frame,
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Masked:
    """What a child brings."""

    body: bytes
    parts: tuple[Part, ...]
    masks: Mapping[str, int]
    digest: bytes
    frame: Mapping[str, Any] | None = None
    """State of the frame that is open after it."""
    noted: tuple[bytes, ...] = ()
    """Whole digests of the secrets that were masked."""


def mask_in_child(order: Order, *, timeout_seconds: float = TIMEOUT_SECONDS) -> Masked:
    """Runs one child. Raises ChildError when it fails, is too slow, or answers too much, and
    RedactionError when it cannot mask by these rules."""
    root = str(Path(ultracontext.__file__).parent.parent)
    with subprocess.Popen(  # noqa: S603  our own interpreter and module
        [sys.executable, "-I", "-c", _START, root],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={},
        close_fds=True,
    ) as child:
        watch = threading.Timer(timeout_seconds, child.kill)
        watch.daemon = True
        watch.start()
        try:
            return _exchange(child, order)
        except (OSError, ValueError, KeyError, TypeError, ChildError) as error:
            if _ended(child) == OTHER_RULES:
                raise RedactionError(
                    "the process that masks large records has other rules, or none",
                    hint="Install the package again, then restart the daemon",
                ) from None
            raise ChildError(f"the masking process failed: {type(error).__name__}") from None
        finally:
            watch.cancel()
            child.kill()


def _ended(child: subprocess.Popen[bytes]) -> int | None:
    """How a child ended that closed its pipe; None for one that did not end."""
    with suppress(subprocess.TimeoutExpired):
        return child.wait(1.0)
    return None


def _exchange(child: subprocess.Popen[bytes], order: Order) -> Masked:
    if child.stdin is None or child.stdout is None:
        raise ChildError("the masking process has no pipes")
    child.stdin.write(order.packed())
    child.stdin.close()
    masked = read_answer(child.stdout)
    if child.wait() != 0:
        raise ChildError("the masking process failed after its answer")
    return masked


def read_answer(pipe: IO[bytes]) -> Masked:
    size = int.from_bytes(_exactly(pipe, 8, 8), "big")
    head = orjson.loads(_exactly(pipe, size, HEAD_LIMIT))
    body = _exactly(pipe, head["body"], BODY_LIMIT)
    left = PARTS_LIMIT
    parts = []
    for path, digest, size, stored in head["parts"]:
        parts.append(Part(tuple(path), digest, size, _exactly(pipe, stored, left), True))
        left -= stored
    return Masked(
        body=body,
        parts=tuple(parts),
        masks=head["masks"],
        digest=bytes.fromhex(head["digest"]),
        frame=head["frame"],
        noted=tuple(map(bytes.fromhex, head["noted"])),
    )


def write_answer(pipe: IO[bytes], masked: Masked) -> None:
    head = orjson.dumps(
        {
            "body": len(masked.body),
            "parts": [[list(p.path), p.digest, p.size, len(p.stored)] for p in masked.parts],
            "masks": dict(masked.masks),
            "digest": masked.digest.hex(),
            "frame": masked.frame,
            "noted": [digest.hex() for digest in masked.noted],
        }
    )
    pipe.write(len(head).to_bytes(8, "big") + head)
    pipe.write(masked.body)
    for part in masked.parts:
        pipe.write(part.stored)
    pipe.flush()


def _exactly(pipe: IO[bytes], size: int, limit: int) -> bytes:
    if not 0 <= size <= limit:
        raise ChildError("the masking process answers too much")
    data = pipe.read(size)
    if len(data) != size:
        raise ChildError("the masking process ended early")
    return data


def order_of(data: bytes) -> dict[str, Any]:
    """An order as the child reads it."""
    order: dict[str, Any] = orjson.loads(data)
    order["path"] = bytes.fromhex(order["path"]).decode("utf-8", "surrogateescape")
    order["secret"] = bytes.fromhex(order["secret"])
    return order
