"""`/mcp`: the three tools of the original over Streamable HTTP, without sessions, JSON answers.

Facts of the original (API 0.7.2, run in November 2026): server `ultracontext` 0.1.0, tools only;
results are one text block of pretty JSON; bad arguments are results flagged as errors whose text
begins `MCP error -32602`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Protocol

from aiohttp import web

from ultracontext.errors import UltraContextError
from ultracontext.store.exchange import Call, Exchange
from ultracontext.wire import parse, render

PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07")
"""Versions of the protocol, newest first."""
DEFAULT_LIMIT, MOST_LIMIT = 10, 1000
TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 1, "maximum": MOST_LIMIT}
FILTERS = ("source", "user_id", "host", "project_path", "session_id", "after", "before")

Arguments = Mapping[str, Any]


class More(Protocol):
    """The tools, resources and prompts of the whole program, for one key."""

    capabilities: Mapping[str, Any]

    def answer(self, method: str, params: Mapping[str, Any]) -> dict[str, Any] | None:
        """None: no such method. Raises UltraContextError."""


class ToolError(Exception):
    """Told to the model as a result."""


class ArgumentError(ToolError):
    """A tool was called wrongly."""

    def __init__(self, text: str) -> None:
        super().__init__(f"MCP error -32602: {text}")


def refused(headers: Mapping[str, str]) -> web.Response | None:
    """An `Accept` that JSON does not satisfy."""
    accept = headers.get("Accept", "*/*").lower()
    if any(kind in accept for kind in ("application/json", "*/*", "application/*")):
        return None
    return _fault(None, -32000, "Not Acceptable: Client must accept application/json", status=406)


def not_allowed() -> web.Response:
    return _fault(None, -32000, "Method not allowed.", status=405)


def answer(body: bytes, exchange: Exchange, more: More | None = None) -> web.Response:
    """The answer to one JSON-RPC message, or to a batch of them; with `more`, it answers what is
    about tools, resources and prompts. Blocks."""
    try:
        message = parse(body)
    except ValueError:
        return _fault(None, -32700, "Parse error", status=400)
    if isinstance(message, list):
        if not message:
            return _fault(None, -32600, "Invalid Request", status=400)
        answers = [a for a in (_one(item, exchange, more) for item in message) if a is not None]
        return _json(answers) if answers else web.Response(status=202)
    found = _one(message, exchange, more)
    if found is None:
        return web.Response(status=202)
    invalid = found.get("error", {}).get("code") == -32600
    return _json(found, 400 if invalid else 200)


def _one(  # noqa: C901  (one case a method)
    message: Any, exchange: Exchange, more: More | None
) -> dict[str, Any] | None:
    """None for a notification or an answer."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return _error(None, -32600, "Invalid Request")
    method, name = message.get("method"), message.get("id")
    if not isinstance(method, str):
        answered = "result" in message or "error" in message
        return None if answered else _error(None, -32600, "Invalid Request")
    if "id" not in message:
        return None
    if not (isinstance(name, (str, int)) or name is None) or isinstance(name, bool):
        return _error(None, -32600, "Invalid Request")
    params = message.get("params") or {}
    if not isinstance(params, dict):
        return _error(name, -32602, "Invalid params")
    match method:
        case "initialize":
            return _result(name, _greeting(params, more))
        case "ping":
            return _result(name, {})
        case _ if more is not None:
            return _by(more, name, method, params)
        case "tools/list":
            return _result(name, {"tools": TOOLS})
        case "tools/call":
            return _result(name, _called(params, exchange))
        case _:
            return _error(name, -32601, "Method not found")


def _by(more: More, name: Any, method: str, params: Arguments) -> dict[str, Any]:
    try:
        found = more.answer(method, params)
    except UltraContextError as error:
        return _error(name, -32602, str(error))
    return _error(name, -32601, "Method not found") if found is None else _result(name, found)


def _greeting(params: Arguments, more: More | None) -> dict[str, Any]:
    wanted = params.get("protocolVersion")
    return {
        "protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[0],
        "capabilities": {"tools": {}} if more is None else dict(more.capabilities),
        "serverInfo": {"name": "ultracontext", "version": "0.1.0"},
    }


