"""What the drivers stand on, without any program: a check that says yes to all proves nothing."""

from __future__ import annotations

import json
import urllib.request
from typing import Any

import pytest
from real_agents import DRIVERS, PROGRAMS, Call, Entry, ModelServer, Step, missing
from real_agents.conversation import Script
from real_agents.programs import EVERYTHING
from real_agents.server import Dialect

CALL = Call(id="call_1", name="look", input={"command": "cat note.txt"})
ASKED = Entry(kind="user", text="what does it say")
CALLED = Entry(kind="tool_call", text="look\ncat note.txt", name="look", call_id="call_1")
RESULT = Entry(kind="tool_result", text="heliotrope", call_id="call_1")


def test_missing_wants_every_text_and_their_order() -> None:
    entries = [ASKED, CALLED, RESULT]
    assert missing(entries, ["what does", "say", "note.txt", "heliotrope"]) == []
    assert missing(entries, ["what does", "tulip"]) == ["tulip"]
    assert missing(entries, ["heliotrope", "what does"]) == ["what does"]
    assert missing(entries, ["say", "what does"]) == ["what does"]


def test_a_repeated_request_gets_the_same_step_and_a_longer_one_the_next() -> None:
    script = Script(turns={"what does": [Step(call=CALL), Step(text="it says heliotrope")]})
    assert script.step([ASKED]) == script.step([ASKED]) == Step(call=CALL)
    assert script.step([ASKED, CALLED, RESULT]) == Step(text="it says heliotrope")
    assert script.step([RESULT]) is None


def test_the_latest_prompt_is_answered() -> None:
    script = Script(turns={"second": [Step(text="two")], "first": [Step(text="one")]})
    first, second = Entry(kind="user", text="first"), Entry(kind="user", text="second")
    assert script.step([first, second]) == Step(text="two")
    assert script.step([second, first]) == Step(text="one")


def test_every_program_is_pinned_by_its_hash() -> None:
    assert {program.agent for program in PROGRAMS} == set(DRIVERS)
    assert len({program.name for program in EVERYTHING}) == len(EVERYTHING)
    assert all((p.integrity or "").startswith("sha512-") for p in PROGRAMS)


REQUESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "claude": (
        "/v1/messages?beta=true",
        {"tools": [{}], "stream": True, "messages": [{"role": "user", "content": ASKED.text}]},
    ),
    "codex": ("/v1/responses", {"tools": [{}], "stream": True, "input": ASKED.text}),
    "gemini": (
        "/v1beta/models/m:streamGenerateContent?alt=sse",
        {
            "tools": [{"functionDeclarations": [{}]}],
            "contents": [{"role": "user", "parts": [{"text": ASKED.text}]}],
        },
    ),
}


@pytest.mark.parametrize("agent", REQUESTS)
def test_an_answer_holds_text_and_call_and_the_request_is_remembered(agent: str) -> None:
    dialect: Dialect = DRIVERS[agent].dialect
    path, body = REQUESTS[agent]
    with ModelServer(dialect=dialect) as model:
        model.script.turns["what does"] = [Step(text="I look.", call=CALL)]
        asked = urllib.request.Request(model.url + path, json.dumps(body).encode())
        with urllib.request.urlopen(asked, timeout=10) as answer:
            said = answer.read().decode()
    assert "I look." in said
    assert "cat note.txt" in said
    (request,) = model.requests
    assert request.turn
    assert list(request.entries) == [ASKED]
    assert request.before("what does") == []
    assert model.unscripted == []
