from __future__ import annotations

import pytest
from rollouts import Masking, Reading, Say

from ultracontext.agents.codex import SPEC
from ultracontext.model import Base, MessageId

OTHER = "01a22cd6-0000-7000-8000-0000000000aa"


def test_a_turn_is_shown_once_in_order(read: Reading, say: Say) -> None:
    got = read(say.meta(), *say.turn("q1", "a1"), *say.turn("q2", "a2"))
    assert [(m.kind, m.text) for m in got.messages if m.kind != "meta"] == [
        ("user", "q1"),
        ("assistant", "a1"),
        ("user", "q2"),
        ("assistant", "a2"),
    ]


def test_the_same_words_again_are_shown_again(read: Reading, say: Say) -> None:
    got = read(say.meta(), *say.turn("go on", "Done."), *say.turn("go on", "Done."))
    assert got.of("user") == ["go on", "go on"]
    assert got.of("assistant") == ["Done.", "Done."]


def test_file_with_items_only(read: Reading, say: Say) -> None:
    got = read(
        say.meta(),
        say.user("<environment_context>\n<cwd>/w</cwd>\n</environment_context>"),
        say.user("q1"),
        say.assistant("a1"),
        say.user("q2"),
        say.assistant("a2"),
    )
    assert got.of("user") == ["q1", "q2"]
    assert got.of("assistant") == ["a1", "a2"]
    assert got.facts.title == "q1"


def test_file_with_events_only(read: Reading, say: Say) -> None:
    got = read(say.meta(), say.typed("q1"), say.said("a1"), say.typed("q2"), say.said("a2"))
    assert (got.of("user"), got.of("assistant")) == (["q1", "q2"], ["a1", "a2"])


def test_all_items_first_and_all_events_after(read: Reading, say: Say) -> None:
    got = read(
        say.meta(),
        say.user("q"),
        say.assistant("a"),
        say.user("q"),
        say.assistant("b"),
        say.typed("q"),
        say.said("a"),
        say.typed("q"),
        say.said("b"),
    )
    assert got.of("user", "assistant") == ["q", "a", "q", "b"]


def test_items_written_by_another_program_and_continued_by_codex(read: Reading, say: Say) -> None:
    got = read(
        say.meta(),
        say.user("old q"),
        say.assistant("old a"),
        say.user("go on"),
        say.assistant("sure"),
        *say.turn("go on", "new a"),
    )
    assert got.of("user", "assistant") == ["old q", "old a", "go on", "sure", "go on", "new a"]
    assert got.facts.title == "old q"


def test_once_events_tell_an_item_alone_is_not_typed(read: Reading, say: Say) -> None:
    got = read(
        say.meta(), *say.turn("q1", "a1"), say.user("Some new notice"), *say.turn("q2", "a2")
    )
    assert got.of("user") == ["q1", "q2"]
    assert "Some new notice" in got.of("system")


def test_an_item_that_the_program_labels_as_typed_is_typed(read: Reading, say: Say) -> None:
    labelled = say.user(
        "never got its event",
        internal_chat_message_metadata_passthrough={"content_item_kinds": ["user.text"]},
    )
    got = read(say.meta(), *say.turn("q1", "a1"), labelled)
    assert got.of("user") == ["q1", "never got its event"]


def test_items_put_in_by_a_client_are_not_typed(read: Reading, say: Say) -> None:
    labelled = say.user(
        "injected",
        internal_chat_message_metadata_passthrough={"content_item_kinds": ["user.text"]},
    )
    labelled["metadata"] = {"client_authored": True}
    assert read(say.meta(), *say.turn("q1", "a1"), labelled).of("user") == ["q1"]


def test_what_looks_injected_but_was_typed_is_typed(read: Reading, say: Say) -> None:
    text = "<environment_context>hello</environment_context>"
    got = read(say.meta(), say.user(text), say.typed(text), say.said("a"), say.assistant("a"))
    assert got.of("user") == [text]
    assert got.of("system") == []
    assert got.facts.title == text