def _called(params: Arguments, exchange: Exchange) -> dict[str, Any]:
    try:
        text = _text(params.get("name"), params.get("arguments") or {}, exchange)
    except ToolError as error:
        return {"content": [{"type": "text", "text": str(error)}], "isError": True}
    return {"content": [{"type": "text", "text": text}]}


def _text(tool: Any, arguments: Any, exchange: Exchange) -> str:
    if not isinstance(arguments, dict):
        raise ArgumentError("Input validation error: arguments must be an object")
    match tool:
        case "list_contexts":
            return _pretty(_listed(arguments, exchange))
        case "get_context_messages":
            return _messages(_required(arguments, "context_id"), exchange)
        case "get_recent_activity":
            return _recent(arguments, exchange)
        case _:
            raise ArgumentError(f"Tool {tool if isinstance(tool, str) else ''} not found")


def _listed(arguments: Arguments, exchange: Exchange) -> list[dict[str, Any]]:
    query = {name: _optional(arguments, name) for name in FILTERS}
    limit = str(_count(arguments, "limit"))
    given = {name: value for name, value in query.items() if value} | {"limit": limit}
    found = _ask(exchange, "/contexts", given)
    return [{name: row[name] for name in ("id", "metadata", "created_at")} for row in found["data"]]


def _messages(context_id: str, exchange: Exchange) -> str:
    found = _ask(exchange, f"/contexts/{context_id.replace('/', '_')}", {}, missing="Context")
    return "Context not found." if found is None else _pretty(found["data"])


def _recent(arguments: Arguments, exchange: Exchange) -> str:
    source, count = _optional(arguments, "source"), _count(arguments, "message_limit")
    rows = _listed({"limit": 1} | ({"source": source} if source else {}), exchange)
    if not rows:
        return "No recent activity found."
    found = _ask(exchange, f"/contexts/{rows[0]['id']}", {"last": str(count)}, missing="Context")
    if found is None:  # wiped just now
        return "No recent activity found."
    return _pretty({"context": rows[0], "messages": found["data"]})


def _ask(
    exchange: Exchange, path: str, query: Mapping[str, str], *, missing: str | None = None
) -> Any:
    """The JSON of a GET; None where `missing` is not there."""
    found = exchange.answer(Call(method="GET", path=path, query=query))
    body = parse(found.whole())
    if found.status == 404 and missing is not None:
        return None
    if found.status >= 400:
        raise ToolError(body["error"])
    return body


def _required(arguments: Arguments, name: str) -> str:
    value = _optional(arguments, name)
    if value is None:
        raise ArgumentError(f"Input validation error: {name} is required")
    return value


def _optional(arguments: Arguments, name: str) -> str | None:
    value = arguments.get(name)
    if value is not None and not isinstance(value, str):
        raise ArgumentError(f"Input validation error: {name} must be a string")
    return value


def _count(arguments: Arguments, name: str) -> int:
    value = arguments.get(name, DEFAULT_LIMIT)
    whole = isinstance(value, (int, float)) and not isinstance(value, bool) and value == int(value)
    if not whole or not 1 <= value <= MOST_LIMIT:
        raise ArgumentError(f"Input validation error: {name} must be from 1 to {MOST_LIMIT}")
    return int(value)


def _pretty(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _result(name: Any, result: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": name, "result": result}


def _error(name: Any, code: int, text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "error": {"code": code, "message": text}, "id": name}


def _fault(name: Any, code: int, text: str, *, status: int) -> web.Response:
    return _json(_error(name, code, text), status)


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(status=status, body=render(value), content_type="application/json")


def _tool(name: str, text: str, required: list[str], **properties: Any) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {"name": name, "description": text, "inputSchema": schema}


TOOLS = [
    _tool(
        "list_contexts",
        "Lists contexts, newest first. All filters are exact and optional.",
        [],
        **dict.fromkeys(FILTERS, TEXT),
        limit=COUNT | {"default": DEFAULT_LIMIT},
    ),
    _tool(
        "get_context_messages",
        "All messages of one context, in order.",
        ["context_id"],
        context_id=TEXT,
    ),
    _tool(
        "get_recent_activity",
        "The newest context, with its last messages.",
        [],
        source=TEXT,
        message_limit=COUNT | {"default": DEFAULT_LIMIT},
    ),
]
