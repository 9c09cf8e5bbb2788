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
_ALONE = (*TEXT_KEYS, "message")
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
    run: list[_Said] = []
    voice: object = None
    before = ""
    for number, native in enumerate(natives):
        if native is None:
            continue
        for sign, node, key in _speech(native):
            text = node[key]
            if run and (sign != voice or not _goes_on(before, text)):
                chains += _chains(run, owners)
                run = []
            voice, before = sign, text
            run.append((number, node, key))
    chains += _chains(run, owners)
    changed = mask_chains(chains, scanner, Counter())
    return sorted({owners[id(piece)] for piece in changed})


_Said = tuple[int, dict[str, Any], str]
"""Number of a record, and where in it a text stands."""


def _chains(run: Sequence[_Said], owners: dict[int, int]) -> list[tuple[Chain, bool]]:
    if not run or run[0][0] == run[-1][0]:
        return []
    pieces = [Piece(node, key, node[key]) for _, node, key in run]
    owners.update((id(piece), number) for piece, (number, _, _) in zip(pieces, run, strict=True))
    return [(chain, False) for chain in chains_of(pieces, NEAR) if len(chain) > 1]


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


def _speech(native: dict[str, Any]) -> list[tuple[object, dict[str, Any], str]]:
    """Where a record says something, by voice: its text blocks, or its one text."""
    holder = native
    for name in _HOLDERS:
        inner = native.get(name)
        if type(inner) is dict:
            holder = inner
            break
    role = holder.get("role") or native.get("type")
    content = holder.get("content")
    if type(content) is list:
        return [
            ((role, key), block, key) for block in content if (key := text_key(block)) is not None
        ]
    for key in _ALONE:
        if type(holder.get(key)) is str:
            return [((role, key), holder, key)]
    return []
