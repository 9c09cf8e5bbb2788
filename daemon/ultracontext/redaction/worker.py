"""The other side of `ahead`: masks batches of records until its standard input ends.

It reads no file and prints nothing but verdicts, which hold masked content only.
"""

from __future__ import annotations

import sys

import msgspec
import orjson

from ultracontext.model import RawRecord
from ultracontext.redaction.ahead import Answer, Verdict, _send, receive
from ultracontext.redaction.boundary import MaskedRecord, Redactor, redactor_of


def main() -> int:
    """First message: the order (key, engine, cache, rules). Each further one: records' bytes."""
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    decoder = msgspec.msgpack.Decoder(list[bytes])
    try:
        redactor = _redactor(receive(source))
        if redactor is None:
            return 3
        while True:
            batch = decoder.decode(receive(source))
            verdicts = [_verdict(redactor, data) for data in batch]
            answer = Answer(verdicts, redactor.scanner.fingerprints.drain())
            _send(sink, msgspec.msgpack.encode(answer))
    except (EOFError, OSError):
        return 0


def _redactor(order: bytes) -> Redactor | None:
    known = orjson.loads(order)
    return redactor_of(known, bytes.fromhex(known["secret"]))


def _verdict(redactor: Redactor, data: bytes) -> Verdict:
    if not data:
        return Verdict(b"")
    record = redactor.redact(RawRecord(agent="", source="", start=0, end=len(data), data=data))
    exact = record.native is not None and not _plain(record)
    if record.text is None and record.body is data and not record.parts:
        return Verdict(record.digest, exact)
    return Verdict(
        record.digest,
        exact,
        None if record.text is not None else record.body,
        record.text,
        [(list(p.path), p.digest, p.size, p.stored, p.packed) for p in record.parts],
        dict(record.masks),
    )


def _plain(record: MaskedRecord) -> bool:
    """Whether the fast parser reads the body back to the same value."""
    try:
        return bool(orjson.loads(record.body) == record.native)
    except ValueError:
        return False


if __name__ == "__main__":
    sys.exit(main())
