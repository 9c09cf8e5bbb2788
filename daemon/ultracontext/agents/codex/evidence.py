"""Runs of the matrix with Codex as the target. Written by `tests/agents/matrix`."""

from __future__ import annotations

from ultracontext.formats import Run

TEST = "tests/agents/test_switch_matrix.py::test_history_arrives"

ROWS: tuple[tuple[str, str, str, str, str], ...] = (
    ("claude", "2.0.77", "0.125.0", "2026-11-30", "3eef1fe289c6"),
    ("claude", "2.0.77", "0.171.0", "2026-11-30", "fe1801161564"),
    ("claude", "2.1.332", "0.125.0", "2026-11-30", "fe1801161564"),
    ("claude", "2.1.332", "0.171.0", "2026-11-30", "3eef1fe289c6"),
    ("codex", "0.125.0", "0.125.0", "2026-11-30", "362e824d42e0"),
    ("codex", "0.125.0", "0.171.0", "2026-11-30", "362e824d42e0"),
    ("codex", "0.171.0", "0.125.0", "2026-11-30", "362e824d42e0"),
    ("codex", "0.171.0", "0.171.0", "2026-11-30", "362e824d42e0"),
    ("cursor", "2026.09", "0.125.0", "2026-11-30", "030bcda44e04"),
    ("cursor", "2026.09", "0.171.0", "2026-11-30", "030bcda44e04"),
    ("gemini", "0.29.0", "0.125.0", "2026-11-30", "324b9d6c1afc"),
    ("gemini", "0.29.0", "0.171.0", "2026-11-30", "2082d33dd322"),
    ("gemini", "0.61.0", "0.125.0", "2026-11-30", "2082d33dd322"),
    ("gemini", "0.61.0", "0.171.0", "2026-11-30", "324b9d6c1afc"),
    ("openclaw", "2026.7.35", "0.125.0", "2026-11-30", "3c914874bb3b"),
    ("openclaw", "2026.7.35", "0.171.0", "2026-11-30", "b5623b4063e2"),
    ("openclaw", "2026.9.6", "0.125.0", "2026-11-30", "b5623b4063e2"),
    ("openclaw", "2026.9.6", "0.171.0", "2026-11-30", "3c914874bb3b"),
)  # fmt: skip
"""Source, its version, version of the target, day, digest of the code."""

RUNS = tuple(
    Run(
        source=source,
        source_version=came,
        target="codex",
        version=version,
        date=day,
        test=f"{TEST}[{source}-{came}-to-codex-{version}]",
    )
    for source, came, version, day, _ in ROWS
)