def test_two_wrappers_in_one_item_are_one_system_message(read: Reading, say: Say) -> None:
    parts = ["# AGENTS.md instructions for /w\n", "<environment_context>x</environment_context>"]
    content = [{"type": "input_text", "text": text} for text in parts]
    got = read(say.meta(), say.item({"type": "message", "role": "user", "content": content}))
    assert got.kinds() == ["system"]
    assert got.messages[-1].event_type == "response_item/message/agents_md+environment_context"


def test_wrapper_and_prompt_in_one_item_are_two_messages(read: Reading, say: Say) -> None:
    parts = ["<environment_context>x</environment_context>", "hello"]
    content = [{"type": "input_text", "text": text} for text in parts]
    item = say.item({"type": "message", "role": "user", "content": content})
    got = read(say.meta(), item, say.typed("hello"))
    assert got.kinds() == ["system", "user"]
    assert got.messages[-1].id.endswith(".1")


def test_developer_messages_are_system(read: Reading, say: Say) -> None:
    got = read(say.developer("<permissions instructions>x"), say.developer("You are Codex"))
    assert [m.event_type.rpartition("/")[2] for m in got.messages] == [
        "permissions_instructions",
        "developer",
    ]
    assert got.kinds() == ["system", "system"]


def test_events_of_old_wrappers_are_not_typed(read: Reading, say: Say) -> None:
    got = read(
        say.meta(), say.typed("<x>", kind="environment_context"), say.typed("q", kind="plain")
    )
    assert got.of("user") == ["q"]


def test_images_are_told_without_their_bytes(read: Reading, say: Say) -> None:
    content = [
        {"type": "input_text", "text": '<image name=[Image #1] path="/w/shot.png">'},
        {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 400},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "Describe it"},
    ]
    item = say.item({"type": "message", "role": "user", "content": content})
    legacy = read(say.meta(), item, say.typed("Describe it", local_images=["/w/shot.png"]))
    paged = [
        {"type": "local_image", "path": "/w/shot.png"},
        {"type": "text", "text": "Describe it"},
    ]
    new = read(say.meta(), item, say.completed("UserMessage", content=paged))
    for got in (legacy, new):
        assert got.of("user") == ["[image /w/shot.png]\nDescribe it"]
        assert got.of("system") == []
    alone = read(say.meta(), item)
    assert alone.of("user") == ["[image image/png]\nDescribe it"]
    assert alone.messages[-1].metadata["attachments"] == [
        {"kind": "image", "media_type": "image/png", "bytes": 300}
    ]


def test_a_tag_that_stands_beside_no_image_is_text(read: Reading, say: Say) -> None:
    got = read(say.meta(), say.user("</image>"), say.typed("</image>"))
    assert got.of("user") == ["</image>"]


def test_answer_whose_item_has_citations_is_shown_once(read: Reading, say: Say) -> None:
    got = read(
        say.meta(),
        say.user("q"),
        say.typed("q"),
        say.said("Use it."),
        say.assistant("Use it.<oai-mem-citation>x</oai-mem-citation>"),
    )
    assert got.of("assistant") == ["Use it."]


def test_answer_of_several_parts_and_events(read: Reading, say: Say) -> None:
    content = [{"type": "output_text", "text": text} for text in ("one ", "two")]
    item = say.item({"type": "message", "role": "assistant", "content": content})
    got = read(say.meta(), say.said("one "), say.said("two"), item)
    assert got.of("assistant") == ["one ", "two"]


def test_an_answer_without_event_is_kept(read: Reading, say: Say) -> None:
    got = read(say.meta(), *say.turn("q", "a"), say.assistant("review findings"))
    assert got.of("assistant") == ["a", "review findings"]


