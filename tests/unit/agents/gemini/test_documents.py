"""Sessions of 0.38 and before, their twins of today, and checkpoints."""

from __future__ import annotations

from typing import Any

import pytest

CHECKPOINT = "tmp/acme-api/checkpoint-my%20tag.json"


def whole(lab: Any, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**lab.meta(**more), "messages": list(messages)}


def test_a_document_that_grows_and_is_edited(lab: Any) -> None:
    files = lab.files()
    asked = lab.user("u1", "q")
    files.document(lab.DOCUMENT, whole(lab, asked))
    files.document(lab.DOCUMENT, whole(lab, asked, lab.gemini("g1", "")))
    answered = lab.gemini("g1", "a", toolCalls=[lab.call()])
    files.document(lab.DOCUMENT, whole(lab, asked, answered))
    found = files.read()
    assert [kind for kind, _ in found.said] == ["user", "assistant", "tool_call", "tool_result"]
    assert [m.text for m in files.read_live().messages if m.kind != "meta"] == [
        m.text for m in found.messages if m.kind != "meta"
    ]


def test_a_deleted_message_is_marked_and_kept(lab: Any) -> None:
    files = lab.files()
    files.document(lab.DOCUMENT, whole(lab, lab.user("u1", "q"), lab.user("u2", "r")))
    files.document(lab.DOCUMENT, whole(lab, lab.user("u2", "r")))
    assert files.read().spoken == ["q [deleted]", "r"]


def test_messages_without_ids_are_read(lab: Any) -> None:
    bare = [{"type": "user", "content": "q"}, {"type": "gemini", "content": "a"}]
    files = lab.files()
    files.document(lab.DOCUMENT, whole(lab, *bare, {"type": "user", "content": "r"}))
    files.document(lab.DOCUMENT, whole(lab, *bare))
    assert files.read().spoken == ["q", "a", "r [deleted]"]


def test_a_document_in_one_piece_reads_the_same(lab: Any) -> None:
    files = lab.files().log(lab.DOCUMENT, [whole(lab, lab.user("u1", "q"), lab.gemini("g1", "a"))])
    assert files.read().spoken == ["q", "a"]


@pytest.mark.parametrize("document_first", [True, False])
def test_twins_are_one_conversation(lab: Any, document_first: bool) -> None:
    old = [lab.user("u1", "q1"), lab.gemini("g1", "a1", toolCalls=[lab.call()])]
    files = lab.files()
    log = [
        lab.meta(startTime="2026-01-03T00:00:00.000Z"), lab.snapshot(lab.context()), lab.meta(),
        *[{**n, "content": [{"text": n["content"]}]} for n in old],
        lab.snapshot(lab.context(), *old), lab.user("u2", "q2"), lab.gemini("g2", "a2"),
    ]  # fmt: skip
    if document_first:
        files.document(lab.DOCUMENT, whole(lab, *old)).log(lab.LOG, log)
    else:
        files.log(lab.LOG, log).document(lab.DOCUMENT, whole(lab, *old))
    found = files.read()
    assert found.spoken == ["q1", "a1", "q2", "a2"]
    assert len(found.kinds("tool_call")) == len(found.kinds("tool_result")) == 1
    names = [name for name, _ in files.names[lab.SESSION]]
    assert len(set(names)) == len(names)


def test_what_only_the_document_has_stands_where_it_stood(lab: Any) -> None:
    files = lab.files().log(lab.LOG, [lab.meta(), lab.user("u1", "q1"), lab.user("u4", "q4")])
    old = [lab.user("u0", "q0"), lab.user("u1", "q1"), lab.user("u2", "q2"), lab.user("u3", "q3")]
    files.document(lab.DOCUMENT, whole(lab, *old))
    found = files.read()
    assert found.spoken == ["q0", "q1", "q2", "q3", "q4"]
    assert found.facts.title == "q0"


def test_a_rewind_in_the_log_counts_against_the_document(lab: Any) -> None:
    old = [lab.user("u1", "q1"), lab.user("u2", "q2")]
    files = lab.files().log(lab.LOG, [lab.meta(), *old, {"$rewindTo": "u2"}])
    files.document(lab.DOCUMENT, whole(lab, *old))
    assert files.read().spoken == ["q1", "q2 [undone]"]


def test_the_copy_in_a_hashed_folder_is_the_same_session(lab: Any) -> None:
    asked = lab.user("u1", "q")
    old = f"tmp/{'0' * 64}/chats/session-2026-01-02T03-04-9712b4a9.json"
    files = lab.files().document(old, whole(lab, asked))
    files.document(lab.DOCUMENT, whole(lab, asked, lab.gemini("g1", "a")))
    assert files.read().spoken == ["q", "a"]
    heads = [name for name, _ in files.names[lab.SESSION] if "head" in str(name)]
    assert len(set(heads)) == 2


def test_a_document_without_a_session_id_has_its_files_name(lab: Any) -> None:
    files = lab.files().document(lab.DOCUMENT, {"messages": [lab.user("u1", "q")]})
    assert list(files.fed) == ["session-2026-01-02T03-04-9712b4a9"]


def test_a_checkpoint_is_a_session_with_the_tag_as_its_name(lab: Any) -> None:
    history = [
        {"role": "user", "parts": [{"text": "<session_context>x</session_context>"}]},
        {"role": "user", "parts": [{"text": "q"}]},
        {"role": "model", "parts": [
            {"text": "hm", "thought": True}, {"text": "a"},
            {"functionCall": {"id": "c1", "name": "shell", "args": {}}}]},
        {"role": "user", "parts": [lab.response()]},
    ]  # fmt: skip
    name = "checkpoint-my%20tag@acme-api"
    whole = {"history": history, "authType": "gemini-api-key"}
    found = lab.files().document(CHECKPOINT, whole, "history").read(name)
    assert found.spoken == ["q", "a"]
    assert (found.facts.title, found.facts.title_source) == ("my tag", "name")
    assert found.kinds("tool_result")[0].tool.name == "shell"
    again = lab.files().log(CHECKPOINT, [whole]).read(name)
    assert [m.text for m in again.messages if m.kind == "user"] == ["q"]
