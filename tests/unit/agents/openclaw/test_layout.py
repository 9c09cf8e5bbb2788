"""Where sessions lie, and which names are none."""

from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from ultracontext.agents.openclaw.layout import classify, roots
from ultracontext.formats import Engine

FOLDER = "agents/main/sessions"


@pytest.mark.parametrize(
    ("name", "role", "hint"),
    [
        ("id-1.jsonl", "session", "id-1"),
        ("id-1-topic-42%2F7.jsonl", "session", "id-1"),
        ("id-1.jsonl.reset.2026-11-30T14-08-15.746Z", "reset", "id-1"),
        ("id-1.jsonl.deleted.2026-11-30T14-08-15.746Z", "deleted", "id-1"),
        ("id-1-topic-4.jsonl.deleted.2026-11-30T14-08-15.746Z", "deleted", "id-1"),
        ("id-1.jsonl.bak.1796047204521", "bak", "id-1"),
    ],
)
def test_sessions(name: str, role: str, hint: str) -> None:
    facts = classify(PurePosixPath(FOLDER, name))
    assert facts is not None
    assert (facts.engine, facts.role, facts.session_hint) == (Engine.APPEND_LOG, role, hint)


@pytest.mark.parametrize(
    "name",
    [
        "sessions.json", "sessions.json.bak.1", "sessions.json.0a1b.tmp", "id-1.trajectory.jsonl",
        "id-1.trajectory-path.json", "id-1.jsonl.lock", "id-1.jsonl.tmp",
        "id-1.checkpoint.6513270e-269e-4d37-b2a7-4de452e6b438.jsonl",
        "id-1.jsonl.corrupt-2026-11-30T14-08-15-0a1b2c3d.jsonl", ".jsonl", ".x.jsonl",
        "skills-prompts/sha256/aa/x.txt", "id-1.jsonl.reset.2026-11-30T14-08-15.746Z.tmp",
    ],
)  # fmt: skip
def test_other_files(name: str) -> None:
    assert classify(PurePosixPath(FOLDER, name)) is None


def test_database_and_imported_files() -> None:
    facts = classify(PurePosixPath("agents/work/agent/openclaw-agent.sqlite"))
    assert facts is not None
    assert facts.engine is Engine.DATABASE
    archive = "agents/main/session-sqlite-import-archive"
    imported = classify(PurePosixPath(archive, "agent_main_x.id-1.jsonl.imported-1796047204521"))
    assert imported is not None
    assert (imported.role, imported.session_hint) == ("imported", "id-1")
    for name in (
        "legacy-store.sessions.json.imported-1796047204521",
        "agent_main_x.id-1.trajectory.jsonl.imported-1796047204521",
    ):
        assert classify(PurePosixPath(archive, name)) is None
    assert classify(PurePosixPath("state/openclaw.sqlite")) is None
    assert classify(PurePosixPath("agents/main/agent/auth-profiles.json")) is None


def test_queries_name_no_table_that_holds_credentials() -> None:
    facts = classify(PurePosixPath("agents/main/agent/openclaw-agent.sqlite"))
    assert facts is not None
    assert not any("auth" in query.sql for query in facts.queries)


def test_roots() -> None:
    home = PurePosixPath("/home/dev")
    assert list(roots({}, home)) == [home / ".openclaw"]
    assert list(roots({"OPENCLAW_STATE_DIR": "/x"}, home)) == [PurePosixPath("/x")]
