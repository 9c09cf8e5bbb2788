"""Runs of the matrix with Claude Code as the target. Written by `tests/agents/matrix`."""

from __future__ import annotations

from ultracontext.formats import Run

TEST = "tests/agents/test_switch_matrix.py::test_history_arrives"

ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    ("claude", "2.0.77", "2.0.77", "2026-11-30", "9b1001782586"),
    ("claude", "2.0.77", "2.1.332", "2026-11-30", "619a8308114c"),
    ("claude", "2.1.332", "2.0.77", "2026-11-30", "9b1001782586"),
    ("claude", "2.1.332", "2.1.332", "2026-11-30", "9b1001782586"),
    ("codex", "0.125.0", "2.0.77", "2026-11-30", "fe1801161564"),
    ("codex", "0.125.0", "2.1.332", "2026-11-30", "3eef1fe289c6"),
    ("codex", "0.171.0", "2.0.77", "2026-11-30", "fe1801161564"),
    ("codex", "0.171.0", "2.1.332", "2026-11-30", "fe1801161564"),
    ("cursor", "2026.09", "2.0.77", "2026-11-30", "2ccf212f5e84"),
    ("cursor", "2026.09", "2.1.332", "2026-11-30", "2ccf212f5e84"),
    ("gemini", "0.29.0", "2.0.77", "2026-11-30", "919761b0f3f1"),
    ("gemini", "0.29.0", "2.1.332", "2026-11-30", "919761b0f3f1"),
    ("gemini", "0.61.0", "2.0.77", "2026-11-30", "919761b0f3f1"),
    ("gemini", "0.61.0", "2.1.332", "2026-11-30", "2c2ebedca67c"),
    ("openclaw", "2026.7.35", "2.0.77", "2026-11-30", "0eb4531333e2"),
    ("openclaw", "2026.7.35", "2.1.332", "2026-11-30", "0eb4531333e2"),
    ("openclaw", "2026.9.6", "2.0.77", "2026-11-30", "0eb4531333e2"),
    ("openclaw", "2026.9.6", "2.1.332", "2026-11-30", "12f67149bb3e"),
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
