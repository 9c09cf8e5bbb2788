"""Runs of the matrix with Gemini CLI as the target. Written by `tests/agents/matrix`."""

from __future__ import annotations

from ultracontext.formats import Run

TEST = "tests/agents/test_switch_matrix.py::test_history_arrives"

ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    ("claude", "2.0.77", "0.29.0", "2026-11-30", "2c2ebedca67c"),
    ("claude", "2.0.77", "0.61.0", "2026-11-30", "2c2ebedca67c"),
    ("claude", "2.1.332", "0.29.0", "2026-11-30", "2c2ebedca67c"),
    ("claude", "2.1.332", "0.61.0", "2026-11-30", "919761b0f3f1"),
    ("codex", "0.125.0", "0.29.0", "2026-11-30", "324b9d6c1afc"),
    ("codex", "0.125.0", "0.61.0", "2026-11-30", "324b9d6c1afc"),
    ("codex", "0.171.0", "0.29.0", "2026-11-30", "324b9d6c1afc"),
    ("codex", "0.171.0", "0.61.0", "2026-11-30", "324b9d6c1afc"),
    ("cursor", "2026.09", "0.29.0", "2026-11-30", "f76b2da68d3c"),
    ("cursor", "2026.09", "0.61.0", "2026-11-30", "e98e860972ab"),
    ("gemini", "0.29.0", "0.29.0", "2026-11-30", "77f26b65e4b8"),
    ("gemini", "0.29.0", "0.61.0", "2026-11-30", "77f26b65e4b8"),
    ("gemini", "0.61.0", "0.29.0", "2026-11-30", "a478107cf6aa"),
    ("gemini", "0.61.0", "0.61.0", "2026-11-30", "a478107cf6aa"),
    ("openclaw", "2026.7.35", "0.29.0", "2026-11-30", "caf3068e6124"),
    ("openclaw", "2026.7.35", "0.61.0", "2026-11-30", "caf3068e6124"),
    ("openclaw", "2026.9.6", "0.29.0", "2026-11-30", "caf3068e6124"),
    ("openclaw", "2026.9.6", "0.61.0", "2026-11-30", "35974e1c03c2"),
)  # fmt: skip
"""Source, its version, version of the target, day, digest of the code."""

RUNS = tuple(
    Run(
        source=source,
        source_version=came,
        target="gemini",
        version=version,
        date=day,
        test=f"{TEST}[{source}-{came}-to-gemini-{version}]",
    )
    for source, came, version, day, _ in ROWS
)
