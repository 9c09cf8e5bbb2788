"""The official MCP client against the program as it is installed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from blackbox import ClaudeSession, Home
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp_types import ListRootsResult, Root, TextContent
from pydantic import FileUrl

SECONDS = 60


class Project:
    """A folder, with one session of Claude Code about it."""

    def __init__(self, home: Home, name: str, texts: list[str]) -> None:
        self.folder = home.folder / name
        self.folder.mkdir()
        self.session = ClaudeSession(home, f"-w-{name}")
        for text in texts:
            made = json.loads(self.session.line(text))
            made["cwd"] = str(self.folder)
            with self.session.path.open("ab") as out:
                out.write(json.dumps(made).encode() + b"\n")


def client(home: Home, folder: Path, *, roots: Path | None = None, **env: str) -> Client:
    """An agent that starts `ultracontext mcp` in a folder, with or without roots of its own."""

    async def named(context: Any) -> ListRootsResult:
        return ListRootsResult(roots=[Root(uri=FileUrl((roots or folder).as_uri()))])

    command, *arguments = home.command("mcp")
    server = StdioServerParameters(
        command=command, args=arguments, env={**home.env, **env}, cwd=str(folder)
    )
    if roots is None:
        return Client(stdio_client(server), read_timeout_seconds=SECONDS)
    return Client(
        stdio_client(server), read_timeout_seconds=SECONDS, list_roots_callback=named, mode="legacy"
    )


def text_of(content: Any) -> str:
    assert isinstance(content, TextContent)
    return content.text


async def ask(agent: Client, tool: str, **arguments: Any) -> Mapping[str, Any]:
    """The JSON of a tool's answer."""
    found = await agent.call_tool(tool, arguments)
    (content,) = found.content
    assert not found.is_error, content
    return dict(json.loads(text_of(content)))


async def refusal(agent: Client, tool: str, **arguments: Any) -> str:
    found = await agent.call_tool(tool, arguments)
    (content,) = found.content
    assert found.is_error, content
    return text_of(content)


def remove(home: Home) -> None:
    shutil.rmtree(home.folder, ignore_errors=True)
