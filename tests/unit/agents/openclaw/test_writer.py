"""What is written for OpenClaw, and that its own reader gives it back."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import (
    CWD,
    NOW,
    PICTURE,
    PNG,
    SESSION,
    called,
    conversation,
    conversations,
    entry,
    notes,
    planned,
    read_back,
    seen,
    wanted,
    writer,
)

from ultracontext.agents.openclaw.tools import KEPT, OWN
from ultracontext.agents.openclaw.writer import FILES, ROWS
from ultracontext.errors import WriteRefusedError
from ultracontext.formats import Conversation, FileWrite, PutKey, RunProgram, WritePlan

IN_FILES, IN_ROWS = "2026.7.35", "2026.9.6"
BOTH = pytest.mark.parametrize("version", [IN_FILES, IN_ROWS])
KEY = f"agent:main:explicit:{SESSION}"

TOLD = conversation(
    [entry("user", "what is in it?"), entry("assistant", "I look."),
     *called("exec", {"command": "ls"}, "note.txt"), entry("assistant", "A note.")],
    [entry("user", "thanks"), entry("assistant", "Welcome.")],
)  # fmt: skip


def records(plan: WritePlan) -> list[dict[str, Any]]:
    (file,) = plan.files
    return [json.loads(line) for line in file.data.decode().split("\n")[:-1]]


@pytest.mark.parametrize(
    ("version", "found"),
    [
        ("2026.7.1", "files"), ("2026.7.35", "files"), ("2026.7.2", "files"),
        ("2026.7.2-beta.1", "sqlite"), ("2026.8.1", "sqlite"), ("2026.9.6", "sqlite"),
        ("2027.1.0", "sqlite"),
    ],
)  # fmt: skip
def test_the_version_decides_on_the_generation(version: str, found: str) -> None:
    assert writer("openclaw", version).format == found


@BOTH
def test_the_records_form_one_chain_from_the_first(version: str) -> None:
    header, *chain = records(planned("openclaw", version, TOLD))
    assert (header["type"], header["id"], header["cwd"]) == ("session", SESSION, CWD)
    assert chain[0]["parentId"] is None
    assert all(b["parentId"] == a["id"] for a, b in pairwise(chain))
    assert len({record["id"] for record in chain}) == len(chain)


def test_lines_are_as_the_program_itself_writes_them() -> None:
    told = conversation([entry("user", "日本 \u2028 é"), entry("assistant", "ok")])
    (file,) = planned("openclaw", IN_FILES, told).files
    assert "日本 \u2028 é".encode() in file.data
    assert b'": ' not in file.data
    assert file.data.endswith(b"}\n")


def test_an_answer_and_its_calls_are_one_record() -> None:
    one, two = called("exec", {"a": 1}, "1", call_id="x"), called("read", {}, "2", call_id="y")
    told = conversation(
        [entry("user", "go"), entry("assistant", "Two."), one[0], two[0], one[1], two[1]]
    )
    messages = [r["message"] for r in records(planned("openclaw", IN_FILES, told))[2:]]
    assert [m["role"] for m in messages] == ["user", "assistant", "toolResult", "toolResult"]
    assert [block["type"] for block in messages[1]["content"]] == ["text", "toolCall", "toolCall"]
    assert messages[1]["stopReason"] == "toolUse"
    assert messages[2]["toolCallId"] == "x"
    assert messages[2]["toolName"] == "exec"


def test_the_list_gets_times_of_now() -> None:
    (step,) = planned("openclaw", IN_FILES, replace(TOLD, title="Fix it")).steps
    assert isinstance(step, PutKey)
    assert step.path == "agents/main/sessions/sessions.json"
    assert step.keys == (KEY,)
    now = int(NOW.timestamp() * 1000)
    assert step.value == {
        "sessionId": SESSION, "updatedAt": now, "sessionStartedAt": now, "lastInteractionAt": now,
        "displayName": "Fix it",
    }  # fmt: skip


def test_rows_are_taken_in_by_its_own_command() -> None:
    plan = planned("openclaw", IN_ROWS, TOLD, program="/opt/openclaw")
    index, taken = plan.steps
    assert isinstance(index, PutKey)
    assert isinstance(taken, RunProgram)
    assert taken.argv[:4] == ("/opt/openclaw", "doctor", "--session-sqlite", "import")
    assert taken.environment == {"OPENCLAW_STATE_DIR": "/home/dev/.openclaw"}
    assert plan.source in taken.backup
    assert plan.source.endswith("openclaw-agent.sqlite")
    assert taken.undo[:3] == ("/opt/openclaw", "sessions", "delete")


@pytest.mark.parametrize(
    ("found", "code"),
    [
        ({"gateway": True}, "gateway"), ({"index": '{"agent:main:x": {}}'}, "not-imported"),
        ({"index": "{torn"}, "not-imported"),
    ],
)  # fmt: skip
def test_rows_are_refused_while_others_own_the_store(found: dict[str, Any], code: str) -> None:
    with pytest.raises(WriteRefusedError) as refused:
        planned("openclaw", IN_ROWS, TOLD, found=found)
    assert refused.value.code == code
    assert refused.value.hint
    planned("openclaw", IN_FILES, TOLD, found=found)


@pytest.mark.parametrize("found", [{"gateway": False, "index": None}, {"index": "{}"}, {}])
def test_rows_are_written_otherwise(found: dict[str, Any]) -> None:
    assert len(planned("openclaw", IN_ROWS, TOLD, found=found).steps) == 2


@BOTH
def test_the_command_opens_the_session_by_its_key(version: str) -> None:
    command = planned("openclaw", version, TOLD).command
    assert command.argv == ("openclaw", "tui", "--local", "--session", KEY)
    assert command.cwd == CWD
    told = replace(TOLD, pending="-go on")
    assert planned("openclaw", version, told).command.argv[-1] == "--message=-go on"


def test_pictures_of_prompts_and_results() -> None:
    result = called("read", {}, "seen", images=(PICTURE,))
    told = conversation([entry("user", "look", images=(PICTURE,)), *result])
    messages = [r["message"] for r in records(planned("openclaw", IN_FILES, told))[2:]]
    picture = {"type": "image", "data": PNG, "mimeType": "image/png"}
    assert messages[0]["content"] == [{"type": "text", "text": "look"}, picture]
    assert messages[2]["content"] == [{"type": "text", "text": "seen"}, picture]


def test_title_and_origin_are_read_back() -> None:
    _, facts = read_back("openclaw", planned("openclaw", IN_FILES, replace(TOLD, title="Fix it")))
    assert (facts.title, facts.title_source) == ("Fix it", "agent")
    assert (facts.relation, facts.parent_session) == ("switch", "s-1")
    given = replace(TOLD, title="Mine", title_given=True)
    _, facts = read_back("openclaw", planned("openclaw", IN_FILES, given))
    assert (facts.title, facts.title_source) == ("Mine", "name")


def test_every_mapped_tool_is_one_that_the_program_has() -> None:
    assert set(KEPT.values()) <= set(OWN)
    assert all(KEPT[name] == name for name in OWN)


@BOTH
@given(data=st.data())
def test_what_is_written_is_read_back(version: str, data: st.DataObject) -> None:
    limits = FILES if version == IN_FILES else ROWS
    told: Conversation = data.draw(conversations(limits))
    plan = planned("openclaw", version, told)
    files = replace(plan, source=plan.files[0].path)
    messages, facts = read_back("openclaw", files)
    assert seen(messages, notes(told)) == wanted(plan.expected)
    assert facts.unknown == {}
    assert planned("openclaw", version, told) == plan
    assert isinstance(plan.files[0], FileWrite)
