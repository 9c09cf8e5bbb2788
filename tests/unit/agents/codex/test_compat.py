from __future__ import annotations

from pathlib import Path

from ultracontext.agents.codex.compat import EVIDENCE

FIXTURES = Path(__file__).parents[3] / "fixtures" / "codex"


def test_every_version_has_its_recordings_and_every_recording_a_version() -> None:
    named = {name for evidence in EVIDENCE for name in evidence.recordings}
    assert named == {path.name for path in FIXTURES.iterdir() if path.is_dir()}


def test_recordings_are_of_the_version_that_they_prove() -> None:
    for evidence in EVIDENCE:
        for name in evidence.recordings:
            first = next((FIXTURES / name).rglob("rollout-*.jsonl")).read_text().split("\n")[0]
            assert f'"cli_version":"{evidence.version}"' in first
            assert ('"history_mode":"paginated"' in first) == (evidence.style == "paginated")
