"""Masks many strings in one scan.

The strings are joined by a separator that no pattern crosses, the engine looks through the joined
text and its views once, and only strings with a find are touched. A masked string is scanned again
until nothing is found, so that masking twice changes nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate

from ultracontext.errors import RedactionError
from ultracontext.redaction.checks import field_kind
from ultracontext.redaction.confirm import GAP, Span, barred, confirm, merged
from ultracontext.redaction.custom import Custom
from ultracontext.redaction.engine import BASE64, Engine
from ultracontext.redaction.fingerprint import Fingerprinter
from ultracontext.redaction.rules import Rule
from ultracontext.redaction.views import Back, all_views, base64_views, has_views

SEPARATOR = GAP.decode()
ROUNDS = 8


class Scanner:
    """Rules, an engine and the local key together."""

    def __init__(
        self,
        rules: Sequence[Rule],
        engine: Engine,
        fingerprints: Fingerprinter,
        custom: Custom | None = None,
    ) -> None:
        self.rules = rules
        self.engine = engine
        self.fingerprints = fingerprints
        self.custom = custom
        self.frames = frozenset(r.name for r in rules if r.many_lines and r.certain)
        """Names of the rules whose secrets have many lines."""
        self._own = custom if custom is not None and custom.searches else None

    def mask(self, texts: Sequence[str], counts: Counter[str]) -> dict[int, str]:
        """The strings that change, by their place, masked. Adds to the counts of rules."""
        changed: dict[int, str] = {}
        spans = self.find(SEPARATOR.join(texts))
        places: Sequence[int] = range(len(texts))
        for _ in range(ROUNDS):
            if not spans:
                return changed
            current = [changed.get(i, texts[i]) for i in places]
            fresh = self._replaced(current, spans, counts)
            changed.update({places[i]: text for i, text in fresh.items()})
            places = [places[i] for i in fresh]
            spans = self.find(SEPARATOR.join(changed[i] for i in places))
        raise RedactionError("masking does not come to an end", hint="Please report this")

    def fields(
        self,
        fields: Sequence[tuple[str, str]],
        changed: Mapping[int, str],
        texts: Sequence[str],
        counts: Counter[str],
    ) -> dict[tuple[str, str], str]:
        """Values that are secrets because of the key they stand under, masked as a whole."""
        touched = {texts[i] for i in changed}
        out: dict[tuple[str, str], str] = {}
        for name, value in fields:
            kind = self._field_kind(name, value)
            if kind and value not in touched:
                counts[kind] += 1
                out[name, value] = self.mark(kind, encoded(value))
        return out

    def _field_kind(self, name: str, value: str) -> str:
        custom = self.custom
        if custom is None:
            return field_kind(name, value)
        kind = field_kind(name, value) or custom.field(name, value)
        return "" if kind in custom.off or encoded(value) in custom.allowed else kind

    def mark(self, kind: str, value: bytes) -> str:
        """The text that stands for a secret."""
        return f"[redacted:{kind}:{self.fingerprints.mask(value)}]"

    def text(self, text: str) -> str:
        """One string, masked."""
        return self.mask([text], Counter()).get(0, text)

    def find(self, text: str) -> list[Span]:
        """Spans of the UTF-8 bytes of a text, merged and in order."""
        return self.find_bytes(encoded(text))

    def find_bytes(self, data: bytes) -> list[Span]:
        spans = self._find_in(data)
        for view, back in all_views(data):
            spans += _mapped(self._find_in(view), back)
        if self.custom is not None and self.custom.allowed:
            spans = [span for span in spans if span.value not in self.custom.allowed]
        return merged(spans)

    def showing(self, texts: Sequence[str]) -> set[int]:
        """The places of the texts in which `mask` would find something.

        All in one scan, and the other readings of those that have any in a second one.
        """
        bodies = [encoded(text) for text in texts]
        found = self._places(bodies)
        owners: list[int] = []
        views: list[bytes] = []
        for place, body in enumerate(bodies):
            if place not in found and has_views(body):
                own = [view for view, _ in all_views(body)]
                views += own
                owners += [place] * len(own)
        if views:
            found |= {owners[place] for place in self._places(views)}
        return found

    def _places(self, bodies: Sequence[bytes]) -> set[int]:
        spans = self._find_in(GAP.join(bodies))
        if not spans:
            return set()
        starts = [0, *accumulate(len(body) + len(GAP) for body in bodies)]
        return {
            place
            for span in spans
            for place in range(
                bisect_right(starts, span.start) - 1, bisect_right(starts, span.end - 1)
            )
        }

    def _find_in(self, data: bytes) -> list[Span]:
        candidates = self.engine.candidates(data)
        if not candidates:
            return [] if self._own is None else self._own.find(barred(data))
        runs = [position for number, position in candidates if number == BASE64]
        data = barred(data)
        spans = confirm(self.rules, data, candidates)
        if self._own is not None:
            spans += self._own.find(data)
        for view, back in base64_views(data, runs) if runs else ():
            found = self.engine.candidates(view)
            if found:
                spans += _mapped(confirm(self.rules, view, found), back)
            if self._own is not None:
                spans += _mapped(self._own.find(view), back)
        return spans

    def _replaced(
        self, texts: Sequence[str], spans: Sequence[Span], counts: Counter[str]
    ) -> dict[int, str]:
        bodies = [encoded(text) for text in texts]
        gap = len(SEPARATOR)
        starts = [0, *accumulate(len(body) + gap for body in bodies)]
        pieces: dict[int, list[Span]] = {}
        for span in spans:
            pieces.setdefault(bisect_right(starts, span.start) - 1, []).append(span)
        return {
            place: self._masked(bodies[place], starts[place], found, counts)
            for place, found in pieces.items()
        }

    def _masked(self, body: bytes, offset: int, spans: Sequence[Span], counts: Counter[str]) -> str:
        out, done = [], 0
        for span in spans:
            counts[span.rule] += 1
            mark = self.mark(span.rule, span.value)
            out += [body[done : span.start - offset], mark.encode()]
            done = span.end - offset
        return b"".join([*out, body[done:]]).decode("utf-8", "surrogatepass")


def encoded(text: str) -> bytes:
    """UTF-8; a lone surrogate, which it has no form for, keeps the form it would have."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _mapped(spans: Sequence[Span], back: Back) -> list[Span]:
    return [Span(*back(s.start, s.end), s.rule, s.rank, s.value) for s in spans]
