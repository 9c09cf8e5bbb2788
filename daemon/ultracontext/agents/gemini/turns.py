"""Messages of one user, gemini or notice record.

`event_type` is the record's own type, or says what was put in by the program:

    session_context, hook_context, ide_context, loop_warning    with or in place of a prompt
    model_input            what the model got in place of the typed text (`@file`, custom commands)
    compact_summary, compact_acknowledged                       what a compression leaves
    task                   a sub-agent's prompt, by its parent
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ultracontext.agents.gemini.compat import NOTICES
from ultracontext.agents.gemini.guard import GUARDED, unguarded
from ultracontext.agents.gemini.parts import Content, flat, parse
from ultracontext.agents.gemini.tools import Ledger, plain_id, read_calls, read_responses
from ultracontext.agents.gemini.values import (
    as_json,
    kind_of,
    listing,
    mapping,
    moment,
    one_line,
    text_or_none,
)
from ultracontext.agents.gemini.wrapping import acknowledged, injected
from ultracontext.formats import ENDED, TURN
from ultracontext.formats.draft import Draft


@dataclass(slots=True)
class Told:
    """What a record turned out to be."""

    typed: bool = False
    said: int | None = None
    """Equal for equal typed texts."""
    title: str | None = None
    text_id: str | None = None
    """The message that holds the typed or answered text."""


@dataclass(slots=True)
class Setting:
    """What a record is read in."""

    ledger: Ledger
    delegated: bool
    """The session is a sub-agent's: its prompts come from its parent."""
    companions: Mapping[str, str]
    after_summary: bool = False


def words(native: dict[str, Any], content: Content) -> int | None:
    """Equal for the same message under another id; None when it says nothing.

    White space is left out, since a snapshot may cut a text into Parts.
    """
    said: Any = "".join("".join(content.pieces).split())
    if not said:
        said = _ids(native, content) or as_json(native.get("thoughts") or "").strip('"')
    return hash((kind_of(native), said)) if said else None


def _ids(native: dict[str, Any], content: Content) -> tuple[str, ...]:
    named = [call for call in listing(native.get("toolCalls")) if type(call) is dict]
    named = named or content.calls or content.responses
    return tuple(plain_id(str(call.get("id") or ""), str(call.get("name") or "")) for call in named)


def opening(native: dict[str, Any], content: Content) -> str | None:
    """What the program put in at the begin of a user message."""
    if not content.pieces or native.get("type") != "user":
        return None
    return injected(content.pieces[0])


def is_injected(native: dict[str, Any], kind: str) -> bool:
    """Whether a user message begins with what the program put in as `kind`."""
    return native.get("type") == "user" and opening(native, parse(native.get("content"))) == kind


def read_turn(
    native: dict[str, Any], content: Content, draft: Draft, setting: Setting, teller: object
) -> Told:
    """Adds a record's messages to the draft; `content` is its content, parsed."""
    kind = kind_of(native)
    draft.time = moment(native.get("timestamp")) or draft.time
    if kind == "user":
        return _user(native, content, draft, setting, teller)
    if kind == "gemini":
        return _answer(native, content, draft, setting, teller)
    text = flat(native.get("content"))
    if kind in NOTICES:
        draft.system(kind, text)
    else:
        draft.unknown.append(kind or "(none)")
        draft.meta(kind[:40] or "(none)", text)
    return Told()


# ---- what was typed ------------------------------------------------------------------------------
def _user(
    native: dict[str, Any], content: Content, draft: Draft, setting: Setting, teller: object
) -> Told:
    draft.unknown += content.unknown
    before = len(draft.messages)
    told = _prompt(native, content, draft, setting)
    read_responses(content, draft, setting.ledger, teller)
    if len(draft.messages) == before and not content.responses:
        draft.meta("user")
    return told


