"""Runs of the matrix with Claude Code as the target. Written by `tests/agents/matrix`."""

from __future__ import annotations

from ultracontext.formats import Run

TEST = "tests/agents/test_switch_matrix.py::test_history_arrives"

ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    ("claude", "2.0.77", "2.0.77", "2026-11-30", ""),
    ("claude", "2.0.77", "2.1.332", "2026-11-30", ""),
    ("claude", "2.1.332", "2.0.77", "2026-11-30", ""),
    ("claude", "2.1.332", "2.1.332", "2026-11-30", ""),
    ("codex", "0.125.0", "2.0.77", "2026-11-30", ""),
    ("codex", "0.125.0", "2.1.332", "2026-11-30", ""),
    ("codex", "0.171.0", "2.0.77", "2026-11-30", ""),
    ("codex", "0.171.0", "2.1.332", "2026-11-30", ""),
    ("gemini", "0.29.0", "2.0.77", "2026-11-30", ""),
    ("gemini", "0.29.0", "2.1.332", "2026-11-30", ""),
    ("gemini", "0.61.0", "2.0.77", "2026-11-30", ""),
    ("gemini", "0.61.0", "2.1.332", "2026-11-30", ""),
    ("openclaw", "2026.7.35", "2.0.77", "2026-11-30", ""),
    ("openclaw", "2026.7.35", "2.1.332", "2026-11-30", ""),
    ("openclaw", "2026.9.6", "2.0.77", "2026-11-30", ""),
    ("openclaw", "2026.9.6", "2.1.332", "2026-11-30", ""),
)  # fmt: skip
"""Source, its version, version of the target, day, digest of the code."""

RUNS = tuple(
    Run(
        source=source,
        source_version=came,
        target="claude",
        version=version,
        date=day,
        test=f"{TEST}[{source}-{came}-to-claude-{version}]",
    )
    for source, came, version, day, _ in ROWS
)
