"""Records that arrive together, looked through in one scan.

Most records hold no secret. Their strings are joined, over records as within one, and one scan says
which records show something; only those are masked one by one. A scan costs as much for one record
as for a slice of a file, beside its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ultracontext.model import RawRecord
from ultracontext.redaction.joined import joins
from ultracontext.redaction.parse import load_quickly, surely_exact, without_bom
from ultracontext.redaction.scan import Scanner
from ultracontext.redaction.walk import Found, Names, collect

GROUP_BYTES = 1 << 20
"""Records that are joined have so many bytes together; a larger one is for itself."""

Plain = tuple[dict[str, Any], list[str]]
"""A record that has nothing to mask, and its keys that were not known to be clean."""


def plain_ones(
    raws: Sequence[RawRecord], scanner: Scanner, known: Mapping[str, int], names: Names
) -> list[Plain | None]:
    """For each record its object when nothing in it is to be masked; None when it has to be looked
    at by itself.

    None says too much, never too little: it stands as well for what is damaged, or has a key that
    makes its value a secret.
    """
    out: list[Plain | None] = []
    for group in _groups(raws):
        out += _plain(group, scanner, known, names)
    return out


def _groups(raws: Sequence[RawRecord]) -> Iterator[Sequence[RawRecord]]:
    begin = size = 0
    for number, raw in enumerate(raws):
        size += len(raw.data)
        if size > GROUP_BYTES and number > begin:
            yield raws[begin:number]
            begin, size = number, len(raw.data)
    yield raws[begin:]


def _plain(
    raws: Sequence[RawRecord], scanner: Scanner, known: Mapping[str, int], names: Names
) -> list[Plain | None]:
    out: list[Plain | None] = []
    texts: list[str] = []
    owners: list[int] = []
    for number, raw in enumerate(raws):
        opened = _opened(raw, known, names)
        if opened is None:
            out.append(None)
            continue
        native, found = opened
        out.append((native, found.keys))
        texts += found.values
        texts += found.keys
        if found.lists:
            texts += _cut_over(found.lists)
        owners += [number] * (len(texts) - len(owners))
    for place in scanner.showing(texts):
        out[owners[place]] = None
    return out


def _opened(
    raw: RawRecord, known: Mapping[str, int], names: Names
) -> tuple[dict[str, Any], Found] | None:
    if not raw.data or raw.companions or raw.too_large is not None:
        return None
    data = without_bom(raw.data)
    try:
        native = load_quickly(data)
    except ValueError:
        return None
    if type(native) is not dict:
        return None
    found = collect(native, known, names)
    if not found.exact or found.fields or not surely_exact(data, native, found.members):
        return None
    return native, found


def _cut_over(lists: Sequence[list[Any]]) -> list[str]:
    """Neighbouring pieces of lists, joined: what is cut over them shows here."""
    chains = [chain for node in lists for chain, _ in joins(node) if len(chain) > 1]
    return [
        b"".join(part.body for part in chain).decode("utf-8", "surrogatepass") for chain in chains
    ]
