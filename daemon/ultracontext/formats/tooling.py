"""Where an agent takes its MCP servers and skills from. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

Place = Callable[[Mapping[str, str], PurePath], PurePath]
"""(environment, home folder) → a file or folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tooling:
    """The person's own settings of one agent, not those of a project."""

    file: Place
    form: Literal["json", "toml"] = "json"
    keys: tuple[str, ...] = ("mcpServers",)
    """Of the object (JSON) or table (TOML) that holds the servers by name."""
    typed: bool = False
    """Whether an entry says `"type": "stdio"`."""
    skills: Place | None = None
    """Folder of `<name>/SKILL.md`; None: it knows no skills."""
