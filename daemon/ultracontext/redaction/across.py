"""Secrets that are cut over records which arrive together: deltas of a stream, blocks of an answer.

Each record was masked by itself. Here the end of what one says and the begin of what the next says
in the same voice are joined, when no white space or sentence's end parts them, and looked through
again. What needs both of them is masked in both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ultracontext.redaction.joined import (
    TEXT_KEYS,
    Chain,
    Piece,
    chains_of,
    mask_chains,
    text_key,
)
from ultracontext.redaction.scan import Scanner

_HOLDERS = ("message", "payload")
_INSIDE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_+/=.~:@$%&*#")
_END = _INSIDE - {"."}
_DIGIT = re.compile("[0-9]")
_SHORT = 48

NEAR = 600
"""Characters on each side that are joined, unless a frame is open."""


def mask_across(natives: Sequence[dict[str, Any] | None], scanner: Scanner) -> list[int]:
    """Masks in place what is cut over these unmasked records, in order; which ones changed."""
    chains: list[tuple[Chain, bool]] = []
    owners: dict[int, int] = {}
    run: list[Piece] = []
    voice: object = None
    for number, native in enumerate(natives):
        for sign, piece in _speech(native) if native is not None else ():
            owners[id(piece)] = number
            if run and (sign != voice or not _goes_on(run[-1].text, piece.text)):
                chains += _chains(run, owners)
                run = []
            voice = sign
            run.append(piece)
    chains += _chains(run, owners)
    changed = mask_chains(chains, scanner, Counter())
    return sorted({owners[id(piece)] for piece in changed})


def _chains(run: Sequence[Piece], owners: dict[int, int]) -> list[tuple[Chain, bool]]:
    if len({owners[id(piece)] for piece in run}) < 2:
        return []
    return [(chain, False) for chain in chains_of(run, NEAR) if len(chain) > 1]


def _goes_on(before: str, after: str) -> bool:
    """Whether one token may reach from one text into the next: no space parts them, and what it
    would be is no plain word."""
    if not before or not after:
        return False
    if before[-1] in _END and after[0] in _INSIDE:
        if len(before) < _SHORT or len(after) < _SHORT:
            return True
        tail, head = before[-_SHORT:].split()[-1], after[:_SHORT].split()[0]
        if len(tail) + len(head) >= _SHORT // 2 or _DIGIT.search(tail + head) is not None:
            return True
    return "-----BEGIN" in before or "-----END" in after or "PuTTY-User-Key" in before


def _speech(native: dict[str, Any]) -> list[tuple[object, Piece]]:
    """What a record says, by voice: its text blocks, or its one text."""
    holder = native
    for name in _HOLDERS:
        if type(native.get(name)) is dict:
            holder = native[name]
            break
    role = holder.get("role") or native.get("type")
    content = holder.get("content")
    if type(content) is list:
        return [
            ((role, key), Piece(block, key, block[key]))
            for block in content
            if (key := text_key(block)) is not None
        ]
    for key in (*TEXT_KEYS, "message"):
        if type(holder.get(key)) is str:
            return [((role, key), Piece(holder, key, holder[key]))]
    return []
