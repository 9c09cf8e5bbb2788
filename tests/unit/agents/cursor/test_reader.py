"""Transcripts, stores of the command line, and one conversation in several stores."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from recordings import minted, play

from ultracontext.agents.cursor.facts import path_of
from ultracontext.agents.cursor.reader import CursorReader
from ultracontext.agents.cursor.typed import stamped, typed
from ultracontext.model import Message, MessageId, SessionFacts

Read = Callable[..., tuple[list[Message], SessionFacts]]


def said(messages: list[Message]) -> list[tuple[str, str]]:
    return [(m.kind, m.text) for m in messages if m.kind != "meta"]


def user(text: str) -> dict[str, Any]:
    stamp = "<timestamp>Thursday, Sep 24, 2026, 1:23 AM (UTC+8)</timestamp>\n"
    return {"role": "user", "message": {"content": [{"type": "text", "text": stamp + query(text)}]}}


def answer(*parts: Any) -> dict[str, Any]:
    content = [{"type": "text", "text": p} if isinstance(p, str) else p for p in parts]
    return {"role": "assistant", "message": {"content": content}}


def call(name: str) -> dict[str, Any]:
    return {"type": "tool_use", "name": name, "input": {"x": 1}}


def bubble(name: str, kind: int, text: str, **fields: Any) -> dict[str, Any]:
    value = {"type": kind, "bubbleId": name, "text": text, **fields}
    return {"table": "bubble", "key": f"bubbleId:c1:{name}", "value": value}


def order(*names: str, table: str = "composer") -> dict[str, Any]:
    return {"table": table, "key": "composerData:c1", "value": {"order": list(names)}}


def blob(name: str, role: str, content: Any) -> dict[str, Any]:
    return {"table": "blob", "key": name * 16, "value": {"role": role, "content": content}}


def query(text: str) -> str:
    return f"<user_query>\n{text}\n</user_query>"


# ---- transcripts ---------------------------------------------------------------------------------
def test_lines(read: Read) -> None:
    messages, facts = read(
        user("do it"), answer("Well.", call("Read"), "[REDACTED]"), answer("Done.\n\n[REDACTED]"),
        {"type": "turn_ended", "status": "error", "error": "no network"},
        {"type": "turn_ended", "status": "success"},
    )  # fmt: skip
    assert said(messages) == [
        ("user", "do it"), ("assistant", "Well."), ("tool_call", '{"x":1}'), ("assistant", "Done."),
        ("system", "no network"),
    ]  # fmt: skip
    assert messages[0].timestamp == "2026-09-23T17:23:00.000Z"
    assert (facts.title, facts.unknown) == ("do it", {})


def test_content_may_be_text_and_inputs_too(read: Read) -> None:
    patch = {"type": "tool_use", "name": "ApplyPatch", "input": "*** Begin"}
    messages, _ = read(
        {"role": "user", "message": {"content": "plain"}},
        {"role": "assistant", "message": {"content": "said"}},
        answer(patch),
    )
    assert said(messages) == [("user", "plain"), ("assistant", "said"), ("tool_call", "*** Begin")]


def test_what_the_program_puts_in_is_not_typed(read: Read) -> None:
    messages, _ = read({"role": "user", "message": {"content": "<user_info>\nx\n</user_info>"}})
    assert said(messages)[0][0] == "system"


def test_a_sub_agents_task_is_not_typed(read: Read) -> None:
    source = "/root/projects/x/agent-transcripts/c1/subagents/k1.jsonl"
    messages, facts = read(user("find"), answer("found"), source=source, session="k1")
    assert said(messages) == [("system", "find"), ("assistant", "found")]
    assert (facts.parent_session, facts.relation) == ("c1", "subagent")


TEXT = """user:
<user_query>
Fix it
user: said so
</user_query>

assistant:
[Thinking] Two lines
  of it.
[Tool call] Shell
  command: ls -l
  more=1

[Tool result] Shell
  a.txt

It lists.
[Tool call] Shell
  command: pwd
