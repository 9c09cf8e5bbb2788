"""How the matches of a pattern begin, as far as that is plain from its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

ANY = "\0"
"""Stands for a sign that is not known."""

_MOST = 256
_SIGN = re.compile(r"\\[^A-Za-z0-9]|[^\\()\[\]{}|*+?.^$]")
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]|\\[dsw]")
_FEW = re.compile(r"\[([A-Za-z0-9]{1,12})\]")
_TIMES = re.compile(r"\{(\d{1,2})\}")

Way = tuple[str, bool]
"""A text that a match may begin with, and whether it goes on with what follows in the pattern."""


def leads(pattern: str, anchors: Sequence[str]) -> tuple[int, ...]:
    """How many signs before an anchor a match may begin, so that each match is one of these.

    `[a-z]_key` with anchor `key`: (2,). Empty when that is not plain: a repeat without a number
    before the anchor, or a way to match without one.
    """
    found = set()
    for head in heads(pattern):
        places = [place for anchor in anchors if (place := head.find(anchor)) >= 0]
        if not places:
            return ()
        found.add(min(places))
    return tuple(sorted(found))


def heads(pattern: str) -> set[str]:
    """Texts, one of which each match begins with: `y[01]_[a-z]{2}` has `y0_` and `y1_`,
    with ANY for each of the letters."""
    return {text for text, _ in _branches(pattern)}


def _branches(pattern: str) -> set[Way]:
    return {way for branch in _split(pattern) for way in _ways(branch)}


def _ways(pattern: str) -> set[Way]:
    ways, place = {("", True)}, 0
    while place < len(pattern):
        end, atom = _atom(pattern, place)
        times = _TIMES.match(pattern, end)
        if atom is None or pattern.startswith(("*", "+"), end):
            return {(text, False) for text, _ in ways}
        if pattern.startswith("?", end):
            end, atom = end + 1, atom | {("", True)}
        elif times is not None:
            end, atom = times.end(), _repeated(atom, int(times[1]))
        elif pattern.startswith("{", end):
            return {(text, False) for text, _ in ways}
        more = {
            (text + own, goes_on)
            for text, open_ in ways
            if open_
            for own, goes_on in atom
        } | {way for way in ways if not way[1]}  # fmt: skip
        if len(more) > _MOST:
            return {(text, False) for text, _ in ways}
        ways, place = more, end
    return ways


def _repeated(atom: set[Way], times: int) -> set[Way]:
    """Of one sign only: a group that is repeated ends what is plain."""
    if len(atom) == 1 and all(goes_on and len(text) == 1 for text, goes_on in atom):
        return {(next(iter(atom))[0] * times, True)}
    return {("", False)}


def _atom(pattern: str, place: int) -> tuple[int, set[Way] | None]:
    """Where the next part ends, and its ways; None for one that is not understood."""
    few = _FEW.match(pattern, place)
    if few is not None:
        return few.end(), {(sign, True) for sign in few[1]}
    kind = _CLASS.match(pattern, place)
    if kind is not None:
        return kind.end(), {(ANY, True)}
    sign = _SIGN.match(pattern, place)
    if sign is not None:
        return sign.end(), {(sign[0][-1], True)}
    end = _close(pattern, place)
    if pattern[place] != "(" or (pattern[place + 1] == "?" and pattern[place + 2] != ":"):
        return end, None
    return end, _branches(pattern[place + 1 + 2 * (pattern[place + 1] == "?") : end - 1])


def _split(pattern: str) -> list[str]:
    """The branches of a pattern: what stands between bars outside groups and classes."""
    out, begin, place = [], 0, 0
    while place < len(pattern):
        if pattern[place] == "|":
            out.append(pattern[begin:place])
            begin = place + 1
        place = _close(pattern, place)
    return [*out, pattern[begin:]]


def _close(pattern: str, place: int) -> int:
    """Where the part that begins at `place` ends: a sign, a class or a group."""
    if pattern[place] == "\\":
        return place + 2
    kind = _CLASS.match(pattern, place)
    if kind is not None:
        return kind.end()
    if pattern[place] != "(":
        return place + 1
    place += 1
    while pattern[place] != ")":
        place = _close(pattern, place)
    return place + 1
