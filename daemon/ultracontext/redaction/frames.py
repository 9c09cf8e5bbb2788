"""Framed secrets (PEM, OpenSSH, PGP, PuTTY) over records that arrive apart.

A frame opens with a header whose footer has not come, and closes at the footer, at the first text
outside the alphabet of such a key, or after 200 lines. What is open after a record is a `Frame`:
small, without a byte of the secret, part of the source's checkpoint. Everything here is pure.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ultracontext.model import RawRecord
from ultracontext.redaction import looks

MOST_LINES = 200
LONG = 20
"""Letters of a line that no word has."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SAID = _words("""
    text thinking content output delta stdout stderr chunk message result aggregated_output
    formatted_output summary body partial_json arguments input lines old_string new_string
    oldString newString originalFile display response value data command code diff patch
""")
"""Keys, at any depth, whose strings say something; those of ids and times do not."""

CLOSERS = SAID - _words("arguments input command code value data")
"""Keys whose strings end a frame when they are outside its alphabet: a call between two results
does not."""

PEM, PUTTY = "private-key", "putty-key"
FRAMES = (PEM, PUTTY)
_HEADERS = {
    PEM: re.compile(
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
        r"|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----"
    ),
    PUTTY: re.compile(r"PuTTY-User-Key-File-\d: ?[a-z0-9-]*"),
}
_HEADER = re.compile("|".join(f"(?:{pattern.pattern})" for pattern in _HEADERS.values()))
_PEM_FOOTER = re.compile(
    r"-----END (?:[A-Z0-9]{1,12} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    r"|---- END SSH2 ENCRYPTED PRIVATE KEY ----"
)
_MAC = re.compile(
    r"Private-(?:MAC|Hash):(?:\\{1,8}[nrt]|[ \t\r\n])*(?>([0-9a-fA-F]*))(?![A-Za-z0-9])"
)
_MAC_LENGTH = 40
_SOME_MAC = "Private-MAC: 0"
"""Carried where the last of its digits may come in the next text."""
_GAP = re.compile(
    r"(?:\\{1,8}[nrt]|[ \t\r\n\"',+])*"
    r"(?:\d{1,6}(?:[ \t:|]|→|\\{1,8}t){1,4})?(?:(?:[>#*|+]|-(?=[^-])) ?|// ?)?\"?"
)
_FIELDS = sorted(
    _words("""
    Proc-Type DEK-Info Version Comment Hash Charset MessageID Subject Encryption Public-Lines
    Private-Lines Key-Derivation Argon2-Memory Argon2-Passes Argon2-Parallelism Argon2-Salt
""")
)
_FIELD = re.compile(rf"(?:{'|'.join(_FIELDS)}|X-[A-Za-z-]{{1,20}}):[^\n\\]{{0,200}}")
_NAMES = tuple(f"{name}:" for name in (*_FIELDS, "Private-MAC", "Private-Hash"))
_SOME_FIELD = "Comment: "
"""Carried for the value of any field that a text ended in."""
_RUN = re.compile(r"[A-Za-z0-9+/]+={0,2}|=[A-Za-z0-9+/]{4}(?![A-Za-z0-9+/])|={1,2}(?![A-Za-z0-9])")
_LINE_END = re.compile(r"[ \t]*(?:\\{1,8}[nr]|[\r\n\"',]|$)")
_HEX = re.compile(r"[0-9a-f]{20,}")
_ONE_WORD = re.compile(r"[A-Z]?[a-z]{2,}|[A-Z]{2,}")
_FOOTER_BEGUN = re.compile(r"-{1,5}$|-{4,5} ?E(?:N(?:D(?: [A-Z0-9 ]{0,60}-{0,4})?)?)?$")
_HEADER_BEGUN = re.compile(
    r"(?<![A-Za-z0-9-])(?:-{1,5}|-{4,5} ?B(?:E(?:G(?:I(?:N(?: [A-Z0-9 ]{0,60}-{0,4})?)?)?)?)?"
    r"|PuTTY-User-Key-File-\d(?:: ?[a-z0-9-]{0,40})?"
    rf"|{'|'.join('PuTTY-User-Key-File-'[:n] for n in range(20, 0, -1))})$"
)
_LINE = re.compile(r"\n|\\{1,8}n")


class Frame(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is open after a record."""

    kind: str = ""
    """`private-key` or `putty-key`; empty while only a part of a header came."""
    since: int = 0
    """Where in its source the record begins that holds the header."""
    lines: int = 0
    mask: str = ""
    """What stands for the secret; empty before its first letter."""
    carry: str = ""
    """The begin of a header or footer that the last text was cut in; no part of a secret."""
    voice: str = ""
    """Who says it: a stream of small pieces goes on in the same one."""

    def state(self) -> dict[str, Any]:
        """For a checkpoint; `Frame.of` reads it."""
        found: dict[str, Any] = msgspec.to_builtins(self)
        return found

    @classmethod
    def of(cls, state: object) -> Frame | None:
        """None for what is none, or of another version."""
        try:
            return msgspec.convert(state, cls) if state else None
        except msgspec.ValidationError:
            return None


