"""Every generation of the IDE's databases."""

from __future__ import annotations

import json
from typing import Any

from recordings import Play, play

from ultracontext.model import Message

GLOBAL = "globalStorage/state.vscdb"
WORKSPACE = "workspaceStorage/w1/state.vscdb"
FOLDER = ("workspaceStorage/w1/workspace.json", b'{"folder": "file:///home/dev/my%20app"}')
State = Any
"""The fixture of that name."""


def said(messages: list[Message]) -> list[tuple[str, str]]:
    return [(m.kind, m.text) for m in messages if m.kind != "meta"]


def read(played: Play, session: str = "c1") -> Any:
    return played.sessions[session].read()


def test_order_is_the_headers(state: State) -> None:
    state.bubble("b2", 2, "answer")
    state.bubble("b1", 1, "prompt")
    state.composer("b1", "b2", name="Name", createdAt=1790000000000)
    messages, facts = read(play("cursor", [(GLOBAL, state.content())]))
    assert said(messages) == [("user", "prompt"), ("assistant", "answer")]
    assert (facts.title, facts.title_source) == ("Name", "agent")
    assert facts.started_at == "2026-09-21T14:13:20.000Z"


def test_values_may_be_blobs(state: State) -> None:
    value = {"type": 1, "bubbleId": "b1", "text": "prompt"}
    state.kv("bubbleId:c1:b1", value, blob=True)
    heads = {"composerId": "c1", "fullConversationHeadersOnly": [{"bubbleId": "b1"}]}
    state.kv("composerData:c1", heads, blob=True)
    assert said(read(play("cursor", [(GLOBAL, state.content())]))[0]) == [("user", "prompt")]


def test_tools_have_their_results(state: State) -> None:
    tool = {"toolCallId": "t1", "name": "run", "rawArgs": '{"a": 1}', "status": "error",
            "result": '{"output": "x"}'}  # fmt: skip
    state.bubble("b1", 2, "", toolFormerData=tool)
    state.bubble("b2", 2, "", toolFormerData={"toolCallId": "t2", "name": "wait", "params": "{}"})
    state.composer("b1", "b2")
    messages, _ = read(play("cursor", [(GLOBAL, state.content())]))
    call, result, waiting = (m for m in messages if m.kind != "meta")
    assert (call.tool.input, call.tool.output) == ({"a": 1}, {"output": "x"})
    assert call.tool.is_error is True
    assert result.text == '{"output": "x"}'
    assert (waiting.kind, waiting.tool.output) == ("tool_call", None)


def test_inline_conversations(state: State) -> None:
    bubbles = [
        {"type": 1, "bubbleId": "b1", "text": "prompt"},
        {"type": 2, "bubbleId": "b2", "text": "yes"},
    ]
    state.kv("composerData:c1", {"composerId": "c1", "name": "N", "conversation": bubbles})
    mapped = {"m1": {"type": 1, "text": "one"}, "m2": {"type": 2, "text": "two"}}
    state.kv("composerData:c2", {"composerId": "c2", "conversationMap": mapped})
    played = play("cursor", [(GLOBAL, state.content())])
    assert said(read(played)[0]) == [("user", "prompt"), ("assistant", "yes")]
    assert said(read(played, "c2")[0]) == [("user", "one"), ("assistant", "two")]


def test_a_bubbles_own_row_wins_over_the_inline_one(state: State) -> None:
    inline = [{"type": 1, "bubbleId": "b1", "text": "old"}]
    state.kv("composerData:c1", {"composerId": "c1", "conversation": inline})
    state.bubble("b1", 1, "new")
    messages, facts = read(play("cursor", [(GLOBAL, state.content())]))
    assert said(messages) == [("user", "new")]
    assert facts.messages == 1


