"""Turns of a log: what was typed, answered and called, each once."""

from __future__ import annotations

from typing import Any

import pytest
from recordings import minted

from ultracontext.agents.gemini.guard import guarded
from ultracontext.model import MessageId


@pytest.mark.parametrize(
    "content", ["hello", {"text": "hello"}, [{"text": "hello"}], ["hello"], [{"text": "hel"}, "lo"]]
)
def test_all_forms_of_content_read_alike(lab: Any, content: Any) -> None:
    found = lab.read_log(lab.user("u1", content), lab.gemini("g1", content))
    assert ["".join(text.split()) for text in found.spoken] == ["hello", "hello"]


def test_a_message_that_comes_again_is_its_newest_form(lab: Any) -> None:
    again = lab.gemini("g1", "looking", toolCalls=[lab.call("c1", "found")])
    found = lab.read_log(lab.user("u1", "go"), lab.gemini("g1", "looking"), again)
    assert found.said == [
        ("user", "go"), ("assistant", "looking"), ("tool_call", "shell(ls)"),
        ("tool_result", "found"),
    ]  # fmt: skip


def test_a_result_that_stands_twice_is_one(lab: Any) -> None:
    found = lab.read_log(
        lab.gemini("g1", "", toolCalls=[lab.call("shell__shell_1_0", "found")]),
        lab.user("u2", [lab.response("shell__shell_1_0", "found")]),
    )
    assert [m.text for m in found.kinds("tool_result")] == ["found"]
    shell = found.kinds("tool_call")[0].tool
    assert shell.output == found.kinds("tool_result")[0].tool.output
    assert shell.is_error is False or shell.is_error is None


def test_the_copy_of_a_result_may_leave_out_the_tools_name(lab: Any) -> None:
    found = lab.read_log(
        lab.gemini("g1", "", toolCalls=[lab.call("shell__shell_1_0", "found")]),
        lab.user("u2", [lab.response("shell_1_0", "found")]),
    )
    assert len(found.kinds("tool_result")) == 1


def test_results_in_a_record_of_their_own_find_their_calls(lab: Any) -> None:
    bare = {"id": "c1", "name": "shell", "args": {}}
    found = lab.read_log(
        lab.gemini("g1", "", toolCalls=[bare]), lab.user("u2", [lab.response("c1", "late")])
    )
    assert [m.text for m in found.kinds("tool_result")] == ["late"]
    assert "late" in str(found.kinds("tool_call")[0].tool.output)


def test_calls_in_the_content_are_calls(lab: Any) -> None:
    part = {"functionCall": {"id": "c1", "name": "My Tool", "args": {"x": 1}}}
    found = lab.read_log(
        lab.gemini("g1", [{"text": "so"}, part]), lab.user("u2", [lab.response("c1", "out")])
    )
    assert [m.kind for m in found.messages][-3:] == ["assistant", "tool_call", "tool_result"]
    assert found.kinds("tool_result")[0].tool.name == "My Tool"


def test_an_id_that_is_used_again_keeps_both_calls(lab: Any) -> None:
    natives = []
    for turn in ("1", "2"):
        natives.append(lab.gemini("g" + turn, "", toolCalls=[lab.call("c1", "out" + turn)]))
        natives.append(lab.user("u" + turn, [lab.response("c1", "out" + turn)]))
    found = lab.read_log(*natives)
    assert [m.text for m in found.kinds("tool_result")] == ["out1", "out2"]
    assert ["out1" in str(m.tool.output) for m in found.kinds("tool_call")] == [True, False]


def test_calls_without_an_id_keep_their_results(lab: Any) -> None:
    calls = [{**lab.call("", f"out{n}")} for n in (1, 2)]
    found = lab.read_log(
        lab.gemini("g1", "", toolCalls=calls),
        lab.user("u2", [lab.response("", "out1"), lab.response("", "out2")]),
    )
    assert [m.text for m in found.kinds("tool_result")] == ["out1", "out2"]
    assert ["out1" in str(m.tool.output) for m in found.kinds("tool_call")] == [True, False]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("plain", "plain"),
        ([{"text": "part"}], "part"),
        ([{"functionResponse": {"name": "shell", "response": {"error": "no"}}}], "no"),
        ([{"functionResponse": {"name": "shell", "response": {"a": 1}}}], '{"a":1}'),
        ([{"inlineData": {"mimeType": "image/png", "data": "QUJD"}}], "[image image/png, 3 bytes]"),
    ],
)
def test_all_forms_of_a_result_have_a_text(lab: Any, result: Any, text: str) -> None:
    found = lab.read_log(lab.gemini("g1", "", toolCalls=[lab.call("c1", result=result)]))
    assert found.kinds("tool_result")[0].text == text


