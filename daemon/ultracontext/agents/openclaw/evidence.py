"""Runs of the matrix with OpenClaw as the target. Written by `tests/agents/matrix`."""

from __future__ import annotations

from ultracontext.formats import Run

TEST = "tests/agents/test_switch_matrix.py::test_history_arrives"

ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    ("claude", "2.0.77", "2026.7.35", "2026-11-30", "cf492aa0dd4e"),
    ("claude", "2.0.77", "2026.9.6", "2026-11-30", "4ac7bcb5752b"),
    ("claude", "2.1.332", "2026.7.35", "2026-11-30", "0eb4531333e2"),
    ("claude", "2.1.332", "2026.9.6", "2026-11-30", "0eb4531333e2"),
    ("codex", "0.125.0", "2026.7.35", "2026-11-30", "3c914874bb3b"),
    ("codex", "0.125.0", "2026.9.6", "2026-11-30", "1b092e57ab3f"),
    ("codex", "0.171.0", "2026.7.35", "2026-11-30", "3c914874bb3b"),
    ("codex", "0.171.0", "2026.9.6", "2026-11-30", "1b092e57ab3f"),
    ("cursor", "2026.09", "2026.7.35", "2026-11-30", "415e762fbccd"),
    ("cursor", "2026.09", "2026.9.6", "2026-11-30", "48dc623940e2"),
    ("gemini", "0.29.0", "2026.7.35", "2026-11-30", "002be6ff55b2"),
    ("gemini", "0.29.0", "2026.9.6", "2026-11-30", "7b9d5f8794c3"),
    ("gemini", "0.61.0", "2026.7.35", "2026-11-30", "002be6ff55b2"),
    ("gemini", "0.61.0", "2026.9.6", "2026-11-30", "7b9d5f8794c3"),
    ("openclaw", "2026.7.35", "2026.7.35", "2026-11-30", "617fe49bdc36"),
    ("openclaw", "2026.7.35", "2026.9.6", "2026-11-30", "d050983d858a"),
    ("openclaw", "2026.9.6", "2026.7.35", "2026-11-30", "51804caf915a"),
    ("openclaw", "2026.9.6", "2026.9.6", "2026-11-30", "617fe49bdc36"),
)  # fmt: skip
"""Source, its version, version of the target, day, digest of the code."""

RUNS = tuple(
    Run(
        source=source,
        source_version=came,
        target="openclaw",
        version=version,
        date=day,
        test=f"{TEST}[{source}-{came}-to-openclaw-{version}]",
    )
    for source, came, version, day, _ in ROWS
)
