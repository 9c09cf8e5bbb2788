"""A line of project A cannot be had by a client in project B, whatever it asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from blackbox import Home
from mcp.shared.exceptions import MCPError
from mcp_lab import Project, ask, client

pytestmark = pytest.mark.timeout(180)
PLANTED = "quartzlamp is the plan of alpha"
WORD = "quartzlamp"


async def everything(agent: Any, other: str, name: str) -> str:  # noqa: C901  (all there is)
    """All that a client can get, with every name of the other project's session as argument."""
    told: list[str] = []

    async def call(tool: str, **arguments: Any) -> None:
        found = await agent.call_tool(tool, arguments)
        told.append(json.dumps([part.text for part in found.content]))

    for tool in (await agent.list_tools()).tools:
        for arguments in ({}, {"cursor": "0"}, {"cursor": "before:1"}, {"cursor": "0:3"}):
            await call(tool.name, **arguments)
    for which in (other, other[:8], name, name[:8], "latest"):
        for tool in ("get_session", "handoff"):
            await call(tool, session=which)
        await call("get_context_messages", context_id=which, cursor="0:1")
        await call("fork_context", context_id=which)
        await call("append_note", context_id=which, text="x")
    for query in (WORD, "quartz*", "alpha"):
        await call("search_contexts", query=query)
        await call("search_contexts", query=query, project="/")
    await call("list_contexts", session_id=name)
    await call("whats_happening", since="9999d")
    await call("get_file_history", path="secret_alpha.py")
    told.append(repr(await agent.list_resources()))
    told.append(repr(await agent.list_prompts()))
    for uri in (f"ultracontext://sessions/{other}", f"ultracontext://sessions/{name}?cursor=0"):
        try:
            told.append(repr(await agent.read_resource(uri)))
        except MCPError as error:
            told.append(str(error))
    for session in (other, name, ""):
        try:
            told.append(repr(await agent.get_prompt("continue_from", {"session": session})))
        except MCPError as error:
            told.append(str(error))
    return "\n".join(told)


@pytest.mark.parametrize("by_roots", [False, True])
async def test_project_wall(tmp_path: Path, by_roots: bool) -> None:
    home = Home(tmp_path / "home")
    a = Project(home, "alpha", [PLANTED, f"answer of {WORD}"])
    b = Project(home, "beta", ["beta is about tables", "yes"])
    assert home.run("daemon", "run", "--once").returncode == 0
    rows = {row["session_id"]: row["id"] for row in home.json("sessions")}
    theirs = rows[a.session.session]
    # roots count, not the folder in which the server was started
    started = a.folder if by_roots else b.folder
    async with client(home, started, roots=b.folder if by_roots else None) as agent:
        told = await everything(agent, theirs, a.session.session)
        seen = await ask(agent, "list_contexts")
    assert "beta is about tables" in told
    assert WORD not in told.replace(f'"{WORD}"', "")
    assert theirs not in told.replace(f"no session '{theirs}'", "")
    assert [row["session_id"] for row in seen["contexts"]] == [b.session.session]
    assert seen["other_projects"]["sessions_left_out"] == 1
    assert "mcp.projects" in seen["other_projects"]["opened_by"]
    assert home.json("show", theirs)["messages"][-1]["text"] == f"answer of {WORD}"

    (home.uc / "config.toml").write_text('[mcp]\nprojects = "all"\n')
    async with client(home, b.folder) as agent:
        opened = await ask(agent, "search_contexts", query=WORD)
    assert {hit["context_id"] for hit in opened["hits"]} == {theirs}, "the wall can be opened"
