"""Reading a document that its agent rewrites in place, as a whole.

A reader can see it empty or cut: the writer truncates it first. Such a look gives nothing and sets
`source.problem` to `UNFINISHED`; the caller looks again a little later. Only a file that is still
the same then is damaged.

A JSON document is cut into records by `SourceFacts.document`: the document without its list, then
the list's elements. Their bytes are the document's own, white space between values left out, so
that no number and no escape is changed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from ultracontext.capture.places import HEAD_BYTES, PrefixDigest, keyed_digest, opened, read_at
from ultracontext.capture.source import Change, Look, Source
from ultracontext.capture.tail import INLINE_BYTES, Slice
from ultracontext.errors import CaptureError
from ultracontext.formats import DocumentShape
from ultracontext.model import RawRecord

LIMIT_BYTES = 64 << 20
UNFINISHED = "unfinished"
"""`Source.problem` of a document that was empty or cut when it was looked at."""

DAMAGED = "damaged"

_BOM = b"\xef\xbb\xbf"
_Members = dict[str, msgspec.Raw]


@dataclass(slots=True)
class Piece:
    """One record's bytes, and where they stand in the document."""

    start: int
    end: int
    data: bytes


def read_document(source: Source, secret: bytes) -> Slice:
    """All records of a document that is not the one read last. Moves `position` to its end.

    `ordinal` begins again at 0. Raises OSError when the file cannot be read, CaptureError when it
    is too large, or still unreadable and unchanged since an earlier try.
    """
    read = _whole(source)
    if isinstance(read, Slice):
        return read
    digest = PrefixDigest(secret)
    digest.update(read)
    if source.position and digest.value() == _digest_of(source):
        return _unchanged(source, digest)
    pieces = cut(read, source.facts.document)
    if pieces is None:
        return _unfinished(source)
    _advance(source, secret, read, digest)
    return Slice(records=[_record(source, p) for p in pieces], read_bytes=len(read))


def _whole(source: Source) -> bytes | Slice:
    """The document's bytes, or the answer where they are not to be taken now."""
    with opened(source.path) as descriptor:
        look = Look.of(os.fstat(descriptor))
        if (look.device, look.inode) != (source.look.device, source.look.inode):
            return Slice(change=Change.REPLACED)
        source.look = look
        if _left_out(source):
            return Slice()
        if look.size > LIMIT_BYTES:
            raise CaptureError(
                "a session document is above 64 MiB", code="too-large",
                hint="It is read again when it is smaller.",
            )  # fmt: skip
        data = read_at(descriptor, 0, look.size + 1)
        after = Look.of(os.fstat(descriptor))
    if after != look or len(data) != look.size:
        source.look = after
        return _unfinished(source)
    return data


def _left_out(source: Source) -> bool:
    """A document that the backfill leaves out is read once it has changed, and then as a whole."""
    if not source.skip_until:
        return False
    saved, look = source.saved, source.look
    if source.stored and (saved.size, saved.mtime_ns, saved.ctime_ns) == (
        look.size, look.mtime_ns, look.ctime_ns,
    ):  # fmt: skip
        source.scanned = look.size
        return True
    source.skip_until = source.scanned = 0
    return False


def _unfinished(source: Source) -> Slice:
    """Nothing now; an error when the file has not changed since an earlier try."""
    if source.look == _tried(source):
        raise CaptureError(
            "a session document is no whole JSON", code=DAMAGED,
            hint="It is read again when its agent writes it.",
        )  # fmt: skip
    source.problem = UNFINISHED
    source.dirty = True
    return Slice()


def _tried(source: Source) -> Look | None:
    """The file as of an earlier try that found it unfinished, in this run or the one before."""
    if source.problem in (UNFINISHED, DAMAGED):
        return source.seen
    saved = source.saved
    if source.stored and saved.problem in (UNFINISHED, DAMAGED):
        return Look(saved.device, saved.inode, saved.size, saved.mtime_ns, saved.ctime_ns)
    return None


def _digest_of(source: Source) -> bytes:
    """Digest of the document that was read last."""
    return source.prefix.value() if source.prefix is not None else source.saved.prefix


def _unchanged(source: Source, digest: PrefixDigest) -> Slice:
    source.prefix = digest
    if source.problem is not None:
        source.problem = None
        source.dirty = True
    return Slice()


def _advance(source: Source, secret: bytes, data: bytes, digest: PrefixDigest) -> None:
    head = data[:HEAD_BYTES]
    source.saved = msgspec.structs.replace(
        source.saved, fingerprint=keyed_digest(secret, head), fingerprint_length=len(head)
    )
    source.prefix = digest
    source.position, source.ordinal = len(data), 0
    source.problem = None
    source.dirty = True


