"""Anthropic's Messages API: `POST /v1/messages` with server-sent events."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from real_agents.conversation import Entry, Kind, Step, strings
from real_agents.server import Body

_ROLES: dict[str, Kind] = {"user": "user", "assistant": "assistant"}

MODEL = "claude-sonnet-4-5-20250929"


class Anthropic:
    def asks(self, path: str) -> bool:
        return path.endswith("/messages")

    def is_turn(self, path: str, body: Body) -> bool:
        """Claude Code 2.0 asks its sub-agents `Warmup` at each start."""
        return bool(body.get("tools")) and self.entries(body)[-1].text != "Warmup"

    def streams(self, path: str, body: Body) -> bool:
        return body.get("stream") is True

    def other(self, path: str, body: Body) -> Body:
        if path.endswith("/count_tokens"):
            return {"input_tokens": 100}
        if path.endswith("/models"):
            model = {"type": "model", "id": MODEL, "display_name": MODEL}
            return {"data": [model], "has_more": False, "first_id": MODEL, "last_id": MODEL}
        return {}

    def entries(self, body: Body) -> list[Entry]:
        found = []
        for message in body.get("messages", []):
            content = message["content"]
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            found += [_entry(message["role"], block) for block in blocks]
        return found

    def whole(self, body: Body, step: Step) -> Body:
        reason = "tool_use" if step.call else "end_turn"
        return _message(body) | {"content": _blocks(step), "stop_reason": reason}

    def events(self, body: Body, step: Step) -> Iterator[tuple[str | None, Body]]:
        for event in _events(body, step):
            yield event["type"], event


def _entry(role: str, block: Body) -> Entry:
    match block["type"]:
        case "text":
            return Entry(kind=_ROLES.get(role, "system"), text=block["text"])
        case "tool_use":
            text = f"{block['name']}\n{strings(block['input'])}"
            return Entry(kind="tool_call", text=text, name=block["name"], call_id=block["id"])
        case "tool_result":
            text = strings(block.get("content"))
            return Entry(kind="tool_result", text=text, call_id=block["tool_use_id"])
        case "thinking":
            return Entry(kind="reasoning", text=block["thinking"])
        case other:
            return Entry(kind="system", text="", name=other)


def _blocks(step: Step) -> list[Body]:
    blocks: list[Body] = [{"type": "text", "text": step.text}] if step.text else []
    if step.call:
        call = step.call
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.input})
    return blocks


def _message(body: Body) -> Body:
    return {
        "id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant",
        "model": body.get("model", MODEL), "stop_sequence": None,
        "usage": {
            "input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 0,
        },
    }  # fmt: skip


def _events(body: Body, step: Step) -> Iterator[Body]:
    begun = _message(body) | {"content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    for index, block in enumerate(_blocks(step)):
        empty, delta = _opened(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason: Any = {"stop_reason": "tool_use" if step.call else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


def _opened(block: Body) -> tuple[Body, Body]:
    """A block as it begins, and the one piece that completes it."""
    if block["type"] == "text":
        return block | {"text": ""}, {"type": "text_delta", "text": block["text"]}
    piece = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    return block | {"input": {}}, piece
