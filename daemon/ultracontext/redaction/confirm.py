"""From candidates to spans that are masked: the pattern itself, then the checks of its rule."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ultracontext.redaction.checks import accept
from ultracontext.redaction.engine import BASE64, Candidate
from ultracontext.redaction.rules import Rule

MASK = re.compile(rb"\[redacted:[a-z0-9-]{1,40}:[0-9a-f]{8}\]")
MASK_HEAD = b"[redacted:"

GAP = b"\n\0\n"
"""Stands between texts that are scanned together."""

_LONG_LINE = 1 << 16
_MARGIN = 1 << 13
"""Longer than any match of a rule that stays in one line."""
_FAR = 1 << 15
"""Longer than any other match."""


@dataclass(frozen=True, slots=True)
class Span:
    """Bytes of a text that one rule masks."""

    start: int
    end: int
    rule: str
    rank: int
    """Of finds that overlap, the lowest names the mask: certain rules, then by order."""
    value: bytes
    """The secret itself, decoded as far as it was found."""


def barred(data: bytes) -> bytes:
    """The text with masks blanked out, at the same length: nothing matches in or over one."""
    return MASK.sub(_blank, data) if MASK_HEAD in data else data


def confirm(rules: Sequence[Rule], data: bytes, candidates: Iterable[Candidate]) -> list[Span]:
    """The spans that candidates stand for, in no order, overlaps included."""
    spans: list[Span] = []
    for number, ranges in _ranges(rules, data, candidates).items():
        rule = rules[number]
        for start, end in ranges:
            rank = number + (not rule.certain) * 10_000
            for low, high in _spots(rule, data, start, end):
                spans.append(Span(low, high, rule.name, rank, data[low:high]))
    return spans


def _spots(rule: Rule, data: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
    """What a rule masks in a range. A match that is no secret may hold one: in
    `"c": "TOKEN='…'"` the value of `c` is looked through again."""
    while (match := rule.regex.search(data, start, end)) is not None:
        spot = accept(rule.certain, rule.checks, match, match.span(rule.group))
        if spot is not None and spot[0] < spot[1]:
            yield spot
            start = max(match.end(), match.start() + 1)
        elif rule.group:
            named = match.end("name") if rule.named else match.start(rule.group)
            start = max(named, match.start() + 1)
        else:
            start = max(match.end(), match.start() + 1)


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap made one: named by the one of the lowest rank."""
    out: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end, s.rank)):
        if out and span.start < out[-1].end:
            out[-1] = _union(out[-1], span)
        else:
            out.append(span)
    return out


def _union(a: Span, b: Span) -> Span:
    best = a if a.rank <= b.rank else b
    return Span(min(a.start, b.start), max(a.end, b.end), best.rule, best.rank, best.value)


def _ranges(
    rules: Sequence[Rule], data: bytes, candidates: Iterable[Candidate]
) -> dict[int, list[tuple[int, int]]]:
    """What to search for each rule: the lines that hold a candidate, each once.

    No match eats into the next text.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    start, end = 0, -1
    text = (0, 0)
    for position, number in sorted((position, number) for number, position in candidates):
        if number == BASE64:
            continue
        if rules[number].many_lines:
            if position >= text[1]:
                text = _text_around(data, position)
            low, high = max(text[0], position - _FAR), min(text[1], position + _FAR)
        else:
            if not start <= position <= end:
                start = data.rfind(b"\n", 0, position) + 1
                end = data.find(b"\n", position)
                end = len(data) if end < 0 else end
            low, high = start, end
            if high - low > _LONG_LINE:
                low, high = max(low, position - _MARGIN), min(high, position + _MARGIN)
        ranges = found.setdefault(number, [])
        if not ranges or ranges[-1][1] < low:
            ranges.append((low, high))
        elif ranges[-1][1] < high:
            ranges[-1] = (ranges[-1][0], high)
    return found


def _text_around(data: bytes, position: int) -> tuple[int, int]:
    """Begin and end of the text that holds a place."""
    before, after = data.rfind(GAP, 0, position), data.find(GAP, position)
    return before + len(GAP) if before >= 0 else 0, after if after >= 0 else len(data)


def _blank(match: re.Match[bytes]) -> bytes:
    return b"\n" + b"\0" * (len(match[0]) - 2) + b"\n"
