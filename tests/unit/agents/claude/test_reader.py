"""Messages of single records."""

from __future__ import annotations

from typing import Any

import pytest
from recordings import minted

from ultracontext.agents.claude.reader import ClaudeReader
from ultracontext.model import Base, Message, MessageId

PIXEL = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "QUJDRA=="},
}


def shown(messages: list[Message]) -> list[tuple[str, str, str]]:
    return [(m.kind, m.event_type, m.text) for m in messages]


def test_typed_prompt_and_answer(read: Any, chain: Any) -> None:
    messages, _ = read(chain.user("Fix it"), chain.answer("Fixed."))
    assert shown(messages) == [("user", "user", "Fix it"), ("assistant", "assistant", "Fixed.")]
    assert [m.role for m in messages] == ["user", "assistant"]
    assert messages[0].timestamp == "2026-01-02T03:04:01.000Z"
    assert messages[0].metadata == {"uuid": "u1", "cwd": "/w/app", "git_branch": "main"}
    assert messages[1].metadata == {"uuid": "u2", "message_id": "msg_1", "model": "claude-opus-5-5"}


def test_change_of_folder_and_branch_is_told_once(read: Any, chain: Any) -> None:
    messages, _ = read(
        chain.user("a"), chain.user("b", cwd="/w/app/src"), chain.user("c", cwd="/w/app/src"),
        chain.user("d", cwd=None, gitBranch="next"), chain.user("e", gitBranch=""),
    )  # fmt: skip
    assert [m.metadata.get("cwd") for m in messages] == [
        "/w/app",
        "/w/app/src",
        None,
        None,
        "/w/app",
    ]
    assert [m.metadata.get("git_branch") for m in messages] == ["main", None, None, "next", None]


def test_lines_of_one_answer_are_its_parts_p21(read: Any, chain: Any) -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "x"}
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    messages, facts = read(
        chain.answer(thought, answer="m"),
        chain.answer("Done.", answer="m"),
        chain.answer(call, answer="m"),
    )
    assert shown(messages) == [
        ("reasoning", "assistant", "Hm."),
        ("assistant", "assistant", "Done."),
        ("tool_call", "assistant", "Bash(ls)"),
    ]
    assert {m.metadata["message_id"] for m in messages} == {"m"}
    assert facts.tokens == 15


def test_blocks_of_one_record_are_messages_of_one_node(read: Any, chain: Any) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/a"}}
    messages, _ = read(chain.answer("One.", "Two.", call, "Three."))
    assert [m.text for m in messages] == ["One.\nTwo.", "Read(/a)", "Three."]
    assert [m.id.partition(".")[2] for m in messages] == ["", "1", "2"]


def test_empty_text_blocks_are_kept_p36(read: Any, chain: Any) -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}
    messages, _ = read(chain.answer("", call, "  "))
    assert shown(messages) == [
        ("assistant", "assistant", ""),
        ("tool_call", "assistant", "Bash()"),
        ("assistant", "assistant", "  "),
    ]


def test_redacted_thinking_is_marked(read: Any, chain: Any) -> None:
    [message], _ = read(chain.answer({"type": "redacted_thinking", "data": "RmFr"}))
    assert (message.kind, message.text, message.metadata["redacted"]) == ("reasoning", "", True)


def test_prompt_with_pictures_is_one_message(read: Any, chain: Any) -> None:
    text = {"type": "text", "text": "What is this?"}
    [message], _ = read(chain.user([text, PIXEL]))
    assert message.kind == "user"
    assert message.text == "What is this?\n[image image/png, 4 bytes]"
    assert message.metadata["media"] == [{"type": "image", "media_type": "image/png"}]


