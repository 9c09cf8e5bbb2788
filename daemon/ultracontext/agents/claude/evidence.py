"""Runs of the end-to-end matrix with Claude Code as the target (`tests/agents/matrix`)."""

from __future__ import annotations

from ultracontext.formats import Run

_TEST = "tests/agents/test_switch_matrix.py::test_history_arrives"

RUNS: tuple[Run, ...] = tuple(
    Run(
        source=source, source_version=source_version, target="claude", version=version, date=date,
        test=f"{_TEST}[{source}-{source_version}-to-claude-{version}]",
    )
    for source, source_version, version, date in (
        ("claude", "2.0.77", "2.0.77", "2026-11-30"),
        ("claude", "2.1.332", "2.0.77", "2026-11-30"),
        ("codex", "0.125.0", "2.0.77", "2026-11-30"),
        ("codex", "0.171.0", "2.0.77", "2026-11-30"),
        ("gemini", "0.29.0", "2.0.77", "2026-11-30"),
        ("gemini", "0.61.0", "2.0.77", "2026-11-30"),
        ("openclaw", "2026.7.35", "2.0.77", "2026-11-30"),
        ("openclaw", "2026.9.6", "2.0.77", "2026-11-30"),
        ("claude", "2.0.77", "2.1.332", "2026-11-30"),
        ("claude", "2.1.332", "2.1.332", "2026-11-30"),
        ("codex", "0.125.0", "2.1.332", "2026-11-30"),
        ("codex", "0.171.0", "2.1.332", "2026-11-30"),
        ("gemini", "0.29.0", "2.1.332", "2026-11-30"),
        ("gemini", "0.61.0", "2.1.332", "2026-11-30"),
        ("openclaw", "2026.7.35", "2.1.332", "2026-11-30"),
        ("openclaw", "2026.9.6", "2.1.332", "2026-11-30"),
    )
)  # fmt: skip
