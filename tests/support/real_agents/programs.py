"""Which programs there are (tests/agents/programs.json) and where they were installed."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PINS = Path(__file__).resolve().parents[2] / "agents" / "programs.json"
INSTALL = "tests/agents/install"

_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
_HERE = {
    "system": platform.system().lower(),
    "machine": _MACHINES.get(platform.machine().lower(), platform.machine().lower()),
}


def folder() -> Path:
    """Where the programs are, one folder each."""
    named = os.environ.get("UC_AGENTS")
    return Path(named) if named else Path.home() / ".cache" / "ultracontext-agents"


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    agent: str
    version: str
    package: str
    integrity: str | None
    """Of the package itself, as npm writes it; None where this platform's is not known."""
    command: str
    """Below `node_modules`."""
    finish: str | None
    """A script of the package, below `node_modules`, that completes the install."""
    needs: str | None
    """Name of another program that it runs on."""

    @property
    def name(self) -> str:
        return f"{self.agent}-{self.version}"

    @property
    def place(self) -> Path:
        return folder() / self.name

    @property
    def executable(self) -> Path:
        return self.place / "node_modules" / self.command

    @property
    def installed(self) -> bool:
        """`install` renames the folder to this name when all is in it."""
        return self.executable.exists()

    def required(self) -> list[Program]:
        """It and what it runs on."""
        return [self, *(p for p in EVERYTHING if p.agent == self.needs)]


def _program(pin: dict[str, Any]) -> Program:
    package = pin["package"].format(**_HERE)
    integrity = pin["integrity"]
    return Program(
        agent=pin["agent"],
        version=pin["version"],
        package=package,
        integrity=integrity.get(package) if isinstance(integrity, dict) else integrity,
        command=pin["command"].format(**_HERE),
        finish=pin.get("finish"),
        needs=pin.get("needs"),
    )


_pins = json.loads(PINS.read_text(encoding="utf-8"))

BEFORE: str = _pins["before"]
"""No dependency that was published later is taken: with it the pinned versions pin all."""

EVERYTHING = [_program(pin) for pin in _pins["programs"]]
PROGRAMS = [program for program in EVERYTHING if program.agent != "node"]