@pytest.mark.parametrize(
    ("block", "note"),
    [
        ({"type": "image"}, "[image]"),
        ({"type": "image", "source": "x"}, "[image]"),
        ({"type": "image", "source": {"type": "url", "url": "https://x/y"}}, "[image https://x/y]"),
        (
            {
                "type": "document",
                "source": {"type": "text", "media_type": "text/plain", "data": "abc"},
            },
            "[document text/plain, 3 characters]",
        ),
    ],
)
def test_media_without_bytes(read: Any, chain: Any, block: Any, note: str) -> None:
    [message], _ = read(chain.user([block]))
    assert (message.kind, message.text) == ("user", note)


def test_prompt_of_several_blocks_is_one_message(read: Any, chain: Any) -> None:
    blocks = [{"type": "text", "text": "One"}, {"type": "text", "text": "Two"}]
    assert shown(read(chain.user(blocks))[0]) == [("user", "user", "One\nTwo")]


def test_injected_block_beside_a_typed_one_is_told_apart(read: Any, chain: Any) -> None:
    blocks = [
        {"type": "text", "text": "<ide_opened_file>a.py</ide_opened_file>"},
        {"type": "text", "text": "Fix it"},
    ]
    assert shown(read(chain.user(blocks))[0]) == [
        ("system", "injected", "a.py"),
        ("user", "user", "Fix it"),
    ]


@pytest.mark.parametrize(
    ("fields", "event_type"),
    [
        ({"isMeta": True}, "injected"),
        ({"isCompactSummary": True, "isVisibleInTranscriptOnly": True}, "compact_summary"),
        ({"rowSource": "harness"}, "injected"),
        ({"origin": {"kind": "task-notification"}}, "injected"),
    ],
)
def test_records_that_the_program_wrote(
    read: Any, chain: Any, fields: dict[str, Any], event_type: str
) -> None:
    for content in ("Words.", [{"type": "text", "text": "Words."}]):
        messages, _ = read(chain.user(content, **fields))
        assert shown(messages) == [("system", event_type, "Words.")]


@pytest.mark.parametrize(
    "fields",
    [{"origin": {"kind": "human"}}, {"rowSource": "local"}, {"isMeta": False}, {"origin": 7}],
)
def test_records_that_a_person_wrote(read: Any, chain: Any, fields: dict[str, Any]) -> None:
    assert shown(read(chain.user("Words.", **fields))[0]) == [("user", "user", "Words.")]


def test_interrupt_keeps_its_kind_whoever_wrote_the_row(read: Any, chain: Any) -> None:
    blocks = [{"type": "text", "text": "[Request interrupted by user]"}]
    messages, _ = read(
        chain.answer("Once upon", isAbortedMidStream=True), chain.user(blocks, rowSource="harness")
    )
    assert shown(messages) == [
        ("assistant", "assistant", "Once upon"),
        ("system", "interrupt", "[Request interrupted by user]"),
    ]
    assert messages[0].metadata["aborted"] is True


def test_api_error_is_no_answer(read: Any, chain: Any) -> None:
    [message], facts = read(
        chain.answer(
            "API Error: 500",
            isApiErrorMessage=True,
            error="server_error",
            message={"model": "<synthetic>"},
        )
    )
    assert (message.role, message.kind, message.text) == ("system", "system", "API Error: 500")
    assert message.metadata["error"] == "server_error"
    assert facts.model is None


def test_filler_is_no_answer(read: Any, chain: Any) -> None:
    [message], _ = read(chain.answer("No response requested.", message={"model": "<synthetic>"}))
    assert (message.kind, message.metadata["synthetic"]) == ("system", True)


def test_retries_are_shown_as_errors(read: Any, chain: Any) -> None:
    error = {"message": "500 {…}", "formatted": "500 mock internal error", "status": 500}
    [message], _ = read(chain.record("system", subtype="api_error", error=error, retryAttempt=2))
    assert (message.kind, message.text) == ("system", "500 mock internal error")
    assert message.metadata["error"] == 500
    assert message.metadata["retry"] == 2


