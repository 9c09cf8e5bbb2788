"""What was run, and so what `compat` may claim.

Each agent's folder holds its own: `compat.COMPAT`. The runs are made by the end-to-end test
(`tests/agents/test_switch_matrix.py`) and never written by hand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from ultracontext.formats.versions import Version


class Run(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One cell of the matrix: a session of one program, written for another, opened by that."""

    source: str
    source_version: str
    target: str
    version: str
    """Of the target's program."""
    date: str
    test: str
    passed: bool = True
    note: str = ""
    local: bool = False
    """Made on this machine by `compat prove`."""


class Reads(msgspec.Struct, frozen=True, kw_only=True):
    """A format that our reader was tried on."""

    format: str
    versions: tuple[str, ...]
    evidence: str
    """`11 recordings, 2026-11-30`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaks:
    """Versions that are known not to open what we write."""

    first: str
    last: str | None
    """None = all from `first` on."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Writes:
    """A format that our writer writes."""

    format: str
    first: str
    """The oldest version of the program that it is meant for."""
    last: str | None = None
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compat:
    """All that is known of an agent's versions."""

    reads: tuple[Reads, ...]
    writes: tuple[Writes, ...] = ()
    runs: tuple[Run, ...] = ()
    """With this agent as the target."""
    breaks: tuple[Breaks, ...] = ()
    generation: Callable[[Version], str]
    """Versions of one generation use one format: what holds for two of them is expected to hold
    between them."""
    handoff: str = ""
    """Why there is no native way, where there is none."""
