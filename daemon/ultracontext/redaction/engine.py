"""Finding where a rule may match, or base64 text stands; `confirm` decides.

A candidate is (rule number, a position inside the possible match), and an engine gives one for
every real match: it may say too much, never too little.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from ultracontext.errors import RedactionError
from ultracontext.redaction.rules import Rule

Candidate = tuple[int, int]

ENGINE_VARIABLE = "ULTRACONTEXT_REDACTION_ENGINE"


BASE64 = -1
"""The number that stands for a run of base64 text instead of a rule."""


class Engine(Protocol):
    """Looks for all rules at once in one text."""

    name: str

    def candidates(self, data: bytes) -> list[Candidate]:
        """Raises RedactionError when the text could not be scanned as a whole."""


def open_engine(
    rules: Sequence[Rule], *, name: str | None = None, cache_dir: Path | None = None
) -> Engine:
    """The engine `name` (`hyperscan`, `aho`), else of the variable, else the fastest here."""
    wanted = name or os.environ.get(ENGINE_VARIABLE) or _fastest()
    if wanted == "hyperscan":
        from ultracontext.redaction.hyperscan_engine import HyperscanEngine

        return HyperscanEngine(rules, cache_dir)
    if wanted == "aho":
        from ultracontext.redaction.aho_engine import AhoEngine

        return AhoEngine(rules)
    raise RedactionError(
        f"no such redaction engine: {wanted}", hint=f"Set {ENGINE_VARIABLE} to hyperscan or aho"
    )


def _fastest() -> str:
    if importlib.util.find_spec("hyperscan") is None:
        return "aho"
    try:
        import hyperscan  # noqa: F401
    except ImportError:
        return "aho"
    return "hyperscan"
