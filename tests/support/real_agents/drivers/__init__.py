"""A driver for each agent."""

from __future__ import annotations

from pathlib import Path

from real_agents.driver import Driver
from real_agents.drivers.claude import Claude
from real_agents.drivers.codex import Codex
from real_agents.drivers.gemini import GeminiCli
from real_agents.drivers.openclaw import OpenClaw
from real_agents.programs import Program
from real_agents.server import ModelServer

DRIVERS: dict[str, type[Driver]] = {
    "claude": Claude,
    "codex": Codex,
    "gemini": GeminiCli,
    "openclaw": OpenClaw,
}


def driver_for(program: Program, home: Path, project: Path, model: ModelServer) -> Driver:
    return DRIVERS[program.agent](program, home, project, model)
