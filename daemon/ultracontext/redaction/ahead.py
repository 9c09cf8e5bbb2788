"""Masking ahead in a second process, while this one stores what was masked before.

Bytes go over and verdicts come back, in order: whether a record stays as it is, or its masked form.
A verdict counts only for the bytes whose keyed digest it bears. When the process fails or is slow,
its records are masked here: it can make things faster, never less safe.

    to the child     4 bytes length, MessagePack list of records' bytes
    to the parent    4 bytes length, MessagePack `Answer`
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import msgspec
import orjson

import ultracontext
from ultracontext.model import RawRecord
from ultracontext.redaction.boundary import MaskedRecord, Redactor, _mint
from ultracontext.redaction.parse import load_exactly, load_json
from ultracontext.redaction.slim import Part

TIMEOUT_SECONDS = 20.0
ANSWER_LIMIT = 256 << 20

_START = (
    "import sys; sys.path.insert(0, sys.argv[1]);"
    "from ultracontext.redaction.worker import main; sys.exit(main())"
)


class Verdict(msgspec.Struct, array_like=True):
    """What the child says of one record. Without `body` and `text` it stays as it is."""

    digest: bytes
    exact: bool = False
    """The record needs the slow parser: it holds what the fast one changes."""
    body: bytes | None = None
    text: str | None = None
    parts: list[tuple[list[str | int], str, int, bytes, bool]] = []
    masks: dict[str, int] = {}


class Answer(msgspec.Struct, array_like=True):
    """Verdicts of one batch, and the whole digests of the secrets that were masked in it."""

    verdicts: list[Verdict]
    noted: list[bytes] = []


class Ticket:
    """Records that were handed over."""

    __slots__ = ("answered", "noted", "raws", "verdicts")

    def __init__(self, raws: Sequence[RawRecord]) -> None:
        self.raws = raws
        self.answered = threading.Event()
        self.verdicts: list[Verdict] | None = None
        self.noted: list[bytes] = []


class Ahead:
    """One helping process. `submit` and `take` are called by one thread, in the same order."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._child = _started()
        self._waiting: deque[Ticket] = deque()
        self._decoder = msgspec.msgpack.Decoder(Answer)
        self._reading = threading.Thread(target=self._read, name="masking-ahead", daemon=True)
        self._broken = self._child is None
        if self._child is not None and self._child.stdin is not None:
            _send(self._child.stdin, orjson.dumps(redactor.order_for_child()))
            self._reading.start()

    def submit(self, raws: Sequence[RawRecord]) -> Ticket:
        """Hands records over; at most two tickets should be open, so that no pipe fills up."""
        ticket = Ticket(raws)
        pipe = self._child.stdin if self._child is not None else None
        if self._broken or pipe is None:
            ticket.answered.set()
            return ticket
        self._waiting.append(ticket)
        try:
            _send(pipe, msgspec.msgpack.encode([self._sent(raw) for raw in raws]))
        except OSError:
            self._fail()
        return ticket

    def take(self, ticket: Ticket) -> list[MaskedRecord]:
        """The masked records of a ticket. Raises RedactionError as `Redactor.redact` does."""
        if not ticket.answered.wait(TIMEOUT_SECONDS):
            self._fail()
        redact = self._redactor.redact_any
        verdicts = ticket.verdicts
        if verdicts is None or len(verdicts) != len(ticket.raws):
            return [redact(raw) for raw in ticket.raws]
        self._redactor.scanner.fingerprints.note(ticket.noted)
        return [
            self._minted(raw, verdict) or redact(raw)
            for raw, verdict in zip(ticket.raws, verdicts, strict=True)
        ]

    def _sent(self, raw: RawRecord) -> bytes:
        """Its bytes; none for what only this process can mask."""
        return b"" if raw.companions or self._redactor.passes(raw.source) else raw.data

    def _minted(self, raw: RawRecord, verdict: Verdict) -> MaskedRecord | None:
        """None when the verdict is none for these bytes."""
        redactor = self._redactor
        if not raw.data or raw.companions:
            return None
        digest = redactor.scanner.fingerprints.record(raw.data, {})
        if digest != verdict.digest:
            return None
        body, native = verdict.body, None
        if verdict.text is None:
            body = raw.data if body is None else body
            native = load_exactly(body, []) if verdict.exact else load_json(body)
        return _mint(
            agent=raw.agent,
            source=redactor.path(raw.source),
            start=raw.start,
            end=raw.end,
            native=native,
            text=verdict.text,
            body=body or b"",
            parts=tuple(Part(tuple(p[0]), *p[1:]) for p in verdict.parts),
            companions={},
            damage=raw.damage,
            too_large=None,
            masks=verdict.masks,
            rule_set=redactor.rule_set,
            digest=digest,
        )

    def _read(self) -> None:
        """In a thread: pairs answers with tickets until the child ends."""
        pipe = self._child.stdout if self._child is not None else None
        try:
            while pipe is not None:
                answer = self._decoder.decode(receive(pipe))
                ticket = self._waiting.popleft()
                ticket.verdicts, ticket.noted = answer.verdicts, answer.noted
                ticket.answered.set()
        except (OSError, EOFError, IndexError, ValueError):
            self._fail()

    def _fail(self) -> None:
        self._broken = True
        if self._child is not None:
            self._child.kill()
        for ticket in list(self._waiting):
            ticket.answered.set()

    def close(self) -> None:
        """Ends the process."""
        self._fail()
        if self._child is not None:
            for pipe in (self._child.stdin, self._child.stdout):
                _closed(pipe)
            self._child.wait()
            if self._reading.is_alive():
                self._reading.join(TIMEOUT_SECONDS)


def _started() -> subprocess.Popen[bytes] | None:
    root = str(Path(ultracontext.__file__).parent.parent)
    try:
        return subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [sys.executable, "-I", "-c", _START, root],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            close_fds=True,
        )
    except OSError:
        return None


def _closed(pipe: IO[bytes] | None) -> None:
    try:
        if pipe is not None:
            pipe.close()
    except OSError:
        pass


def _send(pipe: IO[bytes], data: bytes) -> None:
    pipe.write(len(data).to_bytes(4, "big"))
    pipe.write(data)
    pipe.flush()


def receive(pipe: IO[bytes]) -> bytes:
    """One message; EOFError when the other side is gone."""
    size = int.from_bytes(pipe.read(4) or b"\xff\xff\xff\xff", "big")
    if size > ANSWER_LIMIT:
        raise EOFError
    data: Any = pipe.read(size)
    if len(data) != size:
        raise EOFError
    return bytes(data)