def test_what_was_shown_stands_in_for_a_result(lab: Any) -> None:
    shown = lab.call("c1", result=None, resultDisplay="seen")
    assert (
        lab.read_log(lab.gemini("g1", "", toolCalls=[shown])).kinds("tool_result")[0].text == "seen"
    )


@pytest.mark.parametrize(
    ("status", "is_error"), [("success", False), ("error", True), ("cancelled", True), (None, None)]
)
def test_status_says_whether_a_call_failed(lab: Any, status: str | None, is_error: Any) -> None:
    found = lab.read_log(lab.gemini("g1", "", toolCalls=[lab.call("c1", status=status)]))
    assert [m.tool.is_error for m in found.messages if m.tool] == [is_error, is_error]


def test_thoughts_are_reasoning_before_the_answer(lab: Any) -> None:
    thought = {"subject": "Plan", "description": "first", "timestamp": "2026-01-02T03:04:04.000Z"}
    found = lab.read_log(lab.gemini("g1", "answer", thoughts=[thought]))
    assert found.said == [("reasoning", "Plan\nfirst"), ("assistant", "answer")]
    assert found.messages[1].timestamp == "2026-01-02T03:04:04.000Z"


def test_thinking_parts_are_no_answer(lab: Any) -> None:
    parts = [{"text": "hm", "thought": True}, {"text": "answer"}]
    found = lab.read_log(lab.gemini("g1", parts))
    assert found.said == [("reasoning", "hm"), ("assistant", "answer")]


def test_the_typed_form_counts_and_the_rest_is_kept(lab: Any) -> None:
    parts = [{"text": "see @a"}, {"text": "\n--- Content ---"}, {"text": "words of a"}]
    found = lab.read_log(lab.user("u1", parts, displayContent=[{"text": "see @a"}]))
    assert found.said == [("user", "see @a"), ("system", "\n--- Content ---\nwords of a")]
    assert found.facts.title == "see @a"


@pytest.mark.parametrize(
    "text",
    [
        "<session_context>\nx</session_context>",
        " <hook_context>x</hook_context>",
        "<state_snapshot>x</state_snapshot>",
        "This is the Gemini CLI. We are setting up the context for our chat.\nToday",
        "Here is the user's editor context as a JSON object. This is for your information only.",
        "System: Potential loop detected. Details: x",
    ],
)
def test_what_the_program_puts_in_is_not_typed(lab: Any, text: str) -> None:
    found = lab.read_log(lab.user("u1", [{"text": text}, {"text": "typed"}]), lab.user("u2", text))
    assert found.spoken == ["typed"]
    assert found.facts.title == "typed"
    assert [m.kind for m in found.messages].count("system") == 2


@pytest.mark.parametrize("text", ["/etc/hosts is broken", "? what", "/compress", "\u200bx"])
def test_what_begins_like_a_command_is_typed_all_the_same(lab: Any, text: str) -> None:
    assert lab.read_log(lab.user("u1", text)).spoken == [text]


@pytest.mark.parametrize("text", ["/x", " ? what", "<session_context>", "\u200b/x"])
def test_what_our_writer_saved_reads_as_it_was_typed(lab: Any, text: str) -> None:
    found = lab.read_log(lab.user("u1", guarded(text)))
    assert found.spoken == [text]
    assert found.kinds("user")[0].metadata["guarded"] is True


def test_pictures_are_notes(lab: Any) -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "QUJDRA=="}}
    found = lab.read_log(lab.user("u1", [{"text": "what?"}, picture]))
    assert found.spoken == ["what?\n[image image/png, 4 bytes]"]
    assert found.kinds("user")[0].metadata["media"] == [{"type": "image", "mime_type": "image/png"}]
    shown = lab.read_log(lab.user("u1", [{"text": "what?"}, picture], displayContent="what?"))
    assert shown.spoken == ["what?"]


def test_notices_are_told_and_never_typed(lab: Any) -> None:
    found = lab.read_log(*({"id": kind, "type": kind, "content": kind} for kind in (
        "info", "error", "warning")))  # fmt: skip
    assert found.said == [("system", "info"), ("system", "error"), ("system", "warning")]


