"""Messages of a bubble, the IDE's unit: a prompt, or one thought, text or call of an answer."""

from __future__ import annotations

from typing import Any

from ultracontext.agents.cursor.entry import add_call, add_result
from ultracontext.agents.cursor.typed import rich_text, said
from ultracontext.agents.cursor.values import (
    from_json,
    listing,
    mapping,
    text_or_none,
)
from ultracontext.formats.draft import Draft

USER = (1, "user")
ASSISTANT = (2, "ai", "assistant")


def read_bubble(bubble: dict[str, Any], draft: Draft) -> None:
    """Nothing is shown of an empty bubble; those are normal."""
    kind = bubble.get("type")
    if kind in USER and type(kind) is not bool:
        _read_prompt(bubble, draft)
    elif kind in ASSISTANT and type(kind) is not bool:
        _read_answer(bubble, draft)
    else:
        draft.unknown.append(f"bubble/{kind}" if type(kind) in (str, int) else "bubble")
    if not draft.messages:
        draft.meta("bubble")


def _read_prompt(bubble: dict[str, Any], draft: Draft) -> None:
    text = _text(bubble) or rich_text(bubble.get("richText"))
    images = len(listing(bubble.get("images")))
    if text.strip() or images:
        extra = {"media": ["image"] * images} if images else None
        draft.add("user", "user", "bubble/user", text, extra=extra)


def _read_answer(bubble: dict[str, Any], draft: Draft) -> None:
    model = text_or_none(mapping(bubble.get("modelInfo")).get("modelName"))
    if model is not None:
        draft.base["model"] = model
    for thought in _thoughts(bubble):
        draft.add("assistant", "reasoning", "bubble/thinking", thought)
    text = said(_text(bubble))
    if text.strip():
        draft.add("assistant", "assistant", "bubble/assistant", text)
    if type(bubble.get("toolFormerData")) is dict:
        _read_tool(bubble["toolFormerData"], draft)


def _text(bubble: dict[str, Any]) -> str:
    return text_or_none(bubble.get("text")) or text_or_none(bubble.get("rawText")) or ""


def _thoughts(bubble: dict[str, Any]) -> list[str]:
    """The thinking, which two fields hold; a string in some builds."""
    found = []
    for value in (bubble.get("thinking"), *listing(bubble.get("allThinkingBlocks"))):
        text = value if type(value) is str else mapping(value).get("text")
        if type(text) is str and text.strip() and text not in found:
            found.append(text)
    return found


def _read_tool(data: dict[str, Any], draft: Draft) -> None:
    name, call_id = data.get("name"), data.get("toolCallId")
    if not (text_or_none(name) or call_id):
        return
    for key in ("rawArgs", "params"):
        call = _decoded(data.get(key))
        if call not in (None, "", {}):
            break
    else:
        call = _decoded(data.get("rawArgs"))
    add_call(draft, name, call_id, call)
    status = data.get("status")
    failed = status == "error" or data.get("error") not in (None, "", {})
    output = _decoded(data.get("result"))
    if output in (None, "") and failed:
        output = _decoded(data.get("error")) or status
    if output not in (None, ""):
        result = data.get("result")
        text = result if type(result) is str and result else None
        add_result(draft, name, call_id, output, failed, text=text)
        draft.messages[-1].metadata["status"] = status


def _decoded(value: Any) -> Any:
    """Arguments and results are JSON in strings."""
    found = from_json(value)
    return found if type(found) in (dict, list) else value