@dataclass(slots=True)
class _Said:
    """A string of a record, and where it stands."""

    node: Any
    key: Any
    voice: str
    text: str


@dataclass(slots=True)
class _Open:
    """A frame while its pieces are gathered: they share one mask, over all of them."""

    frame: Frame
    value: str = ""
    body: bool = False
    """Whether a letter of the secret came: a header alone is left where it is."""
    edits: list[tuple[int, _Said, int, int]] = field(default_factory=list)

    def add(self, number: int, said: _Said, low: int, high: int) -> None:
        if not any(one is said for _, one, _, _ in self.edits):
            self.edits.append((number, said, low, high))


@dataclass(frozen=True, slots=True)
class _Piece:
    """What a text holds of a frame: up to `end`, and how it goes on."""

    end: int
    lines: int
    closed: bool
    carry: str = ""
    body: bool = False


Mark = Callable[[str, bytes], str]
"""Kind and secret to the text that stands for it."""


_BEGUN = re.compile(rb"P(?:uTTY-|(?:u(?:T(?:TY?)?)?)?(?:\"|$))")


def may_open(data: bytes) -> bool:
    """Whether a record may hold the header of a frame: cheap, and never wrong when it says no."""
    return b"-----B" in data or b"PuTTY-User" in data or b"---- BEGIN SSH2" in data


def may_begin(data: bytes) -> bool:
    """The same, of a header that the end of a text cuts."""
    if may_open(data) or b'-"' in data or data.endswith((b"-", b"-\n")):
        return True
    return _BEGUN.search(data) is not None


def follow(
    raws: Sequence[RawRecord],
    said: Callable[[RawRecord], Any],
    frame: Frame | None,
    mark: Mark,
    off: Collection[str] = (),
) -> tuple[list[Frame | None], dict[int, Any]]:
    """Masks what frames hold in records that follow each other.

    `said` parses one (an opaque one: a list of its text; None: one that says nothing); it is not
    asked for those that no frame can touch. Kinds in `off` are left alone. Returns the frame after
    each, and the records that changed, by number.
    """
    work = _Work(frame, off)
    natives: dict[int, Any] = {}
    after: list[tuple[_Open, Frame] | None] = []
    for number, raw in enumerate(raws):
        heard = work.now is not None or _may_matter(raw.data)
        native = said(raw) if heard else None
        if native is not None:
            natives[number] = native
            work.record(number, raw.start, native)
        after.append(None if work.now is None else (work.now, work.now.frame))
    changed = work.finish(mark)
    frames = [
        None if one is None else msgspec.structs.replace(one[1], mask=one[0].frame.mask)
        for one in after
    ]
    return frames, {number: natives[number] for number in changed}


def _may_matter(data: bytes) -> bool:
    """Whether a record may change which frame is open, when none is."""
    return b"---- B" in data or may_begin(data)


