"""Where sources lie."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from ultracontext.agents.gemini.layout import (
    checkpoint_tag,
    classify,
    is_document,
    parent_of,
    project_of,
    roots,
)
from ultracontext.formats import Engine


def test_the_home_is_moved_by_its_variable() -> None:
    home = PurePosixPath("/home/dev")
    assert roots({}, home) == [PurePosixPath("/home/dev/.gemini")]
    assert roots({"GEMINI_CLI_HOME": "/x"}, home) == [PurePosixPath("/x/.gemini")]
    assert roots({"GEMINI_CLI_HOME": ""}, PureWindowsPath("C:/u")) == [
        PureWindowsPath("C:/u/.gemini")
    ]


@pytest.mark.parametrize(
    ("path", "engine", "role", "hint"),
    [
        ("tmp/app/chats/session-2026-01-02T03-04-9712b4a9.jsonl", "append-log", "session", None),
        ("tmp/app/chats/session-foo.json", "document", "session", "session-foo"),
        ("tmp/app/chats/foo.jsonl", "append-log", "session", "foo"),
        ("tmp/chats/chats/foo.jsonl", "append-log", "session", "foo"),
        (f"tmp/{'0' * 64}/chats/session-foo.json", "document", "session", "session-foo"),
        ("tmp/app/chats/parent/agent.jsonl", "append-log", "subagent", "agent"),
        ("tmp/app/chats/foo.jsonl.unreadable-1796047430625", "append-log", "session", "foo"),
        ("tmp/app/checkpoint-a%2Fb.json", "document", "checkpoint", "checkpoint-a%2Fb@app"),
        ("tmp/app/checkpoint.json", "document", "checkpoint", "checkpoint@app"),
    ],
)
def test_sources(path: str, engine: str, role: str, hint: str | None) -> None:
    facts = classify(PurePosixPath(path))
    assert facts is not None
    assert (facts.engine, facts.role) == (engine, role)
    assert hint is None or facts.session_hint == hint
    assert (facts.document is not None) == (facts.engine is Engine.DOCUMENT)


@pytest.mark.parametrize(
    "path",
    [
        "oauth_creds.json", "settings.json", "state.json", "projects.json", "tmp/app/logs.json",
        "tmp/app/.project_root", "tmp/app/chats/.hidden.jsonl", "tmp/app/chats/x.jsonl.tmp-17",
        "tmp/app/tool-outputs/session-x/shell_1.txt", "tmp/app/checkpoints/a.json",
        "history/app/chats/session-a.jsonl", "tmp/app/chats/x.txt",
        "tmp/app/plans/checkpoint-a.json",
        "tmp/checkpoint-a.json", "tmp/app/chats/a/b/c/d.jsonl", "tmp/app/chats/.json",
    ],
)  # fmt: skip
def test_no_sources(path: str) -> None:
    assert classify(PurePosixPath(path)) is None


def test_what_a_path_says_of_a_record() -> None:
    assert parent_of("/h/.gemini/tmp/app/chats/p/a.jsonl") == "p"
    assert parent_of("/h/.gemini/tmp/app/chats/a.jsonl") is None
    assert parent_of("/h/.gemini/tmp/chats/chats/a.jsonl") is None
    assert project_of("/h/.gemini/tmp/chats/chats/a.jsonl") == "chats"
    assert project_of("/h/.gemini/tmp/app/chats/p/a.jsonl") == "app"
    assert project_of("/h/.gemini/tmp/app/checkpoint-x.json") == "app"
    assert project_of("C:\\h\\.gemini\\tmp\\app\\chats\\a.jsonl") == "app"
    assert project_of("x") is None
    assert checkpoint_tag("/h/tmp/app/checkpoint-a%20%C3%A9%2F.json") == "a é/"
    assert checkpoint_tag("/h/tmp/app/checkpoint.json") == ""
    assert checkpoint_tag("/h/tmp/app/chats/checkpoint-a.json") is None
    assert is_document("/a.json")
    assert is_document("/a.json.unreadable-1")
    assert not is_document("/a.jsonl")
