"""Messages of an `assistant` record: answers, thinking, calls, errors in an answer's place."""

from __future__ import annotations

from typing import Any

from ultracontext.agents.claude.content import MEDIA, blocks, flat, media, media_note, output
from ultracontext.agents.claude.values import as_json, identifier, mapping, text_or_none
from ultracontext.formats import ENDED, TURN
from ultracontext.formats.draft import Draft
from ultracontext.model import Tool

SYNTHETIC = "<synthetic>"

_TELLING = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "query",
    "url",
    "description",
)
"""Inputs that say at a glance what a call does, best first."""

_LONGEST_INPUT = 2000

_LAST_WORDS = frozenset({"end_turn", "stop_sequence", "max_tokens", "refusal"})
"""Values of `stop_reason` after which Claude Code (2.0.77, 2.1.332, 2026-11) waits for a person."""


def read_assistant(native: dict[str, Any], draft: Draft) -> None:
    """One message for each block; neighbouring texts of one record are one answer."""
    message = mapping(native.get("message"))
    found = blocks(message.get("content"))
    failure = _failure(native, message)
    if failure is not None or message.get("stop_reason") in _LAST_WORDS:
        draft.base = {**draft.base, TURN: ENDED}
    if failure is not None:
        draft.system("assistant", "\n".join(filter(None, map(flat, found))), failure)
    else:
        _answer(found, draft)
    if not draft.messages:
        draft.meta("assistant")


def _failure(native: dict[str, Any], message: dict[str, Any]) -> dict[str, Any] | None:
    """Why a record was not answered by a model; None for a real answer."""
    if native.get("isApiErrorMessage") is True:
        told = text_or_none(native.get("error")) or text_or_none(native.get("apiErrorType"))
        return {"error": told or "api_error"}
    return {"synthetic": True} if message.get("model") == SYNTHETIC else None


def _answer(found: list[Any], draft: Draft) -> None:
    said = ""
    for block in found:
        text = block.get("text") if type(block) is dict and block.get("type") == "text" else None
        if type(text) is str and said.strip() and text.strip():
            said = f"{said}\n{text}"
            continue
        if said:
            draft.add("assistant", "assistant", "assistant", said)
            said = ""
        if type(text) is str and text:
            said = text
        else:
            _block(block, draft)
    if said:
        draft.add("assistant", "assistant", "assistant", said)


def _block(block: Any, draft: Draft) -> None:
    if type(block) is str:
        draft.add("assistant", "assistant", "assistant", block)
        return
    kind = block.get("type") if type(block) is dict else None
    if type(kind) is not str:
        draft.unknown.append("block/(odd)")
        draft.meta("assistant", flat(block))
    elif kind == "tool_use":
        _call(block, draft)
    elif kind == "thinking":
        draft.add("assistant", "reasoning", "assistant", flat(block.get("thinking")))
    elif kind == "redacted_thinking":
        draft.add("assistant", "reasoning", "assistant", "", extra={"redacted": True})
    elif kind == "text":
        draft.add("assistant", "assistant", "assistant", flat(block.get("text")))
    else:
        _rarer(kind, block, draft)


def _rarer(kind: str, block: dict[str, Any], draft: Draft) -> None:
    """Calls that the service runs itself, pictures in answers, and what comes new."""
    if kind.endswith("_tool_use"):
        _call(block, draft)
    elif kind.endswith("_tool_result"):
        content = block.get("content")
        tool = Tool(call_id=identifier(block.get("tool_use_id")) or "", output=output(content))
        draft.add("tool", "tool_result", "assistant", flat(content), tool=tool)
    elif kind in MEDIA:
        draft.add(
            "assistant",
            "assistant",
            "assistant",
            media_note(block),
            extra={"media": [media(block)]},
        )
    else:
        draft.unknown.append(f"block/{kind}")
        draft.meta("assistant", flat(block), {"block": kind})


def _call(block: dict[str, Any], draft: Draft) -> None:
    name = text_or_none(block.get("name")) or ""
    given = block.get("input")
    tool = Tool(name=name, call_id=identifier(block.get("id")) or "", input=given)
    draft.add("assistant", "tool_call", "assistant", f"{name}({shown(given)})", tool=tool)


def shown(given: Any) -> str:
    """A call's input on one or a few lines."""
    if type(given) is dict:
        for key in _TELLING:
            value = given.get(key)
            if type(value) is str and value:
                return value[:_LONGEST_INPUT]
        if not given:
            return ""
    if type(given) is str:
        return given[:_LONGEST_INPUT]
    return "" if given is None else as_json(given)[:_LONGEST_INPUT]
