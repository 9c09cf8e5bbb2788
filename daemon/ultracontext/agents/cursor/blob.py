"""Messages of a blob of `store.db`: a message in the AI SDK's form, or protobuf in 2025."""

from __future__ import annotations

from typing import Any

from ultracontext.agents.cursor.compat import PARTS, ROLES
from ultracontext.agents.cursor.entry import add_call, add_result
from ultracontext.agents.cursor.typed import said, stamped, typed
from ultracontext.agents.cursor.values import as_json, from_json, listing, mapping, text_or_none
from ultracontext.formats.draft import Draft


def read_blob(blob: dict[str, Any], draft: Draft) -> None:
    """All messages of one blob."""
    if type(blob.get("protobuf")) is dict:
        blob = _from_protobuf(blob["protobuf"])
    role = text_or_none(blob.get("role"))
    content = blob.get("content")
    if role == "user":
        _read_user(texts(content), content, draft)
    elif role == "assistant":
        _read_assistant(content, draft)
    elif role == "tool":
        _read_results(content, draft)
    elif role == "system":
        draft.system("system_prompt", texts(content))
    elif role is not None or content is not None:
        draft.unknown.append(f"blob/{role}" if role is not None else "blob")
    if not draft.messages:
        draft.meta(f"blob/{role}" if role in ROLES else "blob")


def _from_protobuf(fields: dict[str, Any]) -> dict[str, Any]:
    """Field 1 is the text, 2 a prompt's id, 4 the message with its calls as JSON (2025)."""
    for value in listing(fields.get("4")):
        message = mapping(from_json(value))
        if text_or_none(message.get("role")) in ROLES:
            return message
    text = next((v for v in listing(fields.get("1")) if type(v) is str), "")
    prompt = bool(fields.get("2")) and not fields.get("4")
    if prompt:
        text = text if typed(text) is not None else f"<user_query>\n{text}\n</user_query>"
    return {"role": "user" if prompt else "assistant", "content": text}


def _read_user(text: str, content: Any, draft: Draft) -> None:
    draft.time = stamped(text) or draft.time
    words = typed(text)
    if words is None:
        draft.system("injected", text)
        return
    images = sum(1 for part in listing(content) if mapping(part).get("type") == "image")
    draft.add(
        "user", "user", "blob/user", words, extra={"media": ["image"] * images} if images else None
    )


def _read_assistant(content: Any, draft: Draft) -> None:
    """One message for the text (its parts joined), one for each thought and each call."""
    whole = said(texts(content))
    spoken = not whole.strip()
    for part in content if type(content) is list else [{"type": "text", "text": content}]:
        kind = mapping(part).get("type")
        model = mapping(mapping(mapping(part).get("providerOptions")).get("cursor"))
        if text_or_none(model.get("modelName")):
            draft.base["model"] = model["modelName"]
        if kind == "text":
            if not spoken:
                draft.add("assistant", "assistant", "blob/assistant", whole)
            spoken = True
        elif kind == "reasoning":
            if text_or_none(part.get("text")):
                draft.add("assistant", "reasoning", "blob/reasoning", part["text"])
        elif kind == "tool-call":
            add_call(draft, part.get("toolName"), part.get("toolCallId"), part.get("args"))
        else:
            _read_other(part, kind, draft)


def _read_results(content: Any, draft: Draft) -> None:
    for part in listing(content):
        kind = mapping(part).get("type")
        if kind != "tool-result":
            _read_other(part, kind, draft)
            continue
        output = part.get("result")
        if output is None:
            output = texts(part.get("experimental_content"))
        failed = part.get("isError") is True
        add_result(draft, part.get("toolName"), part.get("toolCallId"), output, failed)


def _read_other(part: Any, kind: Any, draft: Draft) -> None:
    if kind in ("redacted-reasoning", "image"):
        return
    name = kind if type(kind) is str else "(none)"
    if name not in PARTS:
        draft.unknown.append(f"part/{name}")
    draft.meta(f"part/{name}", as_json(part))


def texts(content: Any) -> str:
    """The text of a content value: a string, or the text parts of a list."""
    if type(content) is str:
        return content
    found = [
        part["text"]
        for part in listing(content)
        if type(part) is dict and type(part.get("text")) is str and part.get("type") == "text"
    ]
    return "\n".join(text for text in found if text)
