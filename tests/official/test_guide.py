"""Every block of the guide to forks, as printed, with the official SDKs and with ours."""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import fork_guide
import pytest
from api_server import ApiServer
from official_sdks import SCRIPTS, javascript, node, python, run

from ultracontext.model import ContextId
from ultracontext.store import NewMessage, Update

SOURCE = ContextId("ctx_" + "abc123" * 4)
BRANCHES = 15
"""The official SDKs list 20 contexts unless told otherwise."""


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2024-01-10T{clock}:00").replace(tzinfo=UTC)


@pytest.fixture
def source(server: ApiServer) -> str:
    """What the guide calls `ctx_abc123`: nine messages of the day that its times name, of which the
    third was changed at 10:00; and the last one came at 12:00."""
    space = server.store.within("one")
    space.create(SOURCE, now=at("09:00"))

    def say(number: int, clock: str) -> None:
        metadata = {"checkpoint": "codebase_indexed"} if number == 4 else {}
        content = b'{"role":"user","content":"%d"}' % number
        message = NewMessage(content=content, metadata=metadata)
        space.append_messages(SOURCE, [message], now=at(clock))

    for number in range(5):
        say(number, "09:30")
    change = Update(index=2, changes=b'{"content":"two"}')
    space.edit(SOURCE, [change], now=at("10:00"))
    say(5, "10:15")
    say(6, "11:00")
    say(7, "11:10")
    say(8, "12:00")
    return SOURCE


NOW = ["0", "1", "two", "3", "4", "5", "6", "7", "8"]
FORKS: dict[str, list[list[str]]] = {
    "forking": [NOW, NOW, NOW[:6], NOW[:6], NOW[:6]], "version": [NOW], "timestamp": [NOW[:6]],
    "index": [NOW[:6]], "metadata-index": [[*NOW[:5], "Let's continue from here."]],
    "combined": [NOW[:6]], "metadata": [NOW],
}  # fmt: skip
PROMPT = ["You are a helpful assistant.", "Help me write a marketing email."]
ANSWER = "an answer of None"


def check(found: dict[str, Any], answer: str = ANSWER) -> None:
    for name, wanted in FORKS.items():
        assert found[name] == wanted, name
    baseline, formal, casual = found["prompts"]
    assert baseline == PROMPT
    assert formal == [*PROMPT, "Write in a formal, professional tone.", answer]
    assert casual == [*PROMPT, "Write in a friendly, casual tone.", answer]
    models = ("gpt-4o", "claude-3-opus", "gemini-pro")
    assert sorted(found["models"]) == sorted([*PROMPT, f"an answer of {m}"] for m in models)
    assert found["step"] == {"success": True, "result": "done"}
    assert found["after step"] == ["first", "second", "done"]
    assert (found["rolled back"], found["rolled back success"]) == (True, False)
    assert found["branch"] == ["first", "second"]


def given(blocks: dict[str, str], source: str, branches: int = BRANCHES) -> dict[str, Any]:
    code = {name: text.replace(fork_guide.PRINTED_ID, source) for name, text in blocks.items()}
    return {"context_id": source, "blocks": code, "branches": branches}


def test_no_line_of_code_is_left_out() -> None:
    assert fork_guide.left_out() == []
    assert len(fork_guide.JAVASCRIPT) == len(fork_guide.PYTHON) == 11


@pytest.mark.full
@pytest.mark.timeout(400)
def test_python_blocks_with_the_official_sdk(
    server: ApiServer, env: dict[str, str], source: str
) -> None:
    program = str(python())
    variables = {"UC_URL": server.url, "ULTRACONTEXT_API_KEY": env["UC_KEY"]}
    command = [program, "-P", str(SCRIPTS / "python_guide.py")]
    found = run(command, variables, given(fork_guide.blocks(fork_guide.PYTHON), source))
    check(found)
    assert found["branches"] == BRANCHES
    assert "site-packages" in found["file"]


@pytest.mark.timeout(60)
def test_python_blocks_with_our_sdk(server: ApiServer, env: dict[str, str], source: str) -> None:
    """And 50 branches, which the official SDK does not list."""
    package = Path(sys.modules["ultracontext"].__file__ or "").parents[1]
    variables = {
        "ULTRACONTEXT_BASE_URL": server.url, "ULTRACONTEXT_API_KEY": env["UC_KEY"],
        "PYTHONPATH": str(package),
    }  # fmt: skip
    command = [sys.executable, "-P", str(SCRIPTS / "python_guide.py")]
    found = run(command, variables, given(fork_guide.blocks(fork_guide.PYTHON), source, 50))
    check(found)
    assert found["branches"] == 50


@pytest.mark.full
@pytest.mark.timeout(400)
def test_javascript_blocks_with_the_official_sdk(
    server: ApiServer, env: dict[str, str], source: str
) -> None:
    place = javascript("1.6.0")
    blocks = fork_guide.blocks(fork_guide.JAVASCRIPT)
    assert fork_guide.BROKEN in blocks["metadata-index"]
    blocks["metadata-index"] = blocks["metadata-index"].replace(
        fork_guide.BROKEN, fork_guide.MENDED
    )
    variables = {
        "UC_URL": server.url, "ULTRACONTEXT_API_KEY": env["UC_KEY"], "UC_SDK": str(place),
    }  # fmt: skip
    command = [node("1.6.0"), str(SCRIPTS / "javascript_guide.mjs")]
    sent = given({name: module(name, text) for name, text in blocks.items()}, source)
    try:
        found = run(command, variables, sent)
    finally:
        for file in place.glob("guide-*.mts"):
            file.unlink()
    check(found, "an answer of undefined")
    assert found["branches"] == BRANCHES


def module(name: str, text: str) -> str:
    """A block as a module. That of several examples of one name gives each a scope of its own; what
    later blocks and the test need is exported."""
    if name == "forking":
        text = "\n".join(f"{{\n{part}\n}}" for part in text.split("\n\n"))
    names = re.findall(r"^(?:const|async function) (baseline|\w+Step|\w+Message|getBranches)\b",
                       text, re.MULTILINE)  # fmt: skip
    return f"{text}\nexport {{ {', '.join(names)} }};\n"
