"""What is written for Gemini CLI, and that its own reader gives it back."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import (
    BEGAN,
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
)

from ultracontext.agents.gemini.folder import folder_for, hashed, slug
from ultracontext.agents.gemini.guard import guarded, unguarded
from ultracontext.agents.gemini.writer import LIMITS
from ultracontext.formats import Conversation, Loss

LINES, DOCUMENT, HASHED = "0.61.0", "0.29.0", "0.24.5"
BOTH = pytest.mark.parametrize("version", [LINES, DOCUMENT])

TOLD = conversation(
    [entry("user", "what is in it?"), entry("assistant", "I look."),
     *called("Bash", {"command": "ls"}, "note.txt"), entry("assistant", "A note.")],
    [entry("user", "/etc/hosts is broken"), entry("assistant", "It is.")],
)  # fmt: skip


def document(plan: Any, version: str) -> dict[str, Any]:
    """Both formats as the older one."""
    data = plan.files[-1].data
    if version != LINES:
        whole: dict[str, Any] = json.loads(data)
        return whole
    head, *messages = [json.loads(line) for line in data.decode().split("\n")[:-1]]
    return {**head, "messages": messages}


@BOTH
def test_the_head_names_the_session_and_is_of_now(version: str) -> None:
    head = document(planned("gemini", version, TOLD), version)
    assert head["sessionId"] == SESSION
    assert head["projectHash"] == hashed(CWD)
    assert head["startTime"] == "2026-11-20T10:00:00.005Z"
    assert head["lastUpdated"] == "2026-11-30T12:00:00.123Z"
    assert head["ultracontext"]["from"] == "parrot"


def test_the_version_decides_on_the_format() -> None:
    endings = {v: planned("gemini", v, TOLD).source for v in ("0.38.0", "0.39.0", "1.0.0")}
    assert [path.rpartition(".")[2] for path in endings.values()] == ["json", "jsonl", "jsonl"]
    assert planned("gemini", HASHED, TOLD).source.startswith(f"tmp/{hashed(CWD)}/chats/session-")


def test_a_line_is_one_record_whatever_its_text_holds() -> None:
    told = conversation([entry("user", "one\u2028two\u2029three\nfour"), entry("assistant", "ok")])
    data = planned("gemini", LINES, told).files[-1].data
    assert data.count(b"\n") == 3
    assert data.endswith(b"\n")


@BOTH
def test_a_result_stands_in_its_call_and_nowhere_else(version: str) -> None:
    messages = document(planned("gemini", version, TOLD), version)["messages"]
    assert [m["type"] for m in messages] == ["user", "gemini", "gemini", "user", "gemini"]
    (call,) = messages[1]["toolCalls"]
    assert messages[1]["content"] == "I look."
    assert (call["name"], call["args"], call["status"]) == ("Bash", {"command": "ls"}, "success")
    (part,) = call["result"]
    assert part["functionResponse"]["response"] == {"output": "note.txt"}
    assert part["functionResponse"]["id"] == call["id"]


@BOTH
def test_parallel_calls_are_one_answer(version: str) -> None:
    one, two = called("a", {}, "1", call_id="x"), called("b", {}, "2", call_id="y", is_error=True)
    told = conversation([entry("user", "go"), one[0], two[0], one[1], two[1]])
    plan = planned("gemini", version, told)
    (_, answer) = document(plan, version)["messages"]
    assert [call["status"] for call in answer["toolCalls"]] == ["success", "error"]
    assert seen(read_back("gemini", plan)[0]) == wanted(plan.expected)


@BOTH
@pytest.mark.parametrize(
    "text", ["/x", "?", "  /x", "<session_context>a", "<hook_context>", "<state_snapshot>b"]
)
def test_a_text_that_would_be_dropped_is_saved_and_counted(version: str, text: str) -> None:
    plan = planned("gemini", version, conversation([entry("user", text), entry("assistant", "a")]))
    (part,) = document(plan, version)["messages"][0]["content"]
    assert part["text"] == "\u200b" + text
    assert plan.losses == (Loss(kind="text_safety", count=1),)
    assert [m.text for m in read_back("gemini", plan)[0] if m.kind == "user"] == [text]


def test_an_answer_may_begin_as_it_likes() -> None:
    plan = planned("gemini", LINES, conversation([entry("user", "a"), entry("assistant", "/x")]))
    assert plan.losses == ()
    assert document(plan, LINES)["messages"][1]["content"] == "/x"


def test_a_pending_prompt_goes_to_the_command_saved() -> None:
    argv = planned("gemini", LINES, replace(TOLD, pending="/etc is")).command.argv
    assert argv == ("gemini", "--resume", SESSION, "--prompt-interactive=\u200b/etc is")
    assert planned("gemini", LINES, TOLD).command.argv == ("gemini", "--resume", SESSION)


@BOTH
def test_pictures_are_parts_of_their_prompt(version: str) -> None:
    told = conversation([entry("user", "look", images=(PICTURE,)), entry("assistant", "seen")])
    plan = planned("gemini", version, told)
    assert document(plan, version)["messages"][0]["content"] == [
        {"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": PNG}}
    ]  # fmt: skip
    assert read_back("gemini", plan)[0][1].metadata["media"]


def test_call_ids_lose_the_name_before_them_and_stay_unique() -> None:
    one = called("a", {}, "1", call_id="a__x")
    two = called("a", {}, "2", call_id="x")
    plan = planned("gemini", LINES, conversation([entry("user", "go"), *one, *two]))
    assert [e.call_id for e in plan.expected] == ["", "x", "x", "x-1", "x-1"]
    assert seen(read_back("gemini", plan)[0]) == wanted(plan.expected)


def test_the_file_is_never_of_this_minute() -> None:
    for began in (NOW, NOW + timedelta(hours=1)):
        told = conversation([replace(entry("user", "now"), timestamp=began)])
        turns = tuple(
            replace(t, entries=tuple(replace(e, timestamp=began) for e in t.entries))
            for t in told.turns
        )
        path = planned("gemini", LINES, replace(told, turns=turns)).source
        assert path == "tmp/acme-api/chats/session-2026-11-30T11-58-5e551011.jsonl"
    assert "session-2026-11-20T10-00-" in planned("gemini", LINES, TOLD).source
    assert BEGAN < NOW


def test_title_and_origin_are_read_back() -> None:
    _, facts = read_back("gemini", planned("gemini", LINES, replace(TOLD, title="Fix it")))
    assert (facts.title, facts.relation, facts.parent_session) == ("Fix it", "switch", "s-1")
    assert facts.project_path == CWD
    assert facts.unknown == {}


# ---- which folder --------------------------------------------------------------------------------
def registry(**paths: str) -> str:
    return json.dumps({"projects": {path: name for name, path in paths.items()}})


@pytest.mark.parametrize(
    ("found", "name", "marker"),
    [
        ({}, "acme-api", CWD),
        ({"projects": registry(zzz=CWD)}, "zzz", CWD),
        ({"projects": registry(zzz=CWD), "markers": {"tmp/zzz/.project_root": CWD}}, "zzz", None),
        ({"markers": {"tmp/odd/.project_root": CWD}}, "odd", None),
        ({"shadows": {"history/odd/.project_root": CWD + "\n"}}, "odd", CWD),
        ({"markers": {"tmp/acme-api/.project_root": "/other"}}, "acme-api-1", CWD),
        ({"projects": json.dumps({"projects": {"/other": "acme-api"}})}, "acme-api-1", CWD),
        (
            {"projects": registry(zzz=CWD), "markers": {"tmp/zzz/.project_root": "/other"}},
            "acme-api", CWD,
        ),
        ({"projects": json.dumps({"projects": {CWD: "Not Legal"}})}, "acme-api", CWD),
        ({"projects": "{torn"}, "acme-api", CWD),
        ({"projects": None, "markers": None, "shadows": None}, "acme-api", CWD),
    ],
)  # fmt: skip
def test_the_folder_is_the_one_in_which_the_cli_looks(
    found: dict[str, Any], name: str, marker: str | None
) -> None:
    folder = folder_for(CWD, found)
    assert (folder.name, folder.marker) == (name, marker)
    files = planned("gemini", LINES, TOLD, found=found).files
    assert len(files) == (2 if marker else 1)
    assert files[-1].path.startswith(f"tmp/{name}/chats/")


@pytest.mark.parametrize(
    ("path", "name"),
    [("/a/Acme API", "acme-api"), ("/a/--x__y", "x-y"), ("/", "project"), ("/a/日本", "project")],
)
def test_natural_names(path: str, name: str) -> None:
    assert slug(path) == name


# ---- laws ----------------------------------------------------------------------------------------
@given(st.text())
def test_the_guard_comes_off_again(text: str) -> None:
    assert unguarded(guarded(text)) == text


@given(conversations(LIMITS), st.sampled_from([LINES, DOCUMENT, HASHED]))
def test_what_is_written_is_read_back(told: Conversation, version: str) -> None:
    plan = planned("gemini", version, told)
    messages, facts = read_back("gemini", plan)
    assert seen(messages, notes(told)) == wanted(plan.expected)
    assert facts.unknown == {}
    assert planned("gemini", version, told) == plan