class _Work:
    """One pass over some records."""

    def __init__(self, frame: Frame | None, off: Collection[str]) -> None:
        self._off = off
        self.now: _Open | None = None if frame is None else _Open(frame)
        self._all: list[_Open] = [] if self.now is None else [self.now]

    def record(self, number: int, start: int, native: Any) -> None:
        """All that one record says, heard under the frame that is open before it."""
        entry = self.now
        before = None if entry is None else entry.frame
        seen: dict[str, _Said] = {}
        ends: set[str] = set()
        for said in _said(native, "", ""):
            if not said.text or (self.now is None and said.text.isspace()):
                continue
            if said.text in seen:
                self._twin(number, said, seen[said.text])
                continue
            seen[said.text] = said
            place = 0
            opened = None if self.now is entry else self.now
            frame = before if opened is None else opened.frame
            if opened is not None:
                self.now = None
                if opened.frame.kind:
                    place, how = self._goes_on(number, said, opened, opened.frame)
                    self.now = opened if how == "open" else None
            elif entry is not None and before is not None:
                how = "outside"
                if before.kind:
                    place, how = self._goes_on(number, said, entry, before)
                if how != "outside" or said.key in CLOSERS or type(said.key) is int:
                    ends.add(how)
            carry = frame.carry if frame is not None and not frame.kind else ""
            self._opens(number, start, said, place, carry)
        if self.now is entry and ends and ("closed" in ends or "open" not in ends):
            self.now = None

    def _twin(self, number: int, said: _Said, first: _Said) -> None:
        """The same text once more in a record."""
        for open_ in self._all:
            for _, one, low, high in list(open_.edits):
                if one is first:
                    open_.add(number, said, low, high)

    def _goes_on(self, number: int, said: _Said, open_: _Open, frame: Frame) -> tuple[int, str]:
        """Where the part of a text ends that is of the frame, and what is after it."""
        cut = len(frame.carry)
        text = frame.carry + said.text
        piece = _piece(text, 0, frame, same_voice=said.voice == frame.voice, inside=True)
        end = max(piece.end - cut, 0)
        if end > 0:
            open_.value += said.text[:end]
            open_.body = True
            open_.add(number, said, 0, end)
        lines = frame.lines + piece.lines
        closed = piece.closed or lines > MOST_LINES
        open_.frame = msgspec.structs.replace(frame, lines=lines, carry=piece.carry)
        return end, ("closed" if end else "outside") if closed else "open"

    def _opens(self, number: int, start: int, said: _Said, place: int, carry: str) -> None:
        """A header in the rest of a text whose frame reaches its end, or which was cut before."""
        text = carry + said.text[place:]
        shift = place - len(carry)
        for match in _HEADER.finditer(text):
            kind = PUTTY if match[0].startswith("PuTTY") else PEM
            if kind in self._off:
                continue
            if kind == PUTTY and match.end() == len(text):
                break  # the kind of key may go on in the next text
            fresh = Frame(kind=kind, since=start, voice=said.voice)
            piece = _piece(text, match.end(), fresh, same_voice=True, inside=False)
            if piece.closed and not (match.start() < len(carry) and piece.body):
                continue
            made = _Open(msgspec.structs.replace(fresh, lines=piece.lines, carry=piece.carry))
            self._all.append(made)
            made.value = text[match.start() : piece.end]
            made.body = piece.body
            made.add(number, said, max(match.start() + shift, 0), piece.end + shift)
            if not piece.closed:
                self.now = made
                return
        begun = _HEADER_BEGUN.search(text[-90:])
        if begun is not None:
            self.now = _Open(Frame(since=start, carry=begun[0], voice=said.voice))

    def finish(self, mark: Mark) -> set[int]:
        """Puts the masks in place; the numbers of the records that they stand in."""
        changed: set[int] = set()
        places: dict[tuple[int, Any], tuple[_Said, list[tuple[int, int, str]]]] = {}
        for open_ in self._all:
            mask = open_.frame.mask
            if not open_.body:
                continue
            if not mask:
                mask = mark(open_.frame.kind, open_.value.encode("utf-8", "surrogatepass"))
                open_.frame = msgspec.structs.replace(open_.frame, mask=mask)
            for number, said, low, high in open_.edits:
                changed.add(number)
                places.setdefault((id(said.node), said.key), (said, []))[1].append(
                    (low, high, mask)
                )
        for said, edits in places.values():
            said.node[said.key] = _edited(said.text, edits)
        return changed


def _edited(text: str, edits: list[tuple[int, int, str]]) -> str:
    for low, high, mask in sorted(edits, reverse=True):
        text = text[:low] + mask + text[high:]
    return text


def _said(node: Any, key: str, voice: str) -> Iterator[_Said]:
    """The strings of a record that say something, in order; does not go deeper than 60 levels."""
    stack: list[tuple[Any, bool, str, int]] = [(node, key in SAID or not key, voice, 0)]
    while stack:
        value, heard, name, depth = stack.pop()
        if depth > 60:
            continue
        if type(value) is list:
            members: list[tuple[Any, Any]] = list(enumerate(value))
        elif isinstance(value, Mapping):
            role = value.get("role") or value.get("type")
            name = f"{name}/{role}"[-60:] if type(role) is str else name
            members = list(value.items())
        else:
            continue
        deeper = []
        for place, member in members:
            known = heard if type(place) is int else place in SAID
            if type(member) is str:
                if known:
                    own = place if type(place) is str else ""
                    yield _Said(value, place, f"{name}/{own}"[-80:], member)
            elif member is not None:
                deeper.append((member, known, name, depth + 1))
        stack += reversed(deeper)


