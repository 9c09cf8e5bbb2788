"""Runs of the end-to-end matrix with Claude Code as the target (`tests/agents/matrix`)."""

from __future__ import annotations

from ultracontext.formats import Run

RUNS: tuple[Run, ...] = ()
