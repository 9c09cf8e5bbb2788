"""Where sessions lie, and how their folders are named."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from ultracontext.agents.claude.layout import classify, roots, slug

ID = "9712b4a9-6617-48ef-b0e0-da1327bd1afa"
HOME = PurePosixPath("/home/dev")


def test_root_is_the_configured_folder() -> None:
    assert roots({"CLAUDE_CONFIG_DIR": "/etc/claude"}, HOME) == [PurePosixPath("/etc/claude")]


@pytest.mark.parametrize("environment", [{}, {"CLAUDE_CONFIG_DIR": ""}])
def test_root_is_below_home_without_one(environment: dict[str, str]) -> None:
    assert roots(environment, HOME) == [PurePosixPath("/home/dev/.claude")]


@pytest.mark.parametrize("stem", [ID, ID.upper(), "session copy", "-"])
def test_session_file(stem: str) -> None:
    facts = classify(PurePosixPath(f"projects/-home-dev/{stem}.jsonl"))
    assert facts is not None
    assert (facts.engine, facts.role, facts.session_hint, facts.parent_hint) == (
        "append-log", "session", stem, None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("path", "parent"),
    [
        (f"projects/-home-dev/{ID}/subagents/agent-a24bc169411f2f368.jsonl", ID),
        ("projects/-home-dev/agent-a24bc169411f2f368.jsonl", None),
    ],
)
def test_subagent_file_p19(path: str, parent: str | None) -> None:
    facts = classify(PurePosixPath(path))
    assert facts is not None
    assert facts.role == "subagent"
    assert facts.session_hint == "a24bc169411f2f368"
    assert facts.parent_hint == parent


@pytest.mark.parametrize(
    "path",
    [
        "history.jsonl",
        "projects",
        "projects/-home-dev",
        f"projects/{ID}.jsonl",
        f"other/-home-dev/{ID}.jsonl",
        f"projects/-home-dev/{ID}.jsonl.tmp",
        f"projects/-home-dev/{ID}.json",
        f"projects/-home-dev/.{ID}.jsonl",
        "projects/-home-dev/.jsonl",
        f"projects/-home-dev/{ID}/custom-title.json",
        f"projects/-home-dev/{ID}/tool-results/bg8fdzlor.txt",
        f"projects/-home-dev/{ID}/subagents/agent-a24.meta.json",
        f"projects/-home-dev/{ID}/subagents/notes.jsonl",
        f"projects/-home-dev/{ID}/other/agent-a24.jsonl",
        f"projects/-home-dev/{ID}/agent-a24.jsonl",
        f"projects/-home-dev/{ID}/subagents/deeper/agent-a24.jsonl",
        "todos/x-agent-x.json",
        "sessions/123.json",
    ],
)
def test_everything_else_is_no_source(path: str) -> None:
    assert classify(PurePosixPath(path)) is None


@pytest.mark.parametrize(
    ("cwd", "folder"),
    [
        ("/w/my_app/.x", "-w-my-app--x"),
        ("/home/dev/claude-lab/acme-api", "-home-dev-claude-lab-acme-api"),
        (
            "/home/dev/claude-lab/Проект é/app.v2_x 日本",
            "-home-dev-claude-lab----------app-v2-x---",
        ),
        ("/", "-"),
        ("", ""),
        ("/a", "-a"),
        ("/a/", "-a-"),
        ("/a//b", "-a--b"),
        ("/A/b", "-A-b"),
        ("/a.b", "-a-b"),
        ("/a_b", "-a-b"),
        ("/a-b", "-a-b"),
        ("/a b", "-a-b"),
        ("/a~b@c", "-a-b-c"),
        ("/x/é", "-x--"),
        ("/w/新聞", "-w---"),
        ("/w/暫存", "-w---"),
        ("/w/🎉", "-w---"),
        ("/w/e\u0301", "-w-e-"),
        ("/w/٣", "-w--"),
        ("C:\\Users\\u\\r", "C--Users-u-r"),
        ("/mnt/c/Users/u/r", "-mnt-c-Users-u-r"),
        ("/w/\ud83d", "-w--"),
        ("/w/a\nb", "-w-a-b"),
    ],
)
def test_slug_p29(cwd: str, folder: str) -> None:
    assert slug(cwd) == folder


def test_slug_of_two_projects_may_be_one_p30() -> None:
    assert slug("/w/新聞") == slug("/w/暫存")


def test_long_slug_is_cut_and_hashed_p29() -> None:
    cwd = "/home/dev/" + "x" * 300
    folder = slug(cwd)
    assert folder[:201] == "-home-dev-" + "x" * 190 + "-"
    assert folder[201:] == "ksqg4b"
    assert slug(cwd + "y") != folder
    assert len(slug("/" + "a" * 199)) == 200


@pytest.mark.parametrize(
    ("cwd", "digits"),
    [("/" + "." * 250, "ed8es1"), ("/" + "🎉" * 120, "o9q91j")],
)
def test_hash_is_over_the_unreplaced_path(cwd: str, digits: str) -> None:
    assert slug(cwd)[201:] == digits