def test_an_empty_answer_and_an_empty_prompt_are_kept(lab: Any) -> None:
    found = lab.read_log(lab.gemini("g1", ""), lab.user("u1", ""), lab.gemini("g2", None))
    assert found.said == []
    assert [m.event_type for m in found.messages] == ["metadata", "gemini", "user", "gemini"]


def test_what_the_agent_does_not_read_is_kept_and_counted(lab: Any) -> None:
    found = lab.read_log(
        {"id": "a", "type": "assistant", "content": "x"}, {"type": "user", "content": "no id"},
        {"id": 7, "type": "user", "content": "a number"}, {"$new": 1}, {"$set": {"colour": 1}},
    )  # fmt: skip
    assert found.said == []
    assert found.facts.unknown == {"assistant": 1, "user": 2, "$new": 1, "$set.colour": 1}
    assert [m.text for m in found.messages[1:4]] == ["x", "no id", "a number"]


def test_one_id_for_a_prompt_and_an_answer_are_two(lab: Any) -> None:
    assert lab.read_log(lab.user("1", "q"), lab.gemini("1", "a")).spoken == ["q", "a"]


def test_facts(lab: Any) -> None:
    counted = {"input": 10, "output": 5, "thoughts": 2, "total": 17}
    found = lab.read_log(
        lab.user("u1", "first\n  prompt"),
        lab.gemini("g1", "", tokens=counted, model="gemini-3"),
        lab.gemini("g1", "a", tokens=counted, model="gemini-3", toolCalls=[lab.call()]),
        {"$set": {"lastUpdated": "2026-01-03T00:00:00.000Z"}},
    )
    facts = found.facts
    assert (facts.title, facts.title_source) == ("first prompt", "prompt")
    assert (facts.tokens, facts.model, facts.relation) == (17, "gemini-3", None)
    assert facts.started_at == "2026-01-02T03:04:00.000Z"
    assert facts.updated_at == "2026-01-03T00:00:00.000Z"


def test_a_summary_that_comes_later_is_the_title(lab: Any) -> None:
    found = lab.read_log(
        lab.user("u1", "x"), {"$set": {"summary": "The work", "memoryScratchpad": {}}}
    )
    assert (found.facts.title, found.facts.title_source) == ("The work", "agent")


def test_a_whole_output_is_fetched(lab: Any) -> None:
    path = "tool-outputs/session-s/shell_c1.txt"
    output = f"Output too large. For full output see: /home/x/.gemini/tmp/acme-api/{path}\n..."
    found = lab.read_log(
        lab.gemini("g1", "", toolCalls=[lab.call("c1", output)]),
        known={f"tmp/acme-api/{path}": b"all of it"},
    )
    result = found.kinds("tool_result")[0]
    assert result.text == "all of it"
    assert result.metadata["spilled"] is True
    assert "Output too large" in str(result.tool.output)


def test_opaque_records_are_meta(lab: Any) -> None:
    record = minted(b"{cut", agent="gemini", damage="cut")
    found = lab.feed(lab.SESSION, [(record, MessageId("msg_1"))])
    assert [(m.kind, m.event_type, m.text) for m in found.messages] == [("meta", "cut", "{cut")]


def test_a_subagents_prompt_is_a_task_of_its_parent(lab: Any) -> None:
    path = f"{lab.CHATS}/{lab.SESSION}/agent-7.jsonl"
    files = lab.files().log(
        path, [lab.meta("agent-7", kind="subagent"), lab.user("u", "do"), lab.gemini("g", "did")]
    )
    found = files.read("agent-7")
    assert found.said == [("system", "do"), ("assistant", "did")]
    assert (found.facts.relation, found.facts.parent_session) == ("subagent", lab.SESSION)
    assert found.facts.title == "do"


def test_messages_of_the_store_and_of_strangers_keep_their_place(lab: Any) -> None:
    from ultracontext.agents.gemini import SPEC
    from ultracontext.model import Message

    reader = SPEC.reader(lab.SESSION)
    fed = []
    for place, native in enumerate([lab.user("u1", "a"), lab.user("u2", "b")]):
        record = minted(native, agent="gemini", source=f"/root/{lab.LOG}", start=place)
        fed += reader.feed(record, MessageId(f"msg_{place}"))
    stranger = Message(id="msg_x", role="system", kind="system", event_type="gap", text="gap")
    texts = [m.text for m in reader.settle([stranger, fed[0], stranger, fed[1]])]
    assert texts == ["gap", "a", "gap", "b"]
