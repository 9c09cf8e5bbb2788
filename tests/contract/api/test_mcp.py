"""Section 8: `/mcp` with the three tools, driven by plain requests and by the official client."""

from __future__ import annotations

import json
import time
from typing import Any

import httpx
import pytest
from api_server import ApiServer, Caller, refused

VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]


def rpc(uc: Caller, method: str, accept: str | None = None, **params: Any) -> httpx.Response:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {} if accept is None else {"Accept": accept}
    return uc.post("/mcp", body, headers=headers)


def call(uc: Caller, tool: str, **arguments: Any) -> tuple[str, bool]:
    """Text of the one block, and whether it is flagged as an error."""
    found = rpc(uc, "tools/call", name=tool, arguments=arguments)
    assert found.status_code == 200
    result = found.json()["result"]
    (block,) = result["content"]
    assert block["type"] == "text"
    return block["text"], result.get("isError", False)


@pytest.mark.parametrize("version", VERSIONS)
def test_initialize_echoes_the_version(uc: Caller, version: str) -> None:
    found = rpc(
        uc, "initialize", protocolVersion=version, capabilities={},
        clientInfo={"name": "t", "version": "1"},
    ).json()["result"]  # fmt: skip
    assert found["protocolVersion"] == version
    assert found["serverInfo"] == {"name": "ultracontext", "version": "0.1.0"}
    assert found["capabilities"] == {"tools": {}}


@pytest.mark.parametrize(
    "accept",
    ["application/json, text/event-stream", "*/*", "application/json", "application/*", None],
)
def test_accept(uc: Caller, accept: str | None) -> None:
    assert rpc(uc, "ping", accept).json() == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("accept", ["text/event-stream", "text/html"])
def test_accept_that_json_does_not_satisfy(uc: Caller, accept: str) -> None:
    found = rpc(uc, "ping", accept)
    assert found.status_code == 406
    assert found.json()["error"]["code"] == -32000


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_other_methods(uc: Caller, method: str) -> None:
    found = uc.send(method, "/mcp")
    assert found.status_code == 405
    assert found.json() == {
        "jsonrpc": "2.0", "error": {"code": -32000, "message": "Method not allowed."}, "id": None,
    }  # fmt: skip


def test_a_key_is_needed(anyone: Caller) -> None:
    refused(anyone.post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}), 401, "Unauthorized")


@pytest.mark.parametrize("method", ["resources/list", "prompts/list", "nope"])
def test_tools_only(uc: Caller, method: str) -> None:
    assert rpc(uc, method).json()["error"]["code"] == -32601


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"{", -32700), (b"", -32700), (b"null", -32600), (b"[]", -32600), (b"{}", -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":5}', -32600),
    ],
)  # fmt: skip
def test_what_is_no_message(uc: Caller, raw: bytes, code: int) -> None:
    found = uc.post("/mcp", raw=raw)
    assert (found.status_code, found.json()["error"]["code"]) == (400, code)


def test_notifications_and_batches(uc: Caller) -> None:
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (uc.post("/mcp", note).status_code, uc.post("/mcp", [note]).status_code) == (202, 202)
    pings = [{"jsonrpc": "2.0", "id": n, "method": "ping"} for n in ("a", 2)]
    assert [one["id"] for one in uc.post("/mcp", [*pings, note]).json()] == ["a", 2]


def test_tools_are_listed(uc: Caller) -> None:
    tools = {tool["name"]: tool for tool in rpc(uc, "tools/list").json()["result"]["tools"]}
    assert set(tools) == {"list_contexts", "get_context_messages", "get_recent_activity"}
    assert tools["get_context_messages"]["inputSchema"]["required"] == ["context_id"]


def test_list_contexts(uc: Caller) -> None:
    names = [uc.context(metadata={"source": "s", "n": n}) for n in range(12)]
    text, failed = call(uc, "list_contexts")
    rows = json.loads(text)
    assert not failed
    assert text.startswith("[\n  {")
    assert len(rows) == 10
    assert set(rows[0]) == {"id", "metadata", "created_at"}
    assert {row["id"] for row in json.loads(call(uc, "list_contexts", limit=100)[0])} == set(names)
    assert json.loads(call(uc, "list_contexts", source="none")[0]) == []
    assert json.loads(call(uc, "list_contexts", after="2035-01-01")[0]) == []


def test_get_context_messages(uc: Caller) -> None:
    name = uc.context({"content": "a\ud800", "metadata": {"m": 1}})
    text, failed = call(uc, "get_context_messages", context_id=name)
    assert not failed
    assert json.loads(text) == uc.get(f"/contexts/{name}").json()["data"]
    for unknown in ("ctx_" + "0" * 24, "x/y", ""):
        assert call(uc, "get_context_messages", context_id=unknown) == ("Context not found.", False)


def test_get_recent_activity(uc: Caller) -> None:
    assert call(uc, "get_recent_activity") == ("No recent activity found.", False)
    old = uc.context(*range(30), metadata={"source": "a"})
    time.sleep(0.003)
    uc.context("newest", metadata={"source": "b"})
    found = json.loads(call(uc, "get_recent_activity", source="a")[0])
    assert found["context"]["id"] == old
    assert [m["content"] for m in found["messages"]] == list(range(20, 30))
    found = json.loads(call(uc, "get_recent_activity", message_limit=2)[0])
    assert [m["content"] for m in found["messages"]] == ["newest"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("nope", {}), ("get_context_messages", {}), ("get_context_messages", {"context_id": 5}),
        ("list_contexts", {"limit": "x"}), ("list_contexts", {"limit": 0}),
        ("list_contexts", {"limit": 1001}), ("list_contexts", {"source": []}),
        ("get_recent_activity", {"message_limit": 1.5}),
    ],
)  # fmt: skip
def test_bad_arguments_are_results(uc: Caller, tool: str, arguments: Any) -> None:
    text, failed = call(uc, tool, **arguments)
    assert failed
    assert text.startswith("MCP error -32602")


def test_another_space_is_not_seen(make: Any) -> None:
    theirs, ours = make(), make()
    name = theirs.context("secret text")
    assert call(ours, "get_context_messages", context_id=name) == ("Context not found.", False)
    assert call(ours, "get_recent_activity") == ("No recent activity found.", False)


async def test_the_official_client_speaks_to_it(server: ApiServer, uc: Caller) -> None:
    import httpx2
    from mcp import ClientSession
    from mcp.client.streamable_http import streamable_http_client

    name = uc.context("hello")
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {uc.key}"}, timeout=20)
    async with (
        http,
        streamable_http_client(f"{server.url}/mcp", http_client=http) as streams,
        ClientSession(streams[0], streams[1]) as session,
    ):
        hello = await session.initialize()
        tools = await session.list_tools()
        found = await session.call_tool("get_context_messages", {"context_id": name})
    assert hello is not None
    assert len(tools.tools) == 3
    (block,) = found.content
    assert json.loads(getattr(block, "text", ""))[0]["content"] == "hello"
