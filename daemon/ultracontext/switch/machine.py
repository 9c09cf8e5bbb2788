"""What a switch needs of the floor above: reading agents' sources, which only capture can."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol

from ultracontext.formats import AgentSpec, Lookup
from ultracontext.switch.session import MaskedSession


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that may hold sessions of an agent."""

    spec: AgentSpec
    root: Path
    path: Path
    modified_at: datetime
    hint: str | None = None
    """Session id as its name has it."""
    role: str = "session"


class Machine(Protocol):
    """Reads; it writes nothing and starts nothing."""

    def files(self, agents: Iterable[str]) -> list[SourceFile]:
        """All sources of these agents, newest first."""

    def may_mention(self, file: SourceFile, folders: Sequence[str]) -> bool:
        """Whether a file could hold a session of one of the folders; False is sure."""

    def read(self, file: SourceFile, *, wait_seconds: float = 0.0) -> list[MaskedSession]:
        """The sessions in it, to its end. Waits so long for a record that is being written. Raises
        CaptureError."""

    def answers(
        self, root: Path, lookups: Sequence[Lookup], session_id: str
    ) -> Mapping[str, Any]: ...