def test_call_and_result_are_paired(read: Any, chain: Any) -> None:
    (call, result), _ = read(chain.call("t1"), chain.result("t1", "a.txt"))
    assert call.tool == result.tool.__class__(
        name="Bash", call_id="t1", input={"command": "t1"}, output="a.txt", is_error=None
    )
    assert (result.role, result.kind, result.text) == ("tool", "tool_result", "a.txt")
    assert (result.tool.name, result.tool.output) == ("Bash", "a.txt")


def test_result_keeps_a_list_but_not_the_bytes_of_pictures(read: Any, chain: Any) -> None:
    content = [{"type": "text", "text": "Seen."}, PIXEL]
    (call, result), _ = read(chain.call("t1"), chain.result("t1", content))
    assert result.text == "Seen.\n[image image/png, 4 bytes]"
    note = {"type": "image", "text": "[image image/png, 4 bytes]"}
    assert call.tool.output == result.tool.output == [content[0], note]


def test_failed_denied_and_interrupted_results(read: Any, chain: Any) -> None:
    block = {"type": "tool_result", "tool_use_id": "t1", "content": "no", "is_error": True}
    (call, result), _ = read(
        chain.call("t1"),
        chain.user([block], toolDenialKind="user-rejected", toolUseResult={"interrupted": True}),
    )
    assert call.tool.is_error is True
    assert result.metadata["denied"] == "user-rejected"
    assert result.metadata["interrupted"] is True


def test_call_without_a_result_stays_open(read: Any, chain: Any) -> None:
    [call], _ = read(chain.call("t1"))
    assert (call.tool.output, call.tool.is_error) == (None, None)


def test_result_without_a_call_stays(read: Any, chain: Any) -> None:
    [result], _ = read(chain.result("t9", "x"))
    assert (result.kind, result.tool.name, result.text) == ("tool_result", "", "x")


def test_call_id_used_twice_pairs_in_order_w10(read: Any, chain: Any) -> None:
    messages, _ = read(
        chain.call("t1"), chain.result("t1", "one"), chain.call("t1"), chain.result("t1", "two")
    )
    assert [m.tool.output for m in messages] == ["one", "one", "two", "two"]


def test_text_beside_a_result_was_not_typed(read: Any, chain: Any) -> None:
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}
    messages, _ = read(chain.user([result, {"type": "text", "text": "Note."}]))
    assert shown(messages) == [("tool_result", "user", "x"), ("system", "injected", "Note.")]


def test_nested_result_of_five_levels_is_flat_text(read: Any, chain: Any) -> None:
    content: Any = "deep"
    for _ in range(5):
        content = [{"type": "text", "text": "x"}, {"type": "tool_result", "content": content}]
    [message], _ = read(chain.result("t1", content))
    assert message.text.split("\n") == ["x"] * 5 + ["deep"]


def test_half_an_emoji_in_a_result_p01(read: Any) -> None:
    line = (
        b'{"type":"user","uuid":"u1","message":{"content":[{"type":"tool_result",'
        b'"tool_use_id":"t1","content":"half \\ud83d"}]}}'
    )
    [message], _ = read(line)
    assert message.kind == "tool_result"
    assert message.text.startswith("half ")


PREVIEW = (
    "<persisted-output>\nOutput too large (9KB). Full output saved to: /h/b1.txt\n\nPreview:\n1\n2"
)


def test_spilled_output_is_whole_when_its_file_came(read: Any, chain: Any) -> None:
    (_, result), _ = read(
        chain.call("t1"), chain.result("t1", PREVIEW), companions={"tool-result:t1": b"1\n2\n3"}
    )
    assert result.tool.output == "1\n2\n3"
    assert result.text == "[whole output, from /h/b1.txt]\n1\n2\n3"
    assert result.metadata["spilled"] == "whole"


def test_spilled_output_without_its_file_is_the_preview(read: Any, chain: Any) -> None:
    (_, result), _ = read(chain.call("t1"), chain.result("t1", PREVIEW))
    assert result.tool.output == result.text == PREVIEW
    assert result.metadata["spilled"] == "preview"


