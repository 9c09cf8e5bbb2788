"""Messages of a record.

An assistant record gives one message for its text (its blocks joined), one for each thought and
each call. What was not typed and not answered by a model is `system`; `event_type` says what it is:

    bash                                  a command at the prompt, with its output
    compaction, branch_summary            what stands for older history from there on
    custom_message, custom                put in by the program or a plug-in
    reset                                 a new window of history begins
    error                                 a turn that failed
"""

from __future__ import annotations

from typing import Any

from ultracontext.agents.openclaw.compat import RECORDS, ROLES
from ultracontext.agents.openclaw.values import (
    as_json,
    identifier,
    listing,
    mapping,
    rendered,
    text_or_none,
)
from ultracontext.formats import ENDED, TURN
from ultracontext.formats.draft import Draft
from ultracontext.model import Tool

FAILED = "[assistant turn failed before producing content]"
"""What 2026.7 and 2026.9 write for an answer that never came (HTTP 500)."""


def read_event(event: dict[str, Any], draft: Draft) -> None:
    """All messages of one record; bookkeeping is `meta`."""
    kind = event.get("type")
    if kind == "message":
        _read_message(mapping(event.get("message")), draft)
    elif kind == "compaction":
        draft.system("compaction", _text(event.get("summary")), _compaction(event))
    elif kind == "branch_summary":
        draft.system("branch_summary", _text(event.get("summary")))
    elif kind == "custom_message":
        name = identifier(event.get("customType"))
        draft.system("custom_message", texts(event.get("content")), {"custom": name})
    elif kind == "reset":
        draft.system("reset", "The history before this point is no longer sent to the model.")
    else:
        _read_other(kind, event, draft)


def _read_other(kind: Any, event: dict[str, Any], draft: Draft) -> None:
    name = kind if type(kind) is str else "(none)"
    if name not in RECORDS:
        draft.unknown.append(name)
    text = event.get("name") or event.get("label") or event.get("modelId") or ""
    draft.meta(name, _text(text))


def _compaction(event: dict[str, Any]) -> dict[str, Any]:
    extra: dict[str, Any] = {"boundary": "compaction"}
    kept = identifier(event.get("firstKeptEntryId"))
    if kept is not None:
        extra["first_kept_entry_id"] = kept
    if type(event.get("tokensBefore")) is int:
        extra["tokens_before"] = event["tokensBefore"]
    return extra


def _read_message(message: dict[str, Any], draft: Draft) -> None:
    role = message.get("role")
    if role == "user":
        _read_user(message, draft)
    elif role == "assistant":
        _read_assistant(message, draft)
    elif role == "toolResult":
        _read_result(message, draft)
    elif role == "bashExecution":
        parts = (_text(message.get("command")), _text(message.get("output")))
        draft.system("bash", "\n".join(part for part in parts if part))
    elif role == "branchSummary" or role == "compactionSummary":
        draft.system(role, _text(message.get("summary")) or texts(message.get("content")))
    else:
        name = role if type(role) is str else "(none)"
        if name not in ROLES:
            draft.unknown.append(f"message/{name}")
        draft.system(f"message/{name}", texts(message.get("content")))


def _read_user(message: dict[str, Any], draft: Draft) -> None:
    content = message.get("content")
    draft.add("user", "user", "message/user", texts(content), extra=_media(content))


def _media(content: Any) -> dict[str, Any] | None:
    found = [
        text_or_none(part.get("mimeType")) or "image"
        for part in listing(content)
        if type(part) is dict and part.get("type") == "image"
    ]
    return {"media": found} if found else None


def _read_assistant(message: dict[str, Any], draft: Draft) -> None:
    model = text_or_none(message.get("model"))
    if model is not None:
        draft.base["model"] = model
    stop = message.get("stopReason")
    if stop == "aborted":
        draft.base["aborted"] = True
    if stop in ("stop", "length", "error", "aborted"):
        draft.base[TURN] = ENDED
    content = message.get("content")
    said = texts(content)
    failed = stop == "error" and said.strip() in ("", FAILED)
    spoken = failed or not said.strip()
    for part in content if type(content) is list else [{"type": "text", "text": content}]:
        if type(part) is not dict:
            continue
        if part.get("type") == "text":
            if not spoken:
                draft.add("assistant", "assistant", "message/assistant", said)
            spoken = True
        else:
            _read_part(part, draft)
    if stop == "error":
        reason = _text(message.get("errorMessage")) or (said if failed else "")
        draft.system("error", reason or FAILED)
    if not draft.messages:
        draft.meta("message/assistant")


def _read_part(part: dict[str, Any], draft: Draft) -> None:
    kind = part.get("type")
    if kind == "thinking":
        draft.add("assistant", "reasoning", "message/thinking", _text(part.get("thinking")))
    elif kind == "toolCall":
        call = part.get("arguments")
        tool = Tool(
            name=_text(part.get("name")), call_id=identifier(part.get("id")) or "", input=call
        )
        draft.add("assistant", "tool_call", "message/toolCall", rendered(call), tool=tool)
    else:
        name = kind if type(kind) is str else "(none)"
        draft.unknown.append(f"assistant/{name}")
        draft.meta(f"assistant/{name}", as_json(part))


def _read_result(message: dict[str, Any], draft: Draft) -> None:
    content = message.get("content")
    output = texts(content)
    tool = Tool(
        name=_text(message.get("toolName")),
        call_id=identifier(message.get("toolCallId")) or "",
        output=output,
        is_error=message.get("isError") is True,
    )
    extra = _media(content) or {}
    code = mapping(message.get("details")).get("exitCode")
    if type(code) is int:
        extra["exit_code"] = code
    draft.add("tool", "tool_result", "message/toolResult", output, tool=tool, extra=extra)


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


def _text(value: Any) -> str:
    return value if type(value) is str else ""
