"""`ultracontext mcp`, driven by the official client."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from blackbox import Home
from mcp.shared.exceptions import MCPError
from mcp_lab import Project, ask, client, refusal, text_of

from ultracontext.switch.handoff import tokens_of

pytestmark = pytest.mark.timeout(180)
TOOLS = {
    "list_contexts", "get_context_messages", "get_recent_activity", "search_contexts",
    "get_session", "whats_happening", "get_file_history", "handoff", "fork_context", "append_note",
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


def captured(home: Home, texts: list[str]) -> Project:
    project = Project(home, "app", texts)
    assert home.run("daemon", "run", "--once").returncode == 0
    return project


async def test_every_tool_answers(home: Home) -> None:
    project = captured(home, ["please mend retry_count", "it is mended"])
    async with client(home, project.folder) as agent:
        assert {tool.name for tool in (await agent.list_tools()).tools} == TOOLS
        (row,) = (await ask(agent, "list_contexts"))["contexts"]
        name = row["id"]
        assert row["agent"] == "claude"
        for tool in ("get_session", "get_recent_activity"):
            found = await ask(agent, tool)
            assert [m["text"] for m in found["messages"]] == [
                "please mend retry_count", "it is mended",
            ]  # fmt: skip
            assert "no instruction" in found["about"]
        found = await ask(agent, "get_context_messages", context_id=name, last=1)
        assert [m["index"] for m in found["messages"]] == [1]
        assert found["left_out"] == {"before": 1, "after": 0}
        (hit,) = (await ask(agent, "search_contexts", query="count"))["hits"]
        assert (hit["context_id"], hit["index"]) == (name, 0)
        (doing,) = (await ask(agent, "whats_happening", since="9999d"))["sessions"]
        assert doing["last_words"]["text"] == "it is mended"
        assert "please mend" in (await ask(agent, "handoff"))["handoff"]
        assert (await ask(agent, "get_file_history", path="none.py"))["sessions"] == []
        made = await ask(agent, "fork_context", context_id=name)
        copy = await ask(agent, "get_context_messages", context_id=made["id"])
        assert copy["total"] == 2
        await ask(agent, "append_note", context_id=name, text="mind the tests")
        found = await ask(agent, "get_session", session=name)
        assert found["messages"][-1]["text"] == "mind the tests"
        (resource, *_) = (await agent.list_resources()).resources
        assert (await agent.read_resource(resource.uri)).contents
        prompt = await agent.get_prompt("continue_from", {"agent": "claude"})
        assert "please mend" in text_of(prompt.messages[0].content)
    reads = [e for e in home.json("audit") if e["action"] in ("mcp-read", "mcp-write")]
    assert {e["tool"] for e in reads} >= TOOLS - {"list_contexts", "get_file_history"}
    assert all(e["contexts"] for e in reads)


async def test_answers_stay_within_their_budget(home: Home) -> None:
    texts = [f"message {number} " + "w " * 30 for number in range(400)]
    texts += ["\U0001f469\u200d\U0001f467 " * 60_000, "end"]
    project = captured(home, texts)
    async with client(home, project.folder) as agent:
        said, cursor, calls = "", "", 0
        while calls < 200:
            answer = await agent.call_tool(
                "get_context_messages",
                {"context_id": project.session.session, "cursor": cursor, "max_tokens": 16_000},
            )
            text = text_of(answer.content[0])
            assert tokens_of(text) <= 16_000
            found = json.loads(text)
            said += "".join(m["text"] for m in found["messages"])
            cursor, calls = found.get("next_cursor", ""), calls + 1
            if not cursor:
                break
            assert found["left_out"]["after"] > 0
        assert said == "".join(texts)
        for tool in ("get_session", "handoff"):
            answer = await agent.call_tool(tool, {"max_tokens": 1000})
            assert not answer.is_error
            assert tokens_of(text_of(answer.content[0])) <= 1000


async def test_errors_say_what_to_do(home: Home) -> None:
    project = captured(home, ["a", "b"])
    async with client(home, project.folder) as agent:
        assert "list_contexts" in await refusal(agent, "get_session", session="nothing")
        assert "It takes" in await refusal(agent, "list_contexts", limt=3)
        assert "next_cursor" in await refusal(agent, "list_contexts", cursor="; drop")
        assert "phrase" in await refusal(agent, "search_contexts", query="...")
        with pytest.raises(MCPError, match="tools/list"):
            await agent.call_tool("switch_session", {"session": "x", "to": "codex"})
        with pytest.raises(MCPError, match="resources/list"):
            await agent.read_resource("ultracontext://sessions/../x")
        assert (await ask(agent, "list_contexts"))["total"] == 1, "it goes on"


async def test_nothing_captured_yet(home: Home) -> None:
    async with client(home, home.folder) as agent:
        assert (await ask(agent, "list_contexts"))["contexts"] == []
        assert "list_contexts" in await refusal(agent, "handoff")


@pytest.mark.parametrize(
    "asked", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"]
)
def test_stdout_is_the_protocol_alone(home: Home, tmp_path: Path, asked: str) -> None:
    noisy = tmp_path / "noisy"
    noisy.mkdir()
    (noisy / "ultracontext_noise.pth").write_text("")
    (noisy / "sitecustomize.py").write_text(
        "import atexit, threading\n"
        "def noise():\n    print('NOISE'); import os; os.write(1, b'NOISE\\n')\n"
        "import builtins\nreal = builtins.__import__\n"
        "def loud(name, *rest, **more):\n"
        "    if name == 'ultracontext.mcp.stdio': noise()\n"
        "    return real(name, *rest, **more)\n"
        "builtins.__import__ = loud\n"
    )
    params = {
        "protocolVersion": asked,
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "no/such"},
    ]
    path = f"{noisy}:{home.env.get('PYTHONPATH', '')}"
    process = subprocess.Popen(
        home.command("mcp"), env={**home.env, "PYTHONPATH": path, "PYTHONDEVMODE": ""},
        cwd=home.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    for one in lines:
        process.stdin.write(json.dumps(one).encode() + b"\n")
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for _ in range(3)]
    process.stdin.close()
    assert process.wait(30) == 0, "it ends with its input"
    assert process.stdout.read() == b""
    assert b"NOISE" in process.stderr.read()
    process.stdout.close()
    process.stderr.close()
    assert sorted(one["id"] for one in answers) == [1, 2, 3]
    version = next(one for one in answers if one["id"] == 1)["result"]["protocolVersion"]
    assert version == (asked if asked != "1999-01-01" else "2025-11-25")