def test_call_links_to_its_subagent(read: Any, chain: Any) -> None:
    messages, _ = read(chain.call("t1"), chain.result("t1", toolUseResult={"agentId": "a24"}))
    assert [m.metadata["subagent"] for m in messages] == ["a24", "a24"]


def test_first_prompt_of_a_subagent_was_not_typed(read: Any, chain: Any) -> None:
    messages, facts = read(
        chain.user("Count.", agentId="a24", isSidechain=True),
        chain.answer("One.", agentId="a24", isSidechain=True),
        session="a24",
        source=f"/h/.claude/projects/-w/{'x' * 8}/subagents/agent-a24.jsonl",
    )
    assert shown(messages) == [("system", "task", "Count."), ("assistant", "assistant", "One.")]
    assert messages[0].role == "user"
    assert messages[0].metadata["from"] == "parent"
    assert (facts.relation, facts.parent_session) == (
        "subagent",
        "9712b4a9-6617-48ef-b0e0-da1327bd1afa",
    )


def test_parent_of_a_subagent_by_its_folder(read: Any) -> None:
    native = {"type": "user", "uuid": "u1", "message": {"content": "Count."}}
    source = "/h/.claude/projects/-w/main-id/subagents/agent-a24.jsonl"
    _, facts = read(native, session="a24", source=source)
    assert (facts.relation, facts.parent_session) == ("subagent", "main-id")


def test_subagent_without_a_known_parent_stands_alone(read: Any) -> None:
    native = {"type": "user", "uuid": "u1", "message": {"content": "Count."}}
    [message], facts = read(native, session="a24", source="/h/.claude/projects/-w/agent-a24.jsonl")
    assert message.event_type == "task"
    assert (facts.relation, facts.parent_session) == (None, None)


@pytest.mark.parametrize(
    ("attachment", "kind"),
    [
        ({"type": "queued_command", "prompt": "Also this.", "commandMode": "prompt"}, "user"),
        ({"type": "queued_command", "prompt": "Also this."}, "user"),
        ({"type": "queued_command", "prompt": [{"type": "text", "text": "Also this."}]}, "user"),
        (
            {"type": "queued_command", "prompt": "Also this.", "origin": {"kind": "human"}},
            "user",
        ),
        (
            {"type": "queued_command", "prompt": "Also this.", "origin": {"kind": "peer"}},
            "system",
        ),
        (
            {"type": "queued_command", "prompt": "Also this.", "commandMode": "task-notification"},
            "system",
        ),
        ({"type": "queued_command", "prompt": "Also this.", "isMeta": True}, "system"),
    ],
)
def test_prompt_typed_while_the_agent_works(
    read: Any, chain: Any, attachment: dict[str, Any], kind: str
) -> None:
    messages, _ = read(chain.record("attachment", attachment=attachment))
    assert [(m.kind, m.text) for m in messages] == [(kind, "Also this.")]


def test_attachments_of_the_setting_are_meta_and_files_are_not(read: Any, chain: Any) -> None:
    rendered = [{"content": "Today is Monday."}]
    messages, facts = read(
        chain.record("attachment", attachment={"type": "date"}, rendered=rendered),
        chain.record(
            "attachment", attachment={"type": "file", "filename": "/a"}, rendered=rendered
        ),
        chain.record("attachment", attachment={"type": "future", "content": "New."}),
    )
    assert shown(messages) == [
        ("meta", "attachment/date", "Today is Monday."),
        ("system", "attachment/file", "Today is Monday."),
        ("system", "attachment/future", "New."),
    ]
    assert messages[1].metadata["path"] == "/a"
    assert facts.unknown == {"attachment/future": 1}


