"""Which of two sessions with common records is the copy.

What `--fork-session` does (runs of 2026-11): all chain records again under their old uuids,
`sessionId` replaced. Beyond that, each version leaves marks of its own on the copy:

* 2.1 adds `requestSessionId`, the id of the origin, to answers;
* 2.0 and 1.0 write the copied prompts as a list of blocks where the origin has a string;
* 1.0 gives the copied records new timestamps;
* all leave out the loose records that stood among them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

from ultracontext.agents.claude.values import identifier, mapping, moment
from ultracontext.redaction import MaskedRecord

Verdict = Literal["a", "b"]


class _Side:
    """What one of the two sessions shows."""

    def __init__(self, records: Iterable[MaskedRecord]) -> None:
        self.chain: dict[str, tuple[int, str | None, bool | None]] = {}
        """uuid → place among all records, time, whether a prompt is in blocks (None: no prompt)."""
        self.named: dict[str, str] = {}
        """uuid → session that the record names."""
        self.origins: set[str] = set()
        self.loose: list[int] = []
        self.own: str | None = None
        """Session that the last chain record names."""
        for place, record in enumerate(records):
            if type(record.native) is dict:
                self._note(place, record.native)

    def _note(self, place: int, native: dict[str, Any]) -> None:
        uuid = identifier(native.get("uuid"))
        if uuid is None:
            self.loose.append(place)
            return
        self.chain.setdefault(uuid, (place, moment(native.get("timestamp")), _in_blocks(native)))
        named = identifier(native.get("sessionId"))
        if named is not None:
            self.named.setdefault(uuid, named)
            self.own = named
        origin = identifier(native.get("requestSessionId"))
        if origin is not None:
            self.origins.add(origin)


def relate(a_records: Iterable[MaskedRecord], b_records: Iterable[MaskedRecord]) -> Verdict | None:
    """`a` when a is a copy of b, `b` when b is one of a, None when they have nothing in common or
    are both copies of a third.
    """
    a, b = _Side(a_records), _Side(b_records)
    common = [uuid for uuid in a.chain if uuid in b.chain]
    if not common:
        return None
    by_name = _one(_names(a, b), _names(b, a))
    if by_name is not None:
        return by_name
    if a.origins and b.origins:
        return None
    return _by_marks(a, b, common)


def _by_marks(a: _Side, b: _Side, common: list[str]) -> Verdict | None:
    blocks_a, blocks_b = _rewritten(a, common), _rewritten(b, common)
    by_form = _one(blocks_a and not blocks_b, blocks_b and not blocks_a)
    if by_form is not None:
        return by_form
    by_rest = _one(
        len(common) == len(b.chain) < len(a.chain), len(common) == len(a.chain) < len(b.chain)
    )
    if blocks_a and blocks_b:
        return by_rest
    loose_a, loose_b = _loose(a, common), _loose(b, common)
    return (
        _by_time(a, b, common)
        or _one(not loose_a and loose_b, not loose_b and loose_a)
        or by_rest
        or _by_first_own(a, b)
    )


def _one(a: bool, b: bool) -> Verdict | None:
    """The side for which it holds, when it holds for one only."""
    if a == b:
        return None
    return "a" if a else "b"


def _names(copy: _Side, origin: _Side) -> bool:
    """Whether the copy's records name the origin as where they come from."""
    if origin.own is None or copy.own == origin.own:
        return False
    return origin.own in copy.origins or origin.own in copy.named.values()


def _rewritten(side: _Side, common: list[str]) -> bool:
    """All common prompts stand in blocks."""
    forms = [side.chain[uuid][2] for uuid in common if side.chain[uuid][2] is not None]
    return bool(forms) and all(forms)


def _by_time(a: _Side, b: _Side, common: list[str]) -> Verdict | None:
    later_a = later_b = False
    for uuid in common:
        time_a, time_b = a.chain[uuid][1], b.chain[uuid][1]
        if time_a is not None and time_b is not None:
            later_a, later_b = later_a or time_a > time_b, later_b or time_b > time_a
    return _one(later_a, later_b)


def _loose(side: _Side, common: list[str]) -> bool:
    """Whether loose records stand among the common ones."""
    places = [side.chain[uuid][0] for uuid in common]
    first, last = min(places), max(places)
    return any(first < place < last for place in side.loose)


def _by_first_own(a: _Side, b: _Side) -> Verdict | None:
    """Where nothing else tells them apart: the copy has its first own record later."""
    own_a, own_b = _first_own(a, b), _first_own(b, a)
    if own_a is None or own_b is None:
        return None
    return _one(own_a > own_b, own_b > own_a)


def _first_own(side: _Side, other: _Side) -> str | None:
    return next(
        (time for uuid, (_, time, _) in side.chain.items() if uuid not in other.chain), None
    )


def _in_blocks(native: dict[str, Any]) -> bool | None:
    if native.get("type") != "user" or native.get("isMeta") is True:
        return None
    content = mapping(native.get("message")).get("content")
    if type(content) is str:
        return False
    if type(content) is not list or not content:
        return None
    text_only = all(type(block) is dict and block.get("type") == "text" for block in content)
    return True if text_only else None
