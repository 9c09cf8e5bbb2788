"""Which of two sessions that begin alike is a copy of the other.

`/chat save TAG` writes the history, without ids, to a checkpoint: a copy of its session. `/chat
resume` puts that history into the session that is open, under new message ids; the ids of tool
calls stay (0.61.0, 2026-11). Two sessions that only begin with the same words are no relatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from ultracontext.agents.gemini.layout import checkpoint_tag
from ultracontext.agents.gemini.parts import parse
from ultracontext.agents.gemini.tools import plain_id
from ultracontext.agents.gemini.values import listing, mapping, moment
from ultracontext.agents.gemini.wrapping import injected
from ultracontext.redaction import MaskedRecord

Verdict = Literal["a", "b"]


class _Side:
    """What one of the two sessions shows."""

    def __init__(self, records: Iterable[MaskedRecord]) -> None:
        self.checkpoint = False
        self.started: str | None = None
        self.said: dict[int, None] = {}
        self.calls: set[str] = set()
        for record in records:
            if type(record.native) is dict:
                self.checkpoint = self.checkpoint or checkpoint_tag(record.source) is not None
                self._note(record.native)

    def _note(self, native: dict[str, Any]) -> None:
        begun = moment(native.get("startTime"))
        if begun is not None and (self.started is None or begun < self.started):
            self.started = begun
        for turn in _turns(native):
            content = parse(turn.get("content", turn.get("parts")))
            for piece in content.pieces:
                if piece.strip() and injected(piece) is None:
                    self.said[hash("".join(piece.split()))] = None
            for call in [*map(mapping, listing(turn.get("toolCalls"))), *content.calls]:
                name = plain_id(str(call.get("id") or ""), str(call.get("name") or ""))
                self.calls.update([name] if name else [])


def _turns(native: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield native
    for holder in (native, mapping(native.get("$set"))):
        for name in ("messages", "history"):
            yield from (item for item in listing(holder.get(name)) if type(item) is dict)


def relate(a_records: Iterable[MaskedRecord], b_records: Iterable[MaskedRecord]) -> Verdict | None:
    """`a` when a is a copy of b, `b` when b is one of a, None when nothing shows that."""
    a, b = _Side(a_records), _Side(b_records)
    if a.checkpoint != b.checkpoint:
        copy, origin = (a, b) if a.checkpoint else (b, a)
        if not copy.said or not copy.said.keys() <= origin.said.keys():
            return None
        return "a" if a.checkpoint else "b"
    if a.checkpoint or not a.calls & b.calls or a.started is None or b.started is None:
        return None
    if a.started == b.started:
        return None
    return "a" if a.started > b.started else "b"