def test_messages_between_agents_are_system(read: Reading, say: Say) -> None:
    text = '{"author":"/root","recipient":"/root/a","content":"do it","trigger_turn":true}'
    got = read(
        say.meta(),
        say.assistant(text),
        say.item(
            {"type": "agent_message", "author": "/root", "recipient": "/root/a", "content": "x"}
        ),
        say.record("inter_agent_communication", {"author": "/root", "content": "y"}),
    )
    assert got.kinds() == ["system", "system", "system"]


def test_summary_for_a_compaction_is_no_answer(read: Reading, say: Say) -> None:
    got = read(
        say.meta(),
        *say.turn("q", "a"),
        say.assistant("SUMMARY of all"),
        say.record("compacted", {"message": "Another model said:\nSUMMARY of all"}),
        *say.turn("q2", "a2"),
    )
    assert got.of("assistant") == ["a", "a2"]
    assert len(got.of("system")) == 2


def test_p27_full_history_stays_after_a_compaction(read: Reading, say: Say) -> None:
    turns = [line for n in range(50) for line in say.turn(f"q{n}", f"a{n}")]
    history = [say.user("q49")["payload"], say.user("summary")["payload"]]
    late = [line for n in range(50, 53) for line in say.turn(f"q{n}", f"a{n}")]
    got = read(
        say.meta(),
        *turns,
        say.record("compacted", {"message": "summary", "replacement_history": history}),
        *late,
    )
    assert got.of("user") == [f"q{n}" for n in range(53)]
    assert got.of("assistant") == [f"a{n}" for n in range(53)]
    [mark] = [m for m in got.messages if m.event_type == "compacted"]
    assert (mark.kind, mark.text, mark.metadata["replacement_items"]) == ("system", "summary", 2)
    assert got.facts.messages == 107


def test_p26_unknown_kinds_leave_turns_alone(read: Reading, say: Say) -> None:
    future = say.record("future_item", {})
    got = read(say.meta(), *say.turn("q1", "a1"), future, *say.turn("q2", "a2"))
    assert got.of("user", "assistant") == ["q1", "a1", "q2", "a2"]
    assert got.facts.unknown == {"future_item": 1}


def test_reasoning_is_shown_once_in_all_styles(read: Reading, say: Say) -> None:
    item = say.item(
        {
            "type": "reasoning",
            "id": "rs_1",
            "encrypted_content": "x",
            "summary": [
                {"type": "summary_text", "text": "one"},
                {"type": "summary_text", "text": "two"},
            ],
            "content": [{"type": "reasoning_text", "text": "raw"}],
        }
    )
    legacy = [say.event("agent_reasoning", text=text) for text in ("one", "two")]
    legacy.append(say.event("agent_reasoning_raw_content", text="raw"))
    paged = say.completed("Reasoning", id="rs_1", summary_text=["one", "two"], raw_content=["raw"])
    assert read(*legacy, item).of("reasoning") == ["one", "two", "raw"]
    assert read(paged, item).of("reasoning") == ["one\n\ntwo\n\nraw"]
    assert read(item).of("reasoning") == ["one\n\ntwo\n\nraw"]
    assert read(legacy[0], item).of("reasoning") == ["one", "two\n\nraw"]


