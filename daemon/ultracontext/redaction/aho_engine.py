"""The engine that is always there: Aho-Corasick over the rules' anchors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from ahocorasick_rs import BytesAhoCorasick

from ultracontext.redaction.engine import BASE64, Candidate
from ultracontext.redaction.rules import Rule
from ultracontext.redaction.views import BASE64_PATTERN

_BASE64_SIGNS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/_-"
_IN_BASE64 = bytes(b"01"[sign in _BASE64_SIGNS] for sign in range(256))
_SHORTEST_RUN = b"1" * 20
"""As long as what `BASE64_PATTERN` finds."""


class AhoEngine:
    """Finds every anchor of every rule; those of rules that ignore case in a lower-case copy."""

    name = "aho"

    def __init__(self, rules: Sequence[Rule]) -> None:
        numbered = list(enumerate(rules))
        self._exact = _Anchors([(i, rule) for i, rule in numbered if not rule.ignore_case])
        self._lower = _Anchors([(i, rule) for i, rule in numbered if rule.ignore_case])

    def candidates(self, data: bytes) -> list[Candidate]:
        found = self._exact.find(data) + self._lower.find(data.lower())
        found += [(BASE64, place) for place in _base64(data)]
        return found


class _Anchors:
    def __init__(self, rules: Sequence[tuple[int, Rule]]) -> None:
        plain: dict[bytes, list[int]] = {}
        probed: dict[bytes, dict[Probe, list[int]]] = {}
        for number, rule in rules:
            probe = rule.probe, rule.ignore_case, rule.leads
            for anchor in rule.anchors:
                if rule.leads:
                    probed.setdefault(anchor, {}).setdefault(probe, []).append(number)
                else:
                    plain.setdefault(anchor, []).append(number)
        anchors = list(plain | probed)
        self._plain = [plain.get(anchor, []) for anchor in anchors]
        self._probed = [
            [
                (_matcher(probe, ignore_case), lead, owners)
                for (probe, ignore_case, leads), owners in probed.get(anchor, {}).items()
                for lead in leads
            ]
            for anchor in anchors
        ]
        self._automaton = BytesAhoCorasick(anchors) if anchors else None

    def find(self, data: bytes) -> list[Candidate]:
        """Where it is known how far before an anchor a probe begins, only a match of it counts."""
        if self._automaton is None:
            return []
        found: list[Candidate] = []
        plain, probed = self._plain, self._probed
        for anchor, start, _ in self._automaton.find_matches_as_indexes(data, overlapping=True):
            found += [(number, start) for number in plain[anchor]]
            for match, lead, owners in probed[anchor]:
                if lead <= start and match(data, start - lead) is not None:
                    found += [(number, start) for number in owners]
        return found


Probe = tuple[bytes, bool, tuple[int, ...]]
"""A pattern, whether it ignores case, and how far before an anchor it may begin."""


@cache
def _matcher(probe: bytes, ignore_case: bool) -> Callable[[bytes, int], object]:
    return re.compile(probe, re.IGNORECASE if ignore_case else 0).match


def _base64(data: bytes) -> Iterator[int]:
    """Where finds of `BASE64_PATTERN` end; only long runs of its alphabet are looked at."""
    signs = data.translate(_IN_BASE64)
    start = signs.find(_SHORTEST_RUN)
    while start >= 0:
        end = signs.find(b"0", start)
        end = len(data) if end < 0 else end
        for match in BASE64_PATTERN.finditer(data, start, end):
            yield match.end() - 1
        start = signs.find(_SHORTEST_RUN, end)
