"""Runs of the end-to-end matrix with Gemini CLI as the target. Written by `tests/agents/matrix`."""

from __future__ import annotations

from ultracontext.formats import Run

RUNS: tuple[Run, ...] = ()
