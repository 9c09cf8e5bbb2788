"""Whether what the target's reader gives is what was to be written, turn by turn."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

from ultracontext.formats import Entry
from ultracontext.redaction import dump_json
from ultracontext.switch.done import SwitchError
from ultracontext.switch.entries import Wanted, draw, unique_ids
from ultracontext.switch.session import MaskedSession


def check(session: MaskedSession, expected: Sequence[Entry]) -> None:
    """Raises SwitchError that names the first difference by its place, never by its text."""
    found = list(read_back(session))
    for place, (want, have) in enumerate(zip(expected, found, strict=False)):
        what = difference(want, have)
        if what is not None:
            raise SwitchError(
                f"entry {place + 1} of {len(expected)} reads back differently ({what})",
                hint="Nothing was left behind; please report it", code="read-back",
            )  # fmt: skip
    if len(found) != len(expected):
        raise SwitchError(
            f"{len(expected)} entries were written, {len(found)} read back",
            hint="Nothing was left behind; please report it", code="read-back",
        )  # fmt: skip


def read_back(session: MaskedSession) -> Iterator[Entry]:
    """A written session as entries, without notes."""
    drawn = draw(session, Wanted(full=True, proofs=True))
    return (entry for entry in unique_ids(drawn.entries) if not entry.note)


def unmasked(session: MaskedSession) -> int:
    """Secrets that the rules find in what was read back: there must be none."""
    return sum(sum(record.masks.values()) for record, _ in session.records)


def difference(want: Entry, have: Entry) -> str | None:
    """Where two entries differ, None where they say the same."""
    if want.kind != have.kind:
        return f"{have.kind} in place of {want.kind}"
    for name in _FIELDS[want.kind]:
        a, b = getattr(want, name), getattr(have, name)
        if a != b and not (isinstance(a, Mapping) and _plain(a) == _plain(b)):
            return f"{name} of a {want.kind}"
    if [image.data for image in want.images] != [image.data for image in have.images]:
        return f"images of a {want.kind}"
    return None


_FIELDS: dict[str, tuple[str, ...]] = {
    "user": ("text",),
    "assistant": ("text",),
    "reasoning": ("native",),
    "tool_call": ("name", "call_id", "input"),
    "tool_result": ("call_id", "text"),
}


def _plain(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def digest_of(entries: Iterable[Entry]) -> str:
    """Names what was carried: the same while nobody went on with the source."""
    digest = blake2b(digest_size=16)
    for entry in entries:
        if entry.note:
            continue
        line = [entry.kind, entry.text, entry.name, entry.call_id, dict(entry.input)]
        digest.update(dump_json(line))
    return digest.hexdigest()