def _piece(text: str, start: int, frame: Frame, *, same_voice: bool, inside: bool) -> _Piece:
    """How much of a text from `start` on is of the frame."""
    place, good, lines, long_, body = start, start, 0, False, False
    size = len(text)
    while place < size:
        gap = _GAP.match(text, place)
        at = gap.end() if gap is not None else place
        lines += len(_LINE.findall(text, place, at))
        if lines + frame.lines > MOST_LINES:
            return _Piece(good, lines, True, body=body)
        if at >= size:
            good = size
            break
        ended = _at_footer(text, at, frame.kind, lines, body=body)
        if ended is not None:
            return ended
        end = _item(text, at)
        if end is None:
            break
        run = text[at:end]
        if _is_long(run) or (same_voice and _FIELD.match(run) is not None):
            long_ = True
        elif not _short(text, run, end, first=at == start, same_voice=same_voice, known=long_):
            break
        body = True
        good = place = end
    if good < size:
        return _cut_short(text, start, good, lines, certain=long_, inside=inside, body=body)
    if inside and not long_ and not (same_voice and " " not in text.strip()):
        return _Piece(start, 0, True)
    return _Piece(size, lines, False, _left(text[start:]), body=body)


def _at_footer(text: str, at: int, kind: str, lines: int, *, body: bool) -> _Piece | None:
    """The end of a piece where a footer stands, or begins; None where there is none."""
    footer = _footer(text, at, kind)
    if footer is not None:
        return _Piece(footer, lines, True, body=True)
    if kind == PUTTY and (mac := _MAC.match(text, at)) is not None:
        return _Piece(len(text), lines, False, _SOME_MAC if mac[1] else text[at:], body=True)
    begun = _FOOTER_BEGUN.match(text, at)
    return None if begun is None else _Piece(len(text), lines, False, begun[0], body=body)


def _cut_short(
    text: str, start: int, good: int, lines: int, *, certain: bool, inside: bool, body: bool
) -> _Piece:
    """A piece after which other text comes: it counts when it is surely of the key."""
    good = _without_words(text, start, good)
    if inside and not certain:
        certain = good > start and _LINE.search(text, start, good) is not None
    return _Piece(
        good if certain or not inside else start, lines, True, body=body and (certain or not inside)
    )


def _footer(text: str, at: int, kind: str) -> int | None:
    """Where a footer that stands here ends."""
    if kind == PUTTY:
        mac = _MAC.match(text, at)
        whole = mac is not None and (
            len(mac[1]) >= _MAC_LENGTH or (mac[1] and mac.end() < len(text))
        )
        return mac.end() if mac is not None and whole else None
    footer = _PEM_FOOTER.match(text, at)
    return None if footer is None else footer.end()


def _item(text: str, at: int) -> int | None:
    """Where a line of the key, or a field before it, ends; None for anything else."""
    named = _FIELD.match(text, at)
    if named is not None:
        return named.end()
    if len(text) - at <= LONG and _is_begun(text[at:]):
        return len(text)
    run = _RUN.match(text, at)
    if run is not None and (run.end() == len(text) or text[run.end()] not in ":-_.;?!()[]{}"):
        return run.end()
    return None


def _is_begun(text: str) -> bool:
    """Whether a field's name begins like this."""
    return bool(text) and any(name.startswith(text) for name in _NAMES)


def _left(text: str) -> str:
    """What a text that is of the key to its end leaves for the next: a field that is not whole."""
    line = _LINE.split(text)[-1]
    if _is_begun(line):
        return line
    return _SOME_FIELD if _FIELD.fullmatch(line) is not None else ""


def _is_long(run: str) -> bool:
    if len(run) < LONG or _HEX.fullmatch(run) is not None:
        return False
    return not looks.is_wordy(run.encode("utf-8", "surrogatepass"))


def _short(text: str, run: str, end: int, *, first: bool, same_voice: bool, known: bool) -> bool:
    """Whether a short run is the rest of a line, the last line, or a piece of a stream."""
    if _FIELD.match(run) is not None:
        return True
    if _LINE_END.match(text, end) is None:
        return False
    if first and same_voice:
        return True
    return known or same_voice or _ONE_WORD.fullmatch(run) is None


def _without_words(text: str, start: int, end: int) -> int:
    """Without plain words on lines of their own at the end: they begin the text that follows."""
    while True:
        line = max(text.rfind("\n", start, end), text.rfind("\\n", start, end) + 1 or -1)
        if line < start or _ONE_WORD.fullmatch(text[line + 1 : end].strip()) is None:
            return end
        end = line