def test_encrypted_reasoning_is_meta(read: Reading, say: Say) -> None:
    got = read(say.item({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"}))
    assert (got.messages[0].kind, got.messages[0].metadata) == ("meta", {"encrypted": True})


def test_interrupt_error_and_undo_are_told(read: Reading, say: Say) -> None:
    got = read(
        say.meta(),
        *say.turn("q1", "a1"),
        say.event(
            "task_complete", turn_id="t", error={"message": "limit", "codex_error_info": "x"}
        ),
        *say.turn("q2", "a2"),
        say.call("shell", "c1", command="ls"),
        say.event("turn_aborted", reason="interrupted"),
        *say.turn("q3", "a3"),
        say.event("thread_rolled_back", num_turns=2),
        *say.turn("q4", "a4"),
    )
    undone = [m.text for m in got.messages if m.metadata.get("undone")]
    assert undone == ["q2", "a2", "shell: ls", "[interrupted]", "q3", "a3"]
    assert got.of("user") == ["q1", "q2", "q3", "q4"]
    error = next(m for m in got.messages if m.event_type == "event_msg/task_complete")
    assert (error.kind, error.text) == ("system", "limit")
    assert error.metadata["error"]["codex_error_info"] == "x"


@pytest.mark.parametrize("turns", [0, -1, None, "2", 99, True, 1 << 40])
def test_odd_undo_counts_never_raise(read: Reading, say: Say, turns: object) -> None:
    got = read(say.meta(), *say.turn("q1", "a1"), say.event("thread_rolled_back", num_turns=turns))
    assert len([m for m in got.messages if m.metadata.get("undone")]) == (2 if turns == 99 else 0)


def test_too_large_and_damaged_records_are_kept(masked: Masking, say: Say) -> None:
    reader = SPEC.reader(say.SESSION)
    big = masked(b"", too_large=(70 << 20, "abc"))
    [message] = reader.feed(big, MessageId("msg_1"))
    assert (message.kind, message.metadata["bytes"]) == ("system", 70 << 20)
    [message] = reader.feed(masked(b"\x00\x00", damage="nul"), MessageId("msg_2"))
    assert (message.kind, message.metadata) == ("meta", {"damage": "nul"})
    assert reader.facts().messages == 1


def test_old_files_without_envelope_are_read(read: Reading, say: Say) -> None:
    got = read(
        {"id": say.SESSION, "timestamp": "2025-08-01T10:00:00.000Z", "git": {"branch": "b"}},
        {"record_type": "state"},
        say.user("<environment_context>x</environment_context>")["payload"],
        say.user("q")["payload"],
        say.call("shell", "c1", command=["ls"])["payload"],
        say.output("c1", '{"output":"f","metadata":{"exit_code":0}}')["payload"],
        say.assistant("a")["payload"],
    )
    assert got.kinds() == ["system", "user", "tool_call", "tool_result", "assistant"]
    assert (got.facts.started_at, got.facts.git_branch) == ("2025-08-01T10:00:00.000Z", "b")
    assert got.facts.unknown == {}


def test_prompts_of_a_sub_agent_are_marked_as_its_parents(read: Reading, say: Say) -> None:
    got = read(say.meta(source={"subagent": "review"}), *say.turn("Review it", "Fine"))
    assert got.messages[-2].metadata == {"delegated": True}


def test_covers_goes_by_the_number_and_leaves_names_out(masked: Masking, say: Say) -> None:
    reader = SPEC.reader(say.SESSION)
    base = Base(session_id=OTHER, end=2)
    lines = [{**say.user("x"), "ordinal": n} for n in range(4)]
    assert [reader.covers(masked(line), base) for line in lines] == [True, True, False, False]
    assert not reader.covers(masked(b"\x00broken"), base)
    assert reader.covers(masked(lines[0]), base)
    assert reader.covers(masked(b"\x00broken"), base)
    assert not reader.covers(masked({"id": OTHER, "thread_name": "n"}), base)


def test_facts_of_a_fork_are_its_own_when_the_base_is_fed_first(read: Reading, say: Say) -> None:
    base = {"thread_id": OTHER, "end_ordinal_exclusive": 9}
    facts = read(
        say.meta(OTHER, cwd="/base", git={"branch": "old"}),
        *say.turn("base q", "base a"),
        {**say.meta(history_base=base), "timestamp": "2026-11-30T11:00:00.000Z"},
    ).facts
    assert (facts.project_path, facts.relation, facts.parent_session) == ("/w", "fork", OTHER)
    assert facts.started_at == "2026-11-30T10:00:00.000Z"
    assert (facts.title, facts.messages) == ("base q", 2)
