"""OpenAI's Responses API: `POST /v1/responses` with server-sent events."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator

from real_agents.conversation import Entry, Kind, Step, strings
from real_agents.server import Body

_ROLES: dict[str, Kind] = {"user": "user", "assistant": "assistant"}
_CALLS = ("function_call", "custom_tool_call", "local_shell_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output", "local_shell_call_output")


class OpenAI:
    def asks(self, path: str) -> bool:
        return path.endswith("/responses")

    def is_turn(self, path: str, body: Body) -> bool:
        return bool(body.get("tools")) or _tools_in_input(body)

    def streams(self, path: str, body: Body) -> bool:
        return body.get("stream") is True

    def other(self, path: str, body: Body) -> Body:
        return {"object": "list", "data": [], "models": []} if path.endswith("/models") else {}

    def entries(self, body: Body) -> list[Entry]:
        asked = body.get("input", [])
        items = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
        return [entry for item in items if (entry := _entry(item)) is not None]

    def whole(self, body: Body, step: Step) -> Body:
        return _response(body) | {"status": "completed", "output": _items(step)}

    def events(self, body: Body, step: Step) -> Iterator[tuple[str | None, Body]]:
        for number, event in enumerate(_events(body, step)):
            yield event["type"], event | {"sequence_number": number}


def _tools_in_input(body: Body) -> bool:
    """Codex 0.171 in code mode declares its tools there."""
    asked = body.get("input")
    return isinstance(asked, list) and any(i.get("type") == "additional_tools" for i in asked)


def _entry(item: Body) -> Entry | None:
    kind = item.get("type", "message")
    if kind == "message":
        text = _text(item["content"])
        return Entry(kind=_ROLES.get(item["role"], "system"), text=text)
    if kind in _CALLS:
        name = item.get("name", kind)
        given = {k: v for k, v in item.items() if k in ("arguments", "input", "action")}
        text = f"{name}\n{strings(given)}"
        return Entry(kind="tool_call", text=text, name=name, call_id=item["call_id"])
    if kind in _OUTPUTS:
        return Entry(kind="tool_result", text=strings(item["output"]), call_id=item["call_id"])
    if kind == "reasoning":
        return Entry(kind="reasoning", text=strings(item.get("summary")))
    return None


def _text(content: object) -> str:
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "\n".join(part.get("text", "") for part in content)


def _response(body: Body) -> Body:
    return {
        "id": f"resp_{uuid.uuid4().hex}", "object": "response", "created_at": int(time.time()),
        "model": body.get("model", "mock"), "output": [],
        "usage": {
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 120,
        },
    }  # fmt: skip


def _items(step: Step) -> list[Body]:
    items: list[Body] = []
    if step.text:
        text = {"type": "output_text", "text": step.text, "annotations": []}
        items.append({
            "type": "message", "id": f"msg_{uuid.uuid4().hex}", "role": "assistant",
            "status": "completed", "content": [text],
        })  # fmt: skip
    if step.call:
        items.append({
            "type": "function_call", "id": f"fc_{uuid.uuid4().hex}", "status": "completed",
            "call_id": step.call.id, "name": step.call.name,
            "arguments": json.dumps(step.call.input),
        })  # fmt: skip
    return items


def _events(body: Body, step: Step) -> Iterator[Body]:
    response = _response(body)
    yield {"type": "response.created", "response": response | {"status": "in_progress"}}
    items = _items(step)
    for index, item in enumerate(items):
        place = {"output_index": index, "item_id": item["id"]}
        begun: Body = {"status": "in_progress"} | ({"content": []} if "content" in item else {})
        yield {"type": "response.output_item.added", "output_index": index, "item": item | begun}
        yield from _pieces(item, place)
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    done = response | {"status": "completed", "output": items}
    yield {"type": "response.completed", "response": done}


def _pieces(item: Body, place: Body) -> Iterator[Body]:
    if item["type"] == "message":
        (part,) = item["content"]
        here = place | {"content_index": 0}
        yield {"type": "response.content_part.added", "part": part | {"text": ""}} | here
        yield {"type": "response.output_text.delta", "delta": part["text"]} | here
        yield {"type": "response.output_text.done", "text": part["text"]} | here
        yield {"type": "response.content_part.done", "part": part} | here
    else:
        given = item["arguments"]
        yield {"type": "response.function_call_arguments.delta", "delta": given} | place
        yield {"type": "response.function_call_arguments.done", "arguments": given} | place
