"""The same tools, resources and prompts as plain JSON, for the HTTP server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultracontext.errors import NotFoundError, SettingsError, UltraContextError
from ultracontext.mcp import resources, tools
from ultracontext.mcp.arguments import schema_of
from ultracontext.mcp.budget import MARK, line
from ultracontext.mcp.desk import Desk
from ultracontext.mcp.scope import Scope

Json = dict[str, Any]
CAPABILITIES: Json = {"tools": {}, "resources": {}, "prompts": {}}


def answer(
    desk: Desk, scope: Scope, client: str, method: str, params: Mapping[str, Any]
) -> Json | None:
    """The result of a request; None for a method that is not known.

    Raises UltraContextError, which says what to do next."""
    match method:
        case "tools/list":
            return {"tools": [_tool(tool) for tool in tools.listed(desk)]}
        case "tools/call":
            return _called(desk, scope, client, params)
        case "resources/list":
            return _resources(desk, scope, _text(params, "cursor"))
        case "resources/templates/list":
            template = {
                "uriTemplate": resources.TEMPLATE, "name": "session",
                "description": resources.ABOUT, "mimeType": "application/json",
            }  # fmt: skip
            return {"resourceTemplates": [template]}
        case "resources/read":
            uri = _text(params, "uri")
            text = resources.read(desk, scope, client, uri)
            return {"contents": [{"uri": uri, "mimeType": "application/json", "text": text}]}
        case "prompts/list":
            return {"prompts": [_prompt(prompt) for prompt in resources.PROMPTS]}
        case "prompts/get":
            given = {str(k): str(v) for k, v in _object(params).items()}
            text = resources.prompted(desk, scope, client, _text(params, "name"), given)
            content = {"type": "text", "text": text}
            return {"messages": [{"role": "user", "content": content}]}
        case _:
            return None


def _called(desk: Desk, scope: Scope, client: str, params: Mapping[str, Any]) -> Json:
    name = _text(params, "name")
    if name not in {tool.name for tool in tools.listed(desk)}:
        raise NotFoundError(f"no tool {line(name, 60)!r}", hint="tools/list shows them")
    try:
        text = tools.call(desk, scope, client, name, _object(params))
    except UltraContextError as error:
        content = {"type": "text", "text": line(str(error), 1000)}
        return {"content": [content], "isError": True}
    return {"content": [{"type": "text", "text": text}]}


def _resources(desk: Desk, scope: Scope, cursor: str) -> Json:
    page = resources.listed(desk, scope, cursor)
    made: Json = {
        "resources": [
            {"uri": one.uri, "name": one.name, "title": one.title, "description": MARK,
             "mimeType": "application/json"}
            for one in page.entries
        ]
    }  # fmt: skip
    return made | ({"nextCursor": page.next_cursor} if page.next_cursor else {})


def _tool(tool: tools.Tool) -> Json:
    return {
        "name": tool.name, "description": tool.text, "inputSchema": schema_of(tool.takes),
        "annotations": {
            "readOnlyHint": not tool.writes, "destructiveHint": False, "openWorldHint": False,
        },
    }  # fmt: skip


def _prompt(prompt: resources.Prompt) -> Json:
    named = [
        {"name": name, "description": text, "required": False}
        for name, text in prompt.arguments.items()
    ]
    return {"name": prompt.name, "description": prompt.text, "arguments": named}


def _text(params: Mapping[str, Any], name: str) -> str:
    value = params.get(name) or ""
    if not isinstance(value, str):
        raise SettingsError(f"{name} is a text", code="arguments")
    return value


def _object(params: Mapping[str, Any]) -> Json:
    value = params.get("arguments") or {}
    if not isinstance(value, dict):
        raise SettingsError("arguments is an object", code="arguments")
    return value