"""


@pytest.mark.parametrize("form", [json.dumps({"text": TEXT}).encode(), TEXT.encode()])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_legacy_text(read: Read, form: bytes, ends: str) -> None:
    source = "/root/projects/x/agent-transcripts/c1.txt"
    messages, facts = read(form.replace(b"\n", ends.encode()), source=source)
    assert said(messages) == [
        ("user", "Fix it\nuser: said so"), ("reasoning", "Two lines\n  of it."),
        ("tool_call", '{"command":"ls -l","more":"1"}'), ("tool_result", "a.txt"),
        ("assistant", "It lists."), ("tool_call", '{"command":"pwd"}'),
    ]  # fmt: skip
    calls = [m.tool.output for m in messages if m.tool and m.kind == "tool_call"]
    assert calls == ["a.txt", None]
    assert facts.messages == 6


def test_a_long_legacy_text_is_whole(read: Read) -> None:
    text = "".join(f"user:\nprompt {n}\n\nassistant:\n{'word ' * 200}\n\n" for n in range(400))
    messages, facts = read({"text": text}, source="/root/x/c1.txt")
    assert facts.messages == 800
    assert messages[-2].text == "prompt 399"


# ---- store.db ------------------------------------------------------------------------------------
def store(messages: list[dict[str, Any]], order: list[int], **meta: Any) -> bytes:
    """A store whose root names some messages in some order."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB)")
    database.execute("CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)")
    ids = []
    for message in messages:
        data = json.dumps(message).encode()
        ids.append(hashlib.sha256(data).hexdigest())
        database.execute("INSERT INTO blobs VALUES (?, ?)", (ids[-1], data))
    root = b"".join(b"\x0a\x20" + bytes.fromhex(ids[n]) for n in order)
    database.execute("INSERT INTO blobs VALUES ('root', ?)", (root,))
    value = {"agentId": "c1", "latestRootBlobId": "root", "name": "New Agent", **meta}
    database.execute("INSERT INTO meta VALUES ('0', ?)", (json.dumps(value).encode().hex(),))
    database.commit()
    return database.serialize()


def test_order_is_the_roots(read: Read) -> None:
    messages: list[dict[str, Any]] = [
        {"role": "assistant", "content": [{"type": "text", "text": "yes"}]},
        {"role": "user", "content": query("prompt")},
        {"role": "user", "content": query("left behind")},
        {"role": "assistant", "content": "again"},
    ]
    content = store(messages, [1, 0, 3], blobEncryptionKey="KEY-1")
    played = play("cursor", [("chats/m/folder/store.db", content)])
    found, facts = played.sessions["c1"].read()
    shown = said(found)
    assert [text for _, text in shown if text != "left behind"] == ["prompt", "yes", "again"]
    assert [m.text for m in found if m.metadata.get("superseded")] == ["left behind"]
    assert facts.title_source == "prompt"
    assert not any(b"KEY-1" in record.body for record in played.sessions["c1"].records)


def test_a_store_that_names_no_agent_is_named_after_its_folder() -> None:
    content = store([{"role": "user", "content": query("prompt")}], [0], agentId=None)
    played = play("cursor", [("chats/folder/store.db", content)])
    assert set(played.sessions) == {"folder"}


def test_parts_of_messages(read: Read) -> None:
    parts = [
        {"type": "reasoning", "text": "hm", "providerOptions": {"cursor": {"modelName": "m-1"}}},
        {"type": "redacted-reasoning", "data": "x"},
        {"type": "text", "text": "I call."},
        {"type": "tool-call", "toolCallId": "t\n1", "toolName": "Shell", "args": {"c": "ls"}},
    ]
    result = {"type": "tool-result", "toolCallId": "t\n1", "toolName": "Shell", "result": "a.txt"}
    messages, facts = read(
        blob("a", "system", "be good"), blob("b", "user", "context"),
        blob("c", "user", query("go")),
        blob("d", "assistant", parts), blob("e", "tool", [result]),
    )  # fmt: skip
    assert said(messages) == [
        ("system", "be good"), ("system", "context"), ("user", "go"), ("reasoning", "hm"),
        ("assistant", "I call."), ("tool_call", '{"c":"ls"}'), ("tool_result", "a.txt"),
    ]  # fmt: skip
    assert (facts.model, messages[5].tool and messages[5].tool.output) == ("m-1", "a.txt")


# ---- one conversation in several stores ----------------------------------------------------------
def test_the_richest_store_wins_per_message(read: Read) -> None:
    lines = [user("one"), answer("Look.", call("Read")), answer("Done."), user("two"), answer("2")]
    tool = {"toolCallId": "t1", "name": "read_file_v2", "result": "x", "rawArgs": "{}"}
    bubbles = [
        bubble("b1", 1, "one"), bubble("b2", 2, "Look."), bubble("b3", 2, "", toolFormerData=tool),
        bubble("b4", 2, "Done."), order("b1", "b2", "b3", "b4"),
    ]  # fmt: skip
    for records in (lines + bubbles, bubbles + lines):
        messages, facts = read(*records)
        shown = [(m.kind, m.metadata["origin"]) for m in messages if m.kind != "meta"]
        assert [text for kind, text in said(messages) if kind in ("user", "assistant")] == [
            "one", "Look.", "Done.", "two", "2",
        ]  # fmt: skip
        assert [kind for kind, _ in shown].count("tool_call") == 1
        assert [origin for _, origin in shown] == ["state.vscdb"] * 5 + ["transcript"] * 2
        assert facts.messages == 7


