"""What the drivers stand on, without any program: a check that says yes to all proves nothing."""

from __future__ import annotations

import json
import shutil
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import evidence
import pytest
from losses import measure
from real_agents import DRIVERS, PROGRAMS, Call, Entry, ModelServer, Step, missing
from real_agents.conversation import Script
from real_agents.programs import EVERYTHING
from real_agents.server import Dialect
from switch_matrix import fixed

from ultracontext.model import Message, Tool

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


# ---- evidence of the matrix ----------------------------------------------------------------------
OUTCOME = {
    "source": "claude", "source_version": "2.0.77", "target": "gemini", "version": "0.61.0",
    "date": "2026-11-30", "test": "t", "passed": True,
}  # fmt: skip


def test_outcomes_become_evidence_that_can_be_imported(tmp_path: Path) -> None:
    shutil.copytree(evidence.AGENTS, tmp_path / "agents")
    others = [row for row in evidence.rows_of("gemini") if row[:2] != ("claude", "2.0.77")]
    later = {**OUTCOME, "source_version": "9.9.9"}
    failed = {**later, "passed": False}
    found = [OUTCOME, later, failed]
    assert evidence.keep(found, {"gemini": "X"}, tmp_path / "agents") == ["gemini"]
    written: dict[str, Any] = {}
    exec((tmp_path / "agents" / "gemini" / evidence.FILE).read_text(), written)
    rows = {row[:3]: row for row in written["ROWS"]}
    assert rows["claude", "2.0.77", "0.61.0"][3] == "2026-11-30"
    assert ("claude", "9.9.9", "0.61.0") not in rows
    assert {row[:3] for row in others} <= set(rows)
    runs = {run.source_version: run for run in written["RUNS"] if run.source == "claude"}
    assert runs["2.0.77"].target == "gemini"
    assert runs["2.0.77"].test.endswith("test_history_arrives[claude-2.0.77-to-gemini-0.61.0]")
    assert "9.9.9" not in runs


def test_the_code_of_a_cell_is_that_of_its_two_agents(tmp_path: Path) -> None:
    shutil.copytree(evidence.AGENTS, tmp_path / "agents")
    before = evidence.code_of("claude", "gemini", tmp_path / "agents")
    assert before == evidence.code_of("gemini", "claude")
    (tmp_path / "agents" / "codex" / "writer.py").write_text("changed")
    (tmp_path / "agents" / "gemini" / evidence.FILE).write_text("changed")
    assert evidence.code_of("claude", "gemini", tmp_path / "agents") == before
    (tmp_path / "agents" / "gemini" / "writer.py").write_text("changed")
    assert evidence.code_of("claude", "gemini", tmp_path / "agents") != before


def test_a_cell_that_was_never_run_is_unproven() -> None:
    assert evidence.unproven("claude", "0.0.1", "gemini", "0.61.0")


def test_every_program_is_among_the_fixed_cells_as_source_and_as_target() -> None:
    names = {program.name for program in PROGRAMS}
    chosen = fixed()
    assert len(chosen) == 16
    assert {source.name for source, _ in chosen} == {target.name for _, target in chosen} == names


# ---- measured losses -----------------------------------------------------------------------------
def said(kind: Any, text: str = "", **tool: Any) -> Message:
    made = Tool(**tool) if tool else None
    return Message(
        id=f"m{text}{tool}", role="user", kind=kind, event_type="x", text=text, tool=made
    )


TALK = [
    said("user", "what is it"), said("assistant", "I look"),
    said("tool_call", call_id="a", name="Bash", input={"command": "ls -l"}),
    said("tool_result", "note.txt", call_id="a", output="note.txt"),
    said("assistant", "a note"),
]  # fmt: skip
SENT = [
    Entry(kind="user", text="what is it"), Entry(kind="assistant", text="I look"),
    Entry(kind="tool_call", text="Bash\nls -l", name="Bash", call_id="1"),
    Entry(kind="tool_result", text="note.txt", call_id="1"),
    Entry(kind="assistant", text="a note"),
]  # fmt: skip


def without(number: int) -> list[Entry]:
    return [entry for place, entry in enumerate(SENT) if place != number]


def test_nothing_is_lost_where_all_arrives() -> None:
    found = measure(TALK, TALK, SENT)
    assert (found.lost, found.missing) == (Counter(), [])


@pytest.mark.parametrize("number", range(5))
def test_whatever_does_not_arrive_is_missed(number: int) -> None:
    assert measure(TALK, TALK, without(number)).missing


def test_what_comes_in_another_order_is_missed() -> None:
    assert measure(TALK, TALK, [SENT[4], *SENT[:4]]).missing
    assert measure(TALK, TALK, [*SENT[:2], SENT[4], *SENT[2:4]]).missing
    assert measure(TALK, TALK, [*SENT[:2], SENT[3], SENT[2], SENT[4]]).missing


def test_losses_are_told_by_kind() -> None:
    told = Entry(kind="assistant", text='[called Bash] {"command": "ls -l"}\nnote.txt')
    assert measure(TALK, TALK, [*SENT[:2], told, SENT[4]]).lost == {"tool": 1}
    other = Entry(kind="tool_call", text="exec\nls -l", name="exec", call_id="1")
    assert measure(TALK, TALK, [*SENT[:2], other, *SENT[3:]]).lost == {"tool": 1}
    saved = Entry(kind="user", text="\u200bwhat is it")
    assert measure(TALK, TALK, [saved, *SENT[1:]]).lost == {"text_safety": 1}
    thought = [*TALK, said("reasoning", "hm")]
    assert measure(thought, thought, SENT).lost == {"thinking": 1}
    assert measure([*TALK, said("user", "old")], TALK, SENT).lost == {"compacted": 1}
    system = [*TALK, said("system", "context")]
    assert measure(system, system, SENT).lost == {"system": 1}
    masked = [said("user", "the key [redacted:github-token:0a1b2c3d]")]
    sent = [Entry(kind="user", text=masked[0].text)]
    assert measure(masked, masked, sent).lost == {"mask": 1}