def _record(source: Source, piece: Piece) -> RawRecord:
    """Above 8 MiB the bytes are left to the redactor's child process, by their place."""
    data = piece.data if len(piece.data) <= INLINE_BYTES else b""
    return RawRecord(
        agent=source.spec.slug, source=source.path, start=piece.start, end=piece.end, data=data
    )


# ---- cutting -------------------------------------------------------------------------------------
def cut(data: bytes, shape: DocumentShape | None) -> list[Piece] | None:
    """The records of a document, None for one that is empty, cut or no JSON.

    A text without a shape is one record, `{"text": …}`. JSON that is nested too deeply is one
    record as it is. JSON Lines under a document's name are read line by line.
    """
    if not data.strip(b" \t\r\n\0"):
        return None
    if shape is None:
        text = data.decode("utf-8", "backslashreplace")
        return [Piece(0, len(data), json.dumps({"text": text}, ensure_ascii=False).encode())]
    try:
        return _exactly(data, shape) if _is_plain(data) else _slowly(data, shape)
    except RecursionError:
        return [Piece(0, len(data), data)]
    except msgspec.DecodeError:
        pass
    try:
        return _slowly(data, shape)
    except RecursionError:
        return [Piece(0, len(data), data)]
    except ValueError:
        return _by_lines(data)


def _is_plain(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _exactly(data: bytes, shape: DocumentShape) -> list[Piece]:
    """Cuts the bytes themselves; raises DecodeError for what strict JSON does not allow."""
    body = data.removeprefix(_BOM)
    if body.lstrip()[:1] == b"[":
        members: _Members = {shape.items: msgspec.Raw(body)}
    else:
        members = msgspec.json.decode(body, type=_Members)
    try:
        elements = msgspec.json.decode(members[shape.items], type=list[msgspec.Raw])
    except (KeyError, msgspec.ValidationError):
        return [Piece(0, len(data), _compact(body))]
    items = list(_placed(data, members[shape.items], elements))
    ids = msgspec.json.encode([_id(element, shape.item_id) for element in elements])
    parts = [
        msgspec.json.encode(name) + b":" + (ids if name == shape.items else _compact(value))
        for name, value in members.items()
    ]
    end = items[0].start if items else len(data)
    return [Piece(0, end, b"{" + b",".join(parts) + b"}"), *items]


def _placed(data: bytes, whole: msgspec.Raw, elements: list[msgspec.Raw]) -> Iterator[Piece]:
    """The elements with their places: nothing but commas and white space lies between them."""
    place = data.find(memoryview(whole)) + 1
    for element in elements:
        raw = bytes(element)
        place = data.find(raw, place)
        yield Piece(place, place + len(raw), _compact(raw))
        place += len(raw)


def _id(element: msgspec.Raw, name: str) -> str | None:
    try:
        return msgspec.json.decode(msgspec.json.decode(element, type=_Members)[name], type=str)
    except (KeyError, msgspec.DecodeError):
        return None


def _compact(raw: Any) -> bytes:
    """Without the white space between values."""
    return msgspec.json.format(bytes(raw), indent=-1)


def _slowly(data: bytes, shape: DocumentShape) -> list[Piece]:
    """The same for NaN, lone surrogates and broken UTF-8; raises ValueError for what is no JSON."""
    whole = json.loads(data.removeprefix(_BOM).decode("utf-8", "surrogateescape"))
    if isinstance(whole, list):
        whole = {shape.items: whole}
    items = whole.get(shape.items) if isinstance(whole, dict) else None
    if not isinstance(items, list):
        return [Piece(0, len(data), _dump(whole))]
    named = [item.get(shape.item_id) if isinstance(item, dict) else None for item in items]
    ids = [name if isinstance(name, str) else None for name in named]
    head = Piece(0, len(data), _dump({**whole, shape.items: ids}))
    return [head, *(Piece(i + 1, i + 1, _dump(item)) for i, item in enumerate(items))]


def _dump(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _by_lines(data: bytes) -> list[Piece] | None:
    """Complete lines, if the first is an object; None for anything else."""
    pieces: list[Piece] = []
    start = 0
    for line in data.split(b"\n"):
        end = start + len(line) + 1
        if line.strip() and (end <= len(data) or _is_object(line)):
            pieces.append(Piece(start, min(end, len(data)), line.removesuffix(b"\r")))
        start = end
    return pieces if len(pieces) > 1 and _is_object(pieces[0].data) else None


def _is_object(line: bytes) -> bool:
    try:
        return type(json.loads(line.removeprefix(_BOM))) is dict
    except (ValueError, RecursionError):
        return False