def _prompt(native: dict[str, Any], content: Content, draft: Draft, setting: Setting) -> Told:
    shown = parse(native["displayContent"]).text if native.get("displayContent") else ""
    if shown.strip():
        told = _typed(shown, content, draft, setting)
        _model_input(shown, content, draft)
        return told
    kinds = [injected(piece) for piece in content.pieces]
    own = [p for p, kind in zip(content.pieces, kinds, strict=True) if kind is None and p]
    told = Told()
    if "".join(own).strip() or content.notes:
        text = "\n".join([*own, *content.notes])
        told = _typed(unguarded(text), content, draft, setting, saved=unguarded(text) != text)
    for piece, kind in zip(content.pieces, kinds, strict=True):
        if kind is not None:
            draft.system(kind, piece)
    return told


def _typed(
    text: str, content: Content, draft: Draft, setting: Setting, *, saved: bool = False
) -> Told:
    extra: dict[str, Any] | None = {"media": content.media} if content.media else None
    if saved:
        extra = {**(extra or {}), GUARDED: True}
    if not text.strip():
        draft.meta("user", text, extra)
        return Told()
    if setting.delegated:
        draft.add("system", "system", "task", text, extra=extra)
    else:
        draft.add("user", "user", "user", text, extra=extra)
    said = hash("".join(text.split()))
    return Told(not setting.delegated, said, one_line(text) or None, draft.messages[-1].id)


def _model_input(typed: str, content: Content, draft: Draft) -> None:
    """What went to the model beside or in place of the typed text."""
    pieces = list(content.pieces)
    if pieces and pieces[0].strip() == typed.strip():
        pieces = pieces[1:]
    rest = "\n".join(pieces)
    if rest.strip() and "".join(rest.split()) != "".join(typed.split()):
        kind = injected(pieces[0]) if len(pieces) == 1 else None
        draft.system(kind or "model_input", rest)


# ---- what was answered ---------------------------------------------------------------------------
def _answer(
    native: dict[str, Any], content: Content, draft: Draft, setting: Setting, teller: object
) -> Told:
    draft.unknown += content.unknown
    before = len(draft.messages)
    model = text_or_none(native.get("model"))
    shared, draft.base = draft.base, {**draft.base, "model": model} if model else draft.base
    if native.get("tokens") and not native.get("toolCalls") and not content.calls:
        draft.base = {**draft.base, TURN: ENDED}
    _thoughts(native, content, draft)
    text = "\n".join([*filter(None, content.pieces), *content.notes])
    told = _said(text, draft, setting) if text.strip() else Told()
    read_calls(native, content, draft, setting.ledger, teller, setting.companions)
    if len(draft.messages) == before:
        draft.meta("gemini", text)
    draft.base = shared
    return told


def _said(text: str, draft: Draft, setting: Setting) -> Told:
    if setting.after_summary and acknowledged(text):
        draft.system("compact_acknowledged", text)
        return Told()
    draft.add("assistant", "assistant", "gemini", text)
    return Told(text_id=draft.messages[-1].id)


def _thoughts(native: dict[str, Any], content: Content, draft: Draft) -> None:
    listed_thoughts = listing(native.get("thoughts"))
    for thought in listed_thoughts:
        found = mapping(thought)
        said = [text_or_none(found.get(name)) for name in ("subject", "description")]
        text = "\n".join(part for part in said if part)
        if text:
            time = moment(found.get("timestamp"))
            draft.add("assistant", "reasoning", "gemini", text, time=time)
    if not listed_thoughts:
        for text in content.thoughts:
            draft.add("assistant", "reasoning", "gemini", text)


USAGE = {
    "input_tokens": "input", "output_tokens": "output", "reasoning_tokens": "thoughts",
    "cache_read_tokens": "cached",
}  # fmt: skip
SPENT = ("input_tokens", "output_tokens", "reasoning_tokens")
"""Thinking stands beside the output here; what was read from a cache is part of the input."""


def tokens(native: dict[str, Any]) -> dict[str, int]:
    """Tokens of an answer by kind, as `SessionFacts.usage` names them."""
    counted = mapping(native.get("tokens"))
    if not counted:
        return {}
    found = {kind: counted.get(name) for kind, name in USAGE.items()}
    return {kind: n for kind, n in found.items() if type(n) is int and 0 < n < 1 << 40}
