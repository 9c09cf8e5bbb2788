"""Other readings of a text: with its escapes undone, percent-decoded, base64-decoded.

A secret may stand in a text in one of these encodings. A view is scanned like the text itself, and
`back` says which bytes of the text a find in the view stands for.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from bisect import bisect_right
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

Back = Callable[[int, int], tuple[int, int]]
View = tuple[bytes, Back]

MAX_LEVELS = 5
"""JSON in a string in a string …: an escape of each level doubles the backslashes."""

_ESCAPE = re.compile(rb'\\(?:["\\/nrt]|u[0-9a-fA-F]{4})')
_UNICODE = re.compile(rb"\\u([0-9a-fA-F]{4})")
_PERCENT = re.compile(rb"%[0-9a-fA-F]{2}")
_COLOUR = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")
_PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b'"': b'"', b"/": b"/", b"\\": b"\\"}

BASE64_TEXT = (
    rb"(?:[CDI-Za-f][AC-HQS-Xgi-nwyz0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/_-]){5}"
)
"""Five groups of four that decode to printable ASCII: 1 in 10 million of random groups does."""
BASE64_PATTERN = re.compile(BASE64_TEXT)
_RUN = re.compile(rb"[A-Za-z0-9+/_-]+(?:(?:\\n|\r?\n) ?[A-Za-z0-9+/_-]{4,})*={0,2}")
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9+/_-]")
_BINARY_HEADS = (
    b"iVBORw0KGgo",
    b"/9j/",
    b"R0lGOD",
    b"UklGR",
    b"JVBERi0",
    b"d09GM",
    b"AGFzbQ",
    b"UEsDB",
    b"H4sI",
    b"AAAB",
    b"PHN2Z",
    b"Qk0",
    b"T2dnU",
    b"SUkq",
)


def unescape(data: bytes) -> bytes:
    """One level of JSON escapes undone, wherever they stand. `data` is UTF-8."""
    data = data.replace(b"\\\\", b"\xff")
    data = data.replace(b'\\"', b'"').replace(b"\\n", b"\n").replace(b"\\/", b"/")
    data = data.replace(b"\\t", b"\t").replace(b"\\r", b"\r")
    if b"\\u" in data:
        data = _UNICODE.sub(_character, data)
    return data.replace(b"\xff", b"\\")


def all_views(data: bytes) -> Iterator[View]:
    """Every other reading of a text but those of its base64 runs."""
    yield from _coloured(data, _same)
    for view, back in escape_views(data):
        yield view, back
        yield from _coloured(view, back)
    percent = percent_view(data)
    if percent is not None:
        yield percent


def has_views(data: bytes) -> bool:
    """Whether `all_views` may have any."""
    return b"\\" in data or b"%" in data or b"\x1b" in data


def _coloured(data: bytes, back: Back) -> Iterator[View]:
    bare = colour_view(data)
    if bare is not None:
        yield bare[0], _chain(bare[1], back)


def escape_views(data: bytes) -> Iterator[View]:
    """The text with one, two … levels of escapes undone, while there are any."""
    back: Back = _same
    for _ in range(MAX_LEVELS):
        if b"\\" not in data:
            return
        plain = unescape(data)
        if plain == data:
            return
        back = _chain(_Offsets(data, _ESCAPE, _undo), back)
        yield plain, back
        data = plain


def colour_view(data: bytes) -> View | None:
    """The text without terminal escapes: a colour may begin before a secret or inside it."""
    if b"\x1b" not in data or b"\x1b[" not in data:
        return None
    return _COLOUR.sub(b"", data), _Offsets(data, _COLOUR, _nothing)


def percent_view(data: bytes) -> View | None:
    """The text with its percent escapes decoded; None when it has none."""
    if b"%" not in data or _PERCENT.search(data) is None:
        return None
    return unquote_to_bytes(data), _Offsets(data, _PERCENT, _percent)


def base64_views(data: bytes, positions: list[int]) -> Iterator[View]:
    """What the base64 runs at `positions` decode to. A find in one stands for the whole run."""
    done = -1
    for position in sorted(positions):
        if position < done:
            continue
        start, end = _run_around(data, position)
        done = end
        for match in BASE64_PATTERN.finditer(data, start, end):
            yield from _decoded(data, start, end, match.start())
            break


def _run_around(data: bytes, position: int) -> tuple[int, int]:
    """The run of base64 characters, over line ends too, that holds a position."""
    high, start = position, 0
    while high > 0:
        low = max(0, high - 4096)
        others = [match.end() for match in _NOT_BASE64.finditer(data, low, high)]
        if others:
            start = others[-1]
            break
        high = low
    run = _RUN.match(data, start)
    return (start, run.end()) if run is not None else (start, position + 1)


def _decoded(data: bytes, start: int, end: int, aligned: int) -> Iterator[View]:
    run = data[start:end]
    if run.startswith(_BINARY_HEADS):
        return
    offset = (aligned - start) % 4
    body = re.sub(rb"\\n|[\r\n =]", b"", run[offset:]).replace(b"-", b"+").replace(b"_", b"/")
    body = body[: len(body) - (len(body) % 4 == 1)]
    try:
        plain = a2b_base64(body + b"=" * (-len(body) % 4))
    except Error:
        return
    begin = start + offset

    def back(_start: int, _end: int) -> tuple[int, int]:
        return begin, end

    yield plain, back


class _Offsets:
    """Maps spans of the decoded text to the text, built on the first question."""

    __slots__ = ("_data", "_escape", "_made", "_sizes", "_source", "_undo", "_view")

    def __init__(
        self, data: bytes, escape: re.Pattern[bytes], undo: Callable[[bytes], bytes]
    ) -> None:
        self._data, self._escape, self._undo = data, escape, undo
        self._view: list[int] = []
        self._source: list[int] = []
        self._sizes: list[tuple[int, int]] = []
        self._made = False

    def __call__(self, start: int, end: int) -> tuple[int, int]:
        if not self._made:
            self._make()
        return self._place(start, 0), self._place(end - 1, 1)

    def _make(self) -> None:
        self._made = True
        shrunk = 0
        for match in self._escape.finditer(self._data):
            made = len(self._undo(match[0]))
            self._view.append(match.start() - shrunk)
            self._source.append(match.start())
            self._sizes.append((made, match.end() - match.start()))
            shrunk += match.end() - match.start() - made

    def _place(self, position: int, after: int) -> int:
        index = bisect_right(self._view, position) - 1
        if index < 0:
            return position + after
        made, size = self._sizes[index]
        inside = position - self._view[index]
        if inside < made:
            return self._source[index] + (size if after else 0)
        return self._source[index] + size + inside - made + after


def _same(start: int, end: int) -> tuple[int, int]:
    return start, end


def _chain(inner: Back, outer: Back) -> Back:
    return lambda start, end: outer(*inner(start, end))


def _undo(escape: bytes) -> bytes:
    kind = escape[1:2]
    return _code_point(escape[2:]) if kind == b"u" else _PLAIN[kind]


def _nothing(_escape: bytes) -> bytes:
    return b""


def _percent(_escape: bytes) -> bytes:
    return b"?"


def _character(match: re.Match[bytes]) -> bytes:
    return _code_point(match[1])


def _code_point(digits: bytes) -> bytes:
    return chr(int(digits, 16)).encode("utf-8", "surrogatepass")
