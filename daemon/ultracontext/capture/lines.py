"""Lines of a log, and what can be saved of a damaged one.

Lines end at LF only; U+2028, U+0085, form feed and a lone CR are text. Nothing is guessed: a piece
is sound only if it parses alone as one JSON object.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

BOM = b"\xef\xbb\xbf"
MAX_CANDIDATES = 200
"""Places in one damaged line at which a further record is looked for."""

_DECODER = json.JSONDecoder()
_RECORD_KEYS = {"type", "timestamp", "uuid", "parentUuid", "sessionId", "payload", "id", "role"}
_GAP = b"\x00 \t\r"


class Piece(NamedTuple):
    """A part of a line: where it begins in the line, its bytes, and why it is no sound record."""

    offset: int
    data: bytes
    damage: str | None


def split_lines(chunk: bytes, start: int) -> Iterator[tuple[int, int, bytes]]:
    """(start, end, data) of each line of `chunk`, which ends in LF; blank lines are left out.

    `start` is the chunk's place in the source. A byte order mark counts as nothing at place 0.
    """
    place = start
    lines = chunk.split(b"\n")
    lines.pop()
    for line in lines:
        end = place + len(line) + 1
        if line[:1] == b"{" and line[-1:] == b"}":
            yield place, end, line
            place = end
            continue
        data = line[:-1] if line.endswith(b"\r") else line
        if place == 0 and data.startswith(BOM):
            data = data[3:]
        if data and not data.isspace():
            yield place, end, data
        place = end


def salvage(line: bytes) -> list[Piece]:
    """Pieces of a line that does not parse as one object, in order, covering all but white space.

    A NUL block, a record cut by a crash, and records fused with what follows them are told apart;
    a line that holds nothing sound is one damaged piece.
    """
    text = line.decode("latin-1")
    pieces: list[Piece] = []
    place = 0
    while place < len(line):
        nulls = _run(line, place, b"\x00")
        if nulls > place:
            pieces.append(Piece(place, line[place:nulls], "nul"))
            place = nulls
        place = _run(line, place, b" \t\r")
        if place >= len(line):
            break
        end = _object_end(text, place)
        if end is not None:
            pieces.append(Piece(place, line[place:end], None))
            place = end
            continue
        resume = _next_record(line, text, place)
        damage = "cut" if resume == len(line) else "fused"
        pieces.append(Piece(place, line[place:resume].rstrip(b"\x00"), damage))
        rest = len(pieces[-1].data)
        place = place + rest if rest else resume
    return pieces


def _run(line: bytes, place: int, members: bytes) -> int:
    while place < len(line) and line[place] in members:
        place += 1
    return place


def _object_end(text: str, place: int) -> int | None:
    """End of the JSON object that begins at `place`, None if none does."""
    if text[place] != "{":
        return None
    try:
        value, end = _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return None
    return end if isinstance(value, dict) else None


def _next_record(line: bytes, text: str, place: int) -> int:
    """Where the next sound record begins after a damaged one at `place`; the line's end if none
    does."""
    found = line.find(b'{"', place + 1)
    for _ in range(MAX_CANDIDATES):
        if found < 0:
            break
        if _is_record(line, text, place, found):
            return found
        found = line.find(b'{"', found + 1)
    return len(line)


def _is_record(line: bytes, text: str, damaged: int, place: int) -> bool:
    """Whether an object at `place` is a record of its own and no value inside the damaged one."""
    try:
        value, end = _DECODER.raw_decode(text, place)
    except (ValueError, RecursionError):
        return False
    after = _run(line, end, _GAP)
    if after < len(line) and line[after : after + 1] != b"{":
        return False
    before = line[damaged:place].rstrip(b" \t\r")
    if before[-1:] in (b":", b",", b"["):
        return len(_RECORD_KEYS & value.keys()) >= 3
    return True