def test_turns_that_only_the_command_line_has(read: Read) -> None:
    ide = [bubble("b1", 1, "one"), bubble("b2", 2, "1"), order("b1", "b2")]
    line = [blob("a", "user", query("two")), blob("b", "assistant", "2")]
    both = [user("one"), answer("1"), user("two"), answer("2")]
    for records in ([*ide, *line], [*ide, *line, *both], [*both, *line, *ide]):
        messages, _ = read(*records)
        assert [text for _, text in said(messages)] == ["one", "1", "two", "2"]
        origins = [m.metadata["origin"] for m in messages if m.kind != "meta"]
        assert origins == ["state.vscdb"] * 2 + ["store.db"] * 2


def test_a_transcript_that_joins_texts_repeats_nothing(read: Read) -> None:
    records = [bubble("b1", 1, "one"), bubble("b2", 2, "First."), bubble("b3", 2, "Then this.")]
    messages, _ = read(*records, user("one"), answer("First.\nThen this."))
    assert [text for _, text in said(messages)] == ["one", "First.", "Then this."]


def test_equal_prompts_are_all_there(read: Read) -> None:
    lines = [user("go"), answer("1"), user("go"), answer("2"), user("go"), answer("3")]
    messages, _ = read(*lines, bubble("b1", 1, "go"), bubble("b2", 2, "1"))
    assert [text for _, text in said(messages)] == ["go", "1", "go", "2", "go", "3"]


def test_a_transcript_of_ends_only_adds_nothing(read: Read) -> None:
    ended = {"type": "turn_ended", "status": "success"}
    messages, facts = read(ended, ended, bubble("b1", 1, "one"))
    assert said(messages) == [("user", "one")]
    assert facts.messages == 1


# ---- values --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("Thursday, Sep 24, 2026, 1:23 AM (UTC+8)", "2026-09-23T17:23:00.000Z"),
        ("Thursday, Sep 24, 2026, 12:05 PM (UTC)", "2026-09-24T12:05:00.000Z"),
        ("Thursday, September 24, 2026, 12:05 AM (UTC-5:30)", "2026-09-24T05:35:00.000Z"),
        ("Thursday, Foo 24, 2026, 1:23 AM (UTC+8)", None),
        ("Thursday, Feb 31, 2026, 1:23 AM (UTC+8)", None),
        ("Thursday, Sep 24, 2026, 1:23 AM", None),
        ("Thursday, Sep 24, 2026, 1:23 AM (UTC+99)", None),
    ],
)
def test_time_stamps(stamp: str, time: str | None) -> None:
    assert stamped(f"<timestamp>{stamp}</timestamp>\n") == time


def test_typed_words() -> None:
    assert typed("<user_query>\na\n</user_query>\n<user_query>\nb\n</user_query>") == "a\nb"
    assert typed("no tag") is None


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///home/dev/my%20app", "/home/dev/my app"),
        ("file:///c%3A/Users/x", "c:/Users/x"),
        ("vscode-remote://ssh-remote%2Bbox/home/x", "/home/x"),
        ("file:///home/%E6%96%B0", "/home/新"),
        ("untitled", None),
        (7, None),
        ("x://host", None),
    ],
)
def test_paths_of_uris(uri: Any, path: str | None) -> None:
    assert path_of(uri) == path


ODD: tuple[Any, ...] = (
    None,
    7,
    [],
    {},
    "x",
    True,
    [None],
    {"type": {}},
    {"role": [], "content": {"a": 1}},
)


def odd_natives() -> Iterator[dict[str, Any]]:
    for value in ODD:
        for table in ("bubble", "inline", "composer", "head", "tab", "meta", "blob", "new", 7):
            yield {"table": table, "key": "a:b:c", "value": value}
        for role in ("user", "assistant"):
            yield {"role": role, "message": value}
            yield {"role": role, "content": [value]}
        yield {"type": value}
        for blob in ({"role": "tool", "content": [value]}, {"protobuf": {"1": value, "4": value}}):
            yield {"table": "blob", "key": "k", "value": blob}
        tool = {"type": 2, "toolFormerData": value, "thinking": value, "text": value}
        yield {"table": "bubble", "key": "k", "value": {**tool, "createdAt": value}}


def test_odd_records_never_raise() -> None:
    reader = CursorReader("c1")
    messages: list[Message] = []
    for place, native in enumerate(odd_natives()):
        messages += reader.feed(minted(native), MessageId(f"msg_{place}"))
    settled = reader.settle(messages)
    assert reader.facts().messages == sum(m.kind != "meta" for m in settled)
