"""A person's own rules: run by Python's `re`, on windows of bounded size, for both engines alike.

The patterns were checked when the settings were read (`settings.patterns`): in one window of 4,096
characters each takes about a second at the very most. Here the clock is looked at after every
window; a rule that takes too long for a text stops the source instead of letting it pass. A match
lies in one string and has at most 2,048 characters; one that is cut by its window takes everything
up to the next white space with it.
"""

from __future__ import annotations

import re
import time
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from ultracontext.errors import RedactionError
from ultracontext.redaction import looks
from ultracontext.redaction.confirm import Span
from ultracontext.settings.custom import CustomRules
from ultracontext.settings.patterns import MATCH, WINDOW

SECONDS = 2.0
SECONDS_PER_BYTE = 2e-6
"""What a rule may take of the processor for one text."""

RANK = 5_000
"""After our certain rules, before the likely ones."""

KEY_RULE = "secret-field"

_WORDS = frozenset(b"true false null none nil undefined yes no on off".split())


@dataclass(frozen=True, slots=True)
class _Finder:
    name: str
    regex: re.Pattern[str]
    group: int | str
    words: tuple[bytes, ...]
    """In lower case; empty: the whole text is searched."""
    key: bool = False


class Custom:
    """All that a person added and took away, ready to run. Safe to share between threads."""

    def __init__(self, custom: CustomRules) -> None:
        self.rules = custom
        self.keys = frozenset(key.lower() for key in custom.keys)
        self.allowed = frozenset(_bytes(value) for value in custom.allow_values)
        self.off = frozenset(custom.allow_rules)
        self._places = [_glob(path) for path in custom.allow_paths]
        self._finders = [
            _Finder(rule.name, rule.compiled(), rule.group, _lower(rule.keywords))
            for rule in custom.rules
            if rule.name not in self.off
        ]
        if KEY_RULE not in self.off:
            self._finders += [
                _Finder(KEY_RULE, _assignment(key), "v", _lower((key,)), True)
                for key in custom.keys
            ]

    @property
    def searches(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self._finders)

    def passes(self, path: str) -> bool:
        """Whether the records of a source are not masked."""
        return any(place.fullmatch(path) for place in self._places)

    def find(self, data: bytes) -> list[Span]:
        """The spans of UTF-8 bytes that these rules mask, overlaps included."""
        lower = data.lower()
        wanted = [
            (number, finder)
            for number, finder in enumerate(self._finders)
            if not finder.words or any(word in lower for word in finder.words)
        ]
        if not wanted:
            return []
        text = _Text(data)
        return [span for number, finder in wanted for span in _search(number, finder, text)]

    def field(self, name: str, value: str) -> str:
        """The kind of secret that a JSON member is by a key of the person's, or nothing."""
        if name.lower() not in self.keys or KEY_RULE in self.off:
            return ""
        return KEY_RULE if _is_value(_bytes(value)) else ""


class _Text:
    """UTF-8 bytes as text, cut at NULs, with the way back."""

    def __init__(self, data: bytes) -> None:
        text = data.decode("utf-8", "surrogateescape")
        self.size = len(data)
        self.pieces = [(m.start(), m[0]) for m in re.finditer("[^\0]+", text)]
        self._text, self._plain = text, len(text) == len(data)
        self._places: list[tuple[int, int]] = [(0, 0)]

    def byte(self, place: int) -> int:
        """Where a character begins."""
        if self._plain:
            return place
        near, at = self._places[bisect_right(self._places, (place, self.size)) - 1]
        found = at + len(self._text[near:place].encode("utf-8", "surrogateescape"))
        if place > self._places[-1][0] + 4096:
            self._places.append((place, found))
        return found


def _search(number: int, finder: _Finder, text: _Text) -> Iterator[Span]:
    begun = time.thread_time()
    limit = SECONDS + SECONDS_PER_BYTE * text.size
    for offset, piece in text.pieces:
        for low, high in _windows(finder, piece):
            for start, end in _matches(finder, piece, low, high):
                first, last = text.byte(offset + start), text.byte(offset + end)
                value = _raw(piece[start:end])
                if finder.key and not _is_assigned(piece, start, value):
                    continue
                yield Span(first, last, finder.name, RANK + number, value)
            if time.thread_time() - begun > limit:
                raise RedactionError(
                    f"the redaction rule {finder.name!r} takes too long",
                    hint="Give it keywords or a simpler pattern in config.toml",
                )


def _matches(finder: _Finder, piece: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    for match in finder.regex.finditer(piece, low, high):
        start, end = match.span(finder.group)
        if start < 0:
            start, end = match.span()
        if match.end() == high < len(piece):
            if match.start() >= low + MATCH:  # whole in the next window
                continue
            end = _run_end(piece, high)
        if start < end:
            yield start, end


def _run_end(piece: str, place: int) -> int:
    space = re.compile(r"\s").search(piece, place)
    return len(piece) if space is None else space.start()


def _windows(finder: _Finder, piece: str) -> Iterator[tuple[int, int]]:
    for low, high in _ranges(finder, piece):
        start = low
        while True:
            yield start, min(high, start + WINDOW)
            if start + WINDOW >= high:
                break
            start += MATCH


def _ranges(finder: _Finder, piece: str) -> list[tuple[int, int]]:
    """Where to look: around every keyword, or everywhere."""
    if not finder.words:
        return [(0, len(piece))]
    lower = piece.lower() if piece.isascii() else _decoded(_raw(piece).lower())
    places = sorted(place for word in finder.words for place in _occurrences(lower, _decoded(word)))
    out: list[tuple[int, int]] = []
    for place in places:
        low, high = max(0, place - MATCH), min(len(piece), place + MATCH)
        if out and low <= out[-1][1]:
            out[-1] = (out[-1][0], high)
        else:
            out.append((low, high))
    return out


def _occurrences(text: str, word: str) -> Iterator[int]:
    place = text.find(word)
    while place >= 0:
        yield place
        place = text.find(word, place + 1)


def _assignment(key: str) -> re.Pattern[str]:
    """`key = value` in code, shells, YAML and JSON in a string."""
    return re.compile(
        rf"(?<![A-Za-z0-9_.-]){re.escape(key)}" + r"\\{0,7}[\"'`]?\]?[ \t]{0,8}"
        r"(?::=|=>|={1,3}|:)[ \t]{0,8}\\{0,7}[\"'`]?"
        r"(?P<v>(?<=[\"'`])[^\"'`\\\n]{1,1024}|(?<![\"'`])[^\s\"'`,;\\&)}\]]{1,1024})",
        re.ASCII | re.IGNORECASE,
    )


def _is_assigned(piece: str, start: int, value: bytes) -> bool:
    """In quotes anything counts; without them a word is prose or a variable."""
    quoted = piece[start - 1] in "\"'`"
    return _is_value(value) and (quoted or looks.has_digit(value) or not looks.is_wordy(value))


def _is_value(value: bytes) -> bool:
    """Anything under a key of the person's is a secret but a reference or a plain word."""
    return bool(value) and value.lower() not in _WORDS and not looks.is_reference(value)


def _glob(glob: str) -> re.Pattern[str]:
    signs = {"**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*|\*|\?)", glob)
    return re.compile("".join(signs.get(part) or re.escape(part) for part in parts), re.DOTALL)


def _lower(words: tuple[str, ...]) -> tuple[bytes, ...]:
    return tuple(_bytes(word).lower() for word in words)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _raw(text: str) -> bytes:
    """The bytes that `_decoded` read."""
    return text.encode("utf-8", "surrogateescape")


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")
