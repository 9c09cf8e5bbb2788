"""One conversation out of several stores: the richest store wins per message.

Ids are not shared between the stores, so turns are matched by what was typed, and inside a turn
texts by themselves. A transcript leaves results out and joins texts at will: of a turn that a
richer store has, only those texts count that the richer one lacks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import SequenceMatcher

from ultracontext.agents.cursor.entry import Entry
from ultracontext.agents.cursor.lanes import Lane


@dataclass(slots=True)
class _Turn:
    """A prompt and what follows it; the first turn may have no prompt."""

    entries: list[Entry] = field(default_factory=list)

    @property
    def prompt(self) -> str:
        first = self.entries[0] if self.entries else None
        return first.said if first is not None and first.kind == "user" else ""

    @property
    def time(self) -> str | None:
        return next((entry.time for entry in self.entries if entry.time), None)

    def count(self, kind: str) -> int:
        return sum(entry.kind == kind for entry in self.entries)

    def words(self, kind: str) -> str:
        return "".join(entry.said for entry in self.entries if entry.kind == kind)


def joined(lanes: list[Lane]) -> tuple[list[str], dict[str, str]]:
    """Ids of the messages that are shown, in order, and the marks of some."""
    if not lanes:
        return [], {}
    marks = {name: mark for lane in lanes for name, mark in lane.marks.items()}
    turns = _turns(lanes[0].entries)
    for lane in lanes[1:]:
        turns = _merged(turns, _turns(lane.entries))
    return [entry.id for turn in turns for entry in turn.entries], marks


def _turns(entries: list[Entry]) -> list[_Turn]:
    turns = [_Turn()]
    for entry in entries:
        if entry.kind == "user":
            turns.append(_Turn())
        turns[-1].entries.append(entry)
    return turns


def _merged(rich: list[_Turn], poor: list[_Turn]) -> list[_Turn]:
    """Turns of both; a turn that only the poorer has stands where its neighbours are."""
    matcher = SequenceMatcher(
        None, [t.prompt for t in rich[1:]], [t.prompt for t in poor[1:]], autojunk=False
    )
    out = [_supplemented(rich[0], poor[0])]
    for what, a, b, c, d in matcher.get_opcodes():
        if what == "equal":
            pairs = zip(rich[1 + a : 1 + b], poor[1 + c : 1 + d], strict=True)
            out += [_supplemented(one, two) for one, two in pairs]
        else:
            out += _in_time(rich[1 + a : 1 + b], poor[1 + c : 1 + d])
    return out


def _in_time(rich: list[_Turn], poor: list[_Turn]) -> list[_Turn]:
    """Turns that have no match, of both: by their times where they are known."""
    one = next((turn.time for turn in rich if turn.time), None)
    two = next((turn.time for turn in poor if turn.time), None)
    return poor + rich if one and two and two < one else rich + poor


def _supplemented(rich: _Turn, poor: _Turn) -> _Turn:
    if not rich.entries or not poor.entries:
        return rich if rich.entries else poor
    held = {(entry.kind, entry.said) for entry in rich.entries if entry.said}
    whole = {kind: rich.words(kind) for kind in ("assistant", "reasoning")}
    skip = {kind: rich.count(kind) for kind in ("tool_call", "tool_result")}
    kept = []
    for entry in poor.entries:
        if entry.kind in skip and skip[entry.kind] > 0:
            skip[entry.kind] -= 1
        elif entry.kind in whole:
            if (entry.kind, entry.said) not in held and entry.said not in whole[entry.kind]:
                kept.append(entry)
        elif entry.kind in skip:
            kept.append(entry)
    return _Turn(rich.entries + kept)
