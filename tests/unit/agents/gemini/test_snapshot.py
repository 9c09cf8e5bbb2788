"""Lists that replace the agent's own: resumes, failures, rewinds, compressions."""

from __future__ import annotations

from typing import Any


def turns(lab: Any, *names: str) -> list[dict[str, Any]]:
    return [
        native
        for name in names
        for native in (lab.user(f"u{name}", f"q{name}"), lab.gemini(f"g{name}", f"a{name}"))
    ]


def test_a_list_that_repeats_the_history_adds_nothing(lab: Any) -> None:
    history = turns(lab, "1", "2")
    again = [{**n, "content": [{"text": n["content"]}]} for n in history]
    found = lab.read_log(
        lab.context(), *history, lab.meta(), lab.snapshot(lab.context("later")),
        {"$set": {"sessionId": lab.SESSION}}, lab.snapshot(lab.context("later"), *again),
        *turns(lab, "3"),
    )  # fmt: skip
    assert found.spoken == ["q1", "a1", "q2", "a2", "q3", "a3"]
    assert len(found.kinds("system")) == 1


def test_a_list_that_is_all_there_is_is_read(lab: Any) -> None:
    found = lab.read_log(lab.snapshot(lab.context(), *turns(lab, "1")), *turns(lab, "2"))
    assert found.spoken == ["q1", "a1", "q2", "a2"]
    assert found.facts.title == "q1"


def test_a_metadata_line_may_hold_the_messages(lab: Any) -> None:
    files = lab.files().log(lab.LOG, [lab.meta(messages=turns(lab, "1"))])
    assert files.read().spoken == ["q1", "a1"]


def test_a_process_that_only_began_undoes_nothing(lab: Any) -> None:
    found = lab.read_log(*turns(lab, "1"), lab.meta(), lab.snapshot(lab.context()))
    assert found.spoken == ["q1", "a1"]


def test_a_failed_prompt_is_kept_and_marked(lab: Any) -> None:
    found = lab.read_log(
        lab.snapshot(lab.context()), lab.user("u1", "explain"), lab.snapshot(lab.context())
    )
    assert found.spoken == ["explain [undone]"]
    assert found.facts.title == "explain"


def test_a_prompt_that_is_sent_again_in_the_same_words_is_one(lab: Any) -> None:
    found = lab.read_log(
        *turns(lab, "1"), lab.user("u2", "again"), lab.snapshot(*turns(lab, "1")),
        lab.user("u3", "again"), lab.gemini("g3", "now"),
    )  # fmt: skip
    assert found.spoken == ["q1", "a1", "again", "now"]
    assert [m.metadata.get("put_back") for m in found.messages if m.text == "again"] == [True, None]


def test_prompts_that_stand_may_repeat(lab: Any) -> None:
    natives = [lab.user(f"u{n}", "go on") for n in range(3)]
    assert lab.read_log(*natives, lab.snapshot(*natives)).spoken == ["go on"] * 3


def test_a_rewind_marks_the_message_and_all_after_it(lab: Any) -> None:
    found = lab.read_log(
        *turns(lab, "1", "2"), {"$rewindTo": "u2"}, lab.snapshot(*turns(lab, "1")), *turns(lab, "3")
    )
    assert found.spoken == ["q1", "a1", "q2 [undone]", "a2 [undone]", "q3", "a3"]


def test_a_rewind_to_an_unknown_message_undoes_all(lab: Any) -> None:
    found = lab.read_log(*turns(lab, "1"), {"$rewindTo": "nobody"}, *turns(lab, "2"))
    assert found.spoken == ["q1 [undone]", "a1 [undone]", "q2", "a2"]


def test_what_a_later_list_has_again_is_not_undone(lab: Any) -> None:
    found = lab.read_log(*turns(lab, "1"), {"$rewindTo": "u1"}, lab.snapshot(*turns(lab, "1")))
    assert found.spoken == ["q1", "a1"]


def test_a_revision_after_a_list_is_not_undone_by_it(lab: Any) -> None:
    found = lab.read_log(
        lab.gemini("g1", "a"), lab.snapshot(lab.context()), lab.gemini("g1", "a and more")
    )
    assert found.spoken == ["a and more"]