def test_chat_tabs_of_2024(state: State) -> None:
    bubbles = [{"type": "user", "id": "x", "rawText": "prompt"}, {"type": "ai", "rawText": "yes"}]
    first = {"tabId": "t1", "chatTitle": "Title", "lastSendTime": 1790000000000}
    tabs = [{**first, "bubbles": bubbles}, {"tabId": "t2", "chatTitle": "New Chat", "bubbles": []}]
    state.item("workbench.panel.aichat.view.aichat.chatdata", {"tabs": tabs})
    played = play("cursor", [(WORKSPACE, state.content()), FOLDER])
    messages, facts = read(played, "t1")
    assert said(messages) == [("user", "prompt"), ("assistant", "yes")]
    assert (facts.title, facts.project_path) == ("Title", "/home/dev/my app")
    assert set(played.sessions) == {"t1"}


def test_lists_of_2x_name_conversations_and_their_folder(state: State) -> None:
    heads = [{"composerId": "c1", "name": "Listed"}, {"composerId": "unused"}]
    state.item("composer.composerData", {"allComposers": heads})
    played = play("cursor", [(WORKSPACE, state.content()), FOLDER])
    facts = read(played)[1]
    assert (facts.title, facts.project_path) == ("Listed", "/home/dev/my app")
    assert set(played.sessions) == {"c1"}


def test_heads_of_3x(state: State) -> None:
    identity = {"id": "w", "uri": {"fsPath": "/home/dev/app"}}
    heads: list[dict[str, Any]] = [
        {"composerId": "c1", "name": "Mine", "workspaceIdentifier": identity,
         "subagentInfo": {"parentComposerId": "boss"}, "lastUpdatedAt": 1},
        {"composerId": "gone", "name": "Elsewhere"},
    ]  # fmt: skip
    state.item("composer.composerHeaders", {"allComposers": heads})
    state.bubble("b1", 1, "prompt")
    state.composer("b1")
    state.database.execute("CREATE TABLE composerHeaders (composerId TEXT PRIMARY KEY, value TEXT)")
    state.database.execute(
        "INSERT INTO composerHeaders VALUES ('c1', ?)", (json.dumps({**heads[0], "name": "Row"}),)
    )
    played = play("cursor", [(GLOBAL, state.content())])
    facts = read(played)[1]
    assert (facts.project_path, facts.parent_session) == ("/home/dev/app", "boss")
    assert facts.relation == "subagent"
    assert set(played.sessions) == {"c1"}


def test_unused_conversations_are_none(state: State) -> None:
    state.kv("composerData:c1", {"composerId": "c1", "conversationMap": {}, "name": "x"})
    state.kv("composerData:c2", "no JSON")
    state.kv("composerData:c3", "[1]")
    assert play("cursor", [(GLOBAL, state.content())]).sessions == {}


def test_a_message_that_was_deleted_is_marked(state: State) -> None:
    for name, time in (("b1", "00"), ("b2", "01"), ("b3", "02"), ("b4", "59")):
        state.bubble(name, 1, name, createdAt=f"2026-09-21T14:13:{time}.000Z")
    state.composer("b1", "b3", lastUpdatedAt="2026-09-21T14:13:30.000Z")
    messages, facts = read(play("cursor", [(GLOBAL, state.content())]))
    assert [text for _, text in said(messages)] == ["b1", "b2", "b3", "b4"]
    assert [m.text for m in messages if m.metadata.get("deleted")] == ["b2"]
    assert facts.messages == 4


def test_no_key_and_no_credential_is_read(state: State) -> None:
    state.item("cursorAuth/accessToken", "TOKEN-1")
    state.item("cursorAuth/refreshToken", {"allComposers": [{"composerId": "TOKEN-2"}]})
    state.item("blobEncryptionKey", "TOKEN-3")
    state.kv("cursorAuth/x", "TOKEN-4")
    state.kv("bubbleIds", "TOKEN-5")
    state.bubble("b1", 1, "prompt")
    secrets = {"blobEncryptionKey": "TOKEN-6", "speculativeSummarizationEncryptionKey": "TOKEN-7"}
    state.composer("b1", **secrets, conversationState="~TOKEN-8")
    played = play("cursor", [(GLOBAL, state.content()), (WORKSPACE, state.content())])
    bodies = b"".join(r.body for s in played.sessions.values() for r in s.records)
    assert b"prompt" in bodies
    assert b"TOKEN" not in bodies
