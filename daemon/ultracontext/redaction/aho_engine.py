"""The engine that is always there: Aho-Corasick over the rules' anchors."""

from __future__ import annotations

from collections.abc import Sequence

from ahocorasick_rs import BytesAhoCorasick

from ultracontext.redaction.engine import BASE64, Candidate
from ultracontext.redaction.rules import Rule
from ultracontext.redaction.views import BASE64_PATTERN


class AhoEngine:
    """Finds every anchor of every rule; those of rules that ignore case in a lower-case copy."""

    name = "aho"

    def __init__(self, rules: Sequence[Rule]) -> None:
        numbered = list(enumerate(rules))
        self._exact = _Anchors([(i, rule) for i, rule in numbered if not rule.ignore_case])
        self._lower = _Anchors([(i, rule) for i, rule in numbered if rule.ignore_case])

    def candidates(self, data: bytes) -> list[Candidate]:
        found = self._exact.find(data) + self._lower.find(data.lower())
        found += [(BASE64, match.end() - 1) for match in BASE64_PATTERN.finditer(data)]
        return found


class _Anchors:
    def __init__(self, rules: Sequence[tuple[int, Rule]]) -> None:
        owners: dict[bytes, list[int]] = {}
        for number, rule in rules:
            for anchor in rule.anchors:
                owners.setdefault(anchor, []).append(number)
        self._owners = list(owners.values())
        self._automaton = BytesAhoCorasick(list(owners)) if owners else None

    def find(self, data: bytes) -> list[Candidate]:
        if self._automaton is None:
            return []
        return [
            (number, start)
            for pattern, start, _ in self._automaton.find_matches_as_indexes(data, overlapping=True)
            for number in self._owners[pattern]
        ]