def test_a_compression_is_told_once_and_undoes_nothing(lab: Any) -> None:
    summary = lab.user("s1", [{"text": "<state_snapshot>all</state_snapshot>"}])
    thanks = lab.gemini("s2", [{"text": "Got it. Thanks for the additional context!"}])
    tail = [lab.user("n1", [{"text": "q2"}]), lab.gemini("n2", [{"text": "a2"}])]
    packed = [lab.context(), summary, thanks, *tail]
    found = lab.read_log(
        *turns(lab, "1", "2"), lab.snapshot(*packed), {"id": "i", "type": "info", "content": ""},
        *turns(lab, "3"), lab.meta(), lab.snapshot(*packed, *turns(lab, "3")), lab.user("u4", "q4"),
    )  # fmt: skip
    assert found.spoken == [
        "q1 [compacted]", "a1 [compacted]", "q2", "a2", "q3", "a3", "q4"
    ]  # fmt: skip
    assert [m.event_type for m in found.kinds("system")] == [
        "session_context", "compact_summary", "compact_acknowledged"
    ]  # fmt: skip


def test_a_rewind_after_a_compression_goes_by_the_new_ids(lab: Any) -> None:
    packed = [lab.user("s1", "<state_snapshot>x"), lab.user("n1", "q2"), lab.gemini("n2", "a2")]
    found = lab.read_log(*turns(lab, "1", "2"), lab.snapshot(*packed), {"$rewindTo": "n1"})
    assert found.spoken[2:] == ["q2 [undone]", "a2 [undone]"]


def test_a_compressed_tail_of_tools_is_known_again(lab: Any) -> None:
    called = {"functionCall": {"id": "c1", "name": "shell", "args": {"command": "ls"}}}
    found = lab.read_log(
        *turns(lab, "1"), lab.gemini("g2", "", toolCalls=[lab.call("c1", "out")]),
        lab.user("u3", [lab.response("c1", "out")]), lab.gemini("g4", "done"),
        lab.snapshot(
            lab.user("s1", "<state_snapshot>x"), lab.gemini("n2", [called]),
            lab.user("n3", [lab.response("c1", "out")]), lab.gemini("n4", "done"),
        ),
    )  # fmt: skip
    assert len(found.kinds("tool_call")) == len(found.kinds("tool_result")) == 1
    assert found.spoken == ["q1 [compacted]", "a1 [compacted]", "done"]


def test_a_resumed_checkpoint_of_the_same_words_adds_nothing(lab: Any) -> None:
    copied = [{**n, "id": f"copy-{n['id']}"} for n in turns(lab, "1")]
    found = lab.read_log(*turns(lab, "1", "2"), lab.snapshot(*copied), *turns(lab, "3"))
    assert found.spoken == ["q1", "a1", "q2 [undone]", "a2 [undone]", "q3", "a3"]


def test_another_text_under_a_known_id_is_the_newest(lab: Any) -> None:
    found = lab.read_log(
        lab.user("u1", "old"), lab.gemini("g1", "a", toolCalls=[lab.call()]),
        lab.snapshot(lab.user("u1", "new"), lab.gemini("g1", "b")),
    )  # fmt: skip
    assert found.spoken == ["new", "b"]
    assert len(found.kinds("tool_result")) == 1


def test_a_list_drops_the_typed_form_but_we_do_not(lab: Any) -> None:
    typed = lab.user("u1", "expanded", displayContent="typed")
    found = lab.read_log(typed, lab.snapshot(lab.user("u1", "expanded")))
    assert found.spoken == ["typed"]


def test_an_import_of_the_same_list_again_and_again_grows_nothing(lab: Any) -> None:
    nameless = [{"type": "user", "content": "q"}, {"type": "gemini", "content": "a"}]
    found = lab.read_log(*(lab.snapshot(*nameless) for _ in range(3)))
    assert found.spoken == ["q", "a"]


def test_a_shadow_file_changes_nothing(lab: Any) -> None:
    shadow = f"{lab.CHATS}/session-2026-01-02T09-09-9712b4a9.jsonl"
    begun = [lab.meta(startTime="2026-01-02T09:09:00.000Z"), lab.snapshot(lab.context("later"))]
    main = [lab.meta(), lab.snapshot(lab.context()), *turns(lab, "1")]
    for order in (1, -1):
        files = lab.files()
        for path, natives in [(lab.LOG, main), (shadow, begun)][::order]:
            files.log(path, natives)
        assert len({name for name, _ in files.names[lab.SESSION]}) == 6
        found = files.read()
        assert found.spoken == ["q1", "a1"]
        assert found.facts.started_at == "2026-01-02T03:04:00.000Z"
