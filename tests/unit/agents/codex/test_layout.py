from __future__ import annotations

from pathlib import PurePosixPath

import pytest

from ultracontext.agents.codex import SPEC
from ultracontext.formats import Engine

UUID = "01a22cd6-9a61-7840-8dd0-9a521e43952e"
HOME = PurePosixPath("/home/dev")


def test_root_follows_codex_home_and_defaults_to_dot_codex() -> None:
    assert SPEC.roots({}, HOME) == [HOME / ".codex"]
    assert SPEC.roots({"CODEX_HOME": ""}, HOME) == [HOME / ".codex"]
    assert SPEC.roots({"CODEX_HOME": "/srv/codex"}, HOME) == [PurePosixPath("/srv/codex")]


@pytest.mark.parametrize(
    "path",
    [
        f"sessions/2026/11/30/rollout-2026-11-30T14-23-11-{UUID}.jsonl",
        f"sessions/rollout-{UUID}.jsonl",
        f"sessions/import/x/y/z/rollout-2026-11-30T14-23-11-{UUID}.jsonl",
        f"archived_sessions/rollout-2026-11-30T14-23-11-{UUID}.jsonl",
    ],
)
def test_rollouts_at_any_depth_are_append_logs(path: str) -> None:
    facts = SPEC.classify(PurePosixPath(path))
    assert facts is not None
    assert (facts.engine, facts.role, facts.session_hint) == (Engine.APPEND_LOG, "session", UUID)


def test_cold_files_are_compressed_logs() -> None:
    facts = SPEC.classify(PurePosixPath(f"sessions/2026/01/01/rollout-x-{UUID.upper()}.jsonl.zst"))
    assert facts is not None
    assert (facts.engine, facts.session_hint) == (Engine.COMPRESSED_LOG, UUID.upper())


def test_a_name_without_uuid_gives_no_hint() -> None:
    facts = SPEC.classify(PurePosixPath("sessions/rollout-whatever.jsonl"))
    assert facts is not None
    assert facts.session_hint is None


def test_names_are_a_source_of_their_own() -> None:
    facts = SPEC.classify(PurePosixPath("session_index.jsonl"))
    assert facts is not None
    assert facts.role == "names"


@pytest.mark.parametrize(
    "path",
    [
        "history.jsonl",
        "auth.json",
        "state_5.sqlite",
        "sessions/2026/session_index.jsonl",
        f"sessions/2026/11/30/{UUID}.jsonl",
        f"sessions/2026/11/30/rollout-{UUID}.jsonl.tmp",
        f"shell_snapshots/rollout-{UUID}.jsonl",
        f"rollout-{UUID}.jsonl",
    ],
)
def test_everything_else_is_no_source(path: str) -> None:
    assert SPEC.classify(PurePosixPath(path)) is None
