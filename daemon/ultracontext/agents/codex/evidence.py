"""Runs of the end-to-end matrix with Codex as the target (`tests/agents/matrix`)."""

from __future__ import annotations

from ultracontext.formats import Run

_TEST = "tests/agents/test_switch_matrix.py::test_history_arrives"

RUNS: tuple[Run, ...] = tuple(
    Run(
        source=source, source_version=source_version, target="codex", version=version, date=date,
        test=f"{_TEST}[{source}-{source_version}-to-codex-{version}]",
    )
    for source, source_version, version, date in (
        ("claude", "2.0.77", "0.125.0", "2026-11-30"),
        ("claude", "2.1.332", "0.125.0", "2026-11-30"),
        ("codex", "0.125.0", "0.125.0", "2026-11-30"),
        ("codex", "0.171.0", "0.125.0", "2026-11-30"),
        ("gemini", "0.29.0", "0.125.0", "2026-11-30"),
        ("gemini", "0.61.0", "0.125.0", "2026-11-30"),
        ("openclaw", "2026.7.35", "0.125.0", "2026-11-30"),
        ("openclaw", "2026.9.6", "0.125.0", "2026-11-30"),
        ("claude", "2.0.77", "0.171.0", "2026-11-30"),
        ("claude", "2.1.332", "0.171.0", "2026-11-30"),
        ("codex", "0.125.0", "0.171.0", "2026-11-30"),
        ("codex", "0.171.0", "0.171.0", "2026-11-30"),
        ("gemini", "0.29.0", "0.171.0", "2026-11-30"),
        ("gemini", "0.61.0", "0.171.0", "2026-11-30"),
        ("openclaw", "2026.7.35", "0.171.0", "2026-11-30"),
        ("openclaw", "2026.9.6", "0.171.0", "2026-11-30"),
    )
)  # fmt: skip