def test_compaction_is_a_boundary_and_a_summary(read: Any, chain: Any) -> None:
    meta = {"trigger": "auto", "preTokens": 9, "preservedMessages": {"uuids": ["u1", 7]}}
    messages, _ = read(
        chain.user("Before."),
        chain.record(
            "system", subtype="compact_boundary", content="Conversation compacted",
            parentUuid=None, logicalParentUuid="u1", compactMetadata=meta,
        ),
        chain.user("Summary.", isCompactSummary=True),
        chain.user("After."),
    )  # fmt: skip
    assert [m.event_type for m in messages] == [
        "user",
        "compact_boundary",
        "compact_summary",
        "user",
    ]
    assert messages[1].metadata["trigger"] == "auto"
    assert messages[1].metadata["preserved"] == ["u1"]
    assert not any("branch" in m.metadata for m in messages)


def test_system_records(read: Any, chain: Any) -> None:
    output = "<local-command-stdout>Set model</local-command-stdout>"
    messages, facts = read(
        chain.record("system", subtype="local_command", content=output),
        chain.record("system", subtype="turn_duration", durationMs=9),
        chain.record("system", subtype="informational", content="Note."),
        chain.record("system", subtype="future", content="New."),
        chain.record("system"),
    )
    assert shown(messages) == [
        ("system", "local_command_output", "Set model"),
        ("meta", "system/turn_duration", ""),
        ("system", "system/informational", "Note."),
        ("system", "system/future", "New."),
        ("meta", "system/(none)", ""),
    ]
    assert facts.unknown == {"system/future": 1, "system/(none)": 1}


def test_unknown_kinds_are_meta_and_counted_p26(read: Any, chain: Any) -> None:
    messages, facts = read(
        chain.user("One"),
        {"type": "future_item", "payload": {}},
        {"type": "future_item"},
        {"type": None},
        {"type": "x" * 99},
        chain.record("progress", data={}),
        chain.user([{"type": "future_block", "text": "kept"}]),
    )
    assert [m.kind for m in messages] == ["user", *["meta"] * 6]
    assert messages[-1].text == "kept"
    assert facts.unknown == {"future_item": 2, "(none)": 1, "(other)": 1, "block/future_block": 1}


def test_count_of_unknown_kinds_is_bounded(read: Any) -> None:
    _, facts = read(*({"type": f"kind{n}"} for n in range(300)))
    assert len(facts.unknown) <= 101
    assert sum(facts.unknown.values()) == 300


def test_every_record_gives_a_message(read: Any, chain: Any) -> None:
    messages, _ = read(
        {}, chain.user(None), chain.user([]), chain.user(""), chain.answer(),
        chain.answer(message={"content": None}),
        chain.record("user"), chain.record("attachment"),
        chain.record("attachment", attachment={"type": "queued_command"}),
    )  # fmt: skip
    assert len(messages) == 9


def test_a_record_again_under_its_uuid_counts_once(read: Any, chain: Any) -> None:
    first = chain.user("One")
    messages, facts = read(first, {**first, "message": {"content": "Other"}}, chain.answer("Two"))
    assert [m.text for m in messages] == ["One", "Two"]
    assert facts.messages == 2


def test_a_damaged_record_is_kept_as_meta() -> None:
    reader = ClaudeReader("s")
    record = minted(b'{"type":"pr-link","prNu', agent="claude", damage="fused")
    [message] = reader.feed(record, MessageId("msg_1"))
    assert (message.kind, message.event_type, message.text) == (
        "meta",
        "fused",
        '{"type":"pr-link","prNu',
    )
    assert reader.facts().unknown == {}


def test_a_record_that_was_too_large_leaves_a_visible_hole() -> None:
    reader = ClaudeReader("s")
    [message] = reader.feed(minted(b"", too_large=(1 << 30, "ab")), MessageId("msg_1"))
    assert (message.kind, message.event_type) == ("system", "too_large")
    assert reader.facts().messages == 1


def test_no_base_is_ever_covered() -> None:
    assert not ClaudeReader("s").covers(minted({}), Base(session_id="t", end=3))
