"""`/mcp` of the server: the tools of `ultracontext mcp`, over Streamable HTTP, by a key."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import httpx2
import pytest
from blackbox import Home, kill
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_lab import Project, ask

pytestmark = pytest.mark.timeout(180)


def made_key(home: Home, role: str) -> str:
    return str(home.json("keys", "create", role, "--role", role, "--space", "local")["key"])


def served(home: Home) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        home.command("serve", "--port", "0", "--json"), env=home.env, cwd=home.folder,
        start_new_session=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip


async def test_the_tools_over_http(tmp_path: Path) -> None:
    home = Home(tmp_path)
    project = Project(home, "app", ["please mend retry_count", "it is mended"])
    assert home.run("daemon", "run", "--once").returncode == 0
    reader, writer = made_key(home, "read"), made_key(home, "write")
    server = served(home)
    assert server.stdout is not None
    try:
        url = json.loads(server.stdout.readline())["url"] + "/mcp"
        for key, writes in ((reader, False), (writer, True)):
            headers = {"Authorization": f"Bearer {key}"}
            async with (
                httpx2.AsyncClient(headers=headers, timeout=60) as http,
                Client(streamable_http_client(url, http_client=http)) as agent,
            ):
                names = {tool.name for tool in (await agent.list_tools()).tools}
                assert ("append_note" in names) == writes
                found = await ask(agent, "get_session", session=project.session.session)
                assert found["messages"][-1]["text"] == "it is mended"
                assert (await ask(agent, "search_contexts", query="mended"))["hits"]
                (resource,) = (await agent.list_resources()).resources
                assert (await agent.read_resource(resource.uri)).contents
                assert (await agent.get_prompt("continue_from", {})).messages
    finally:
        kill(server)
        server.stdout.close()
    assert any("key " in str(entry.get("client")) for entry in home.json("audit"))
