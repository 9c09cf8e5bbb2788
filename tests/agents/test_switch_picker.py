"""The program's own list shows what we wrote, and opens it with the conversation on the screen."""

from __future__ import annotations

import json
import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from real_agents import DRIVERS, PROGRAMS, Driver, ModelServer, Program, driver_for
from real_agents.driver import ORDINARY_USER
from switch_matrix import Matrix, warm_up

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

LISTED = [p for p in PROGRAMS if p.agent in ("claude", "codex")]
WORDS = {"claude": ["--resume"], "codex": ["resume"]}
QUESTIONS = ("Use existing model", "Resume from summary", "Resume full session")
"""Notices of a program before it opens a session; their second choice goes on."""


@dataclass(frozen=True)
class Screen:
    """A terminal of our own."""

    socket: Path

    def tmux(self, *words: str) -> str:
        done = subprocess.run(
            ["tmux", "-S", str(self.socket), *words], capture_output=True, text=True, check=False,
            timeout=20,
        )  # fmt: skip
        return done.stdout

    def wait_for(self, true: Callable[[str], bool], seconds: float = 90) -> str:
        ends = time.monotonic() + seconds
        while True:
            shown = self.tmux("capture-pane", "-p", "-S", "-300")
            if true(shown):
                return shown
            assert time.monotonic() < ends, shown
            if any(question in shown for question in QUESTIONS):
                self.tmux("send-keys", "2", "Enter")
            time.sleep(0.5)


@pytest.fixture
def base() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="uc-picker-", ignore_cleanup_errors=True) as made:
        yield Path(made).resolve()


@pytest.mark.parametrize("program", LISTED, ids=lambda program: program.name)
def test_the_picker_lists_and_opens_it(base: Path, program: Program) -> None:
    for part in program.required():
        if not part.installed:
            absent(f"{part.name} is not installed")
    if shutil.which("tmux") is None:
        absent("tmux is not installed")
    matrix = Matrix(base=base)
    matrix.prepare()
    with ModelServer(dialect=DRIVERS[program.agent].dialect) as model:
        driver = driver_for(program, base / "home", matrix.project, model)
        driver.prepare()
        known_person(driver)
        warm_up(driver, model)
        matrix.switch(matrix.odd(), driver)
        driver.own(driver.home)
        screen = Screen(base / "tmux.sock")
        screen.tmux(
            "new-session", "-d", "-x", "120", "-y", "40", "-c", str(matrix.project),
            shlex.join(command(driver)),
        )  # fmt: skip
        try:
            listed = screen.wait_for(lambda shown: "ALPHA" in shown)
            assert "BETA" not in listed
            choose(screen, listed)
            opened = screen.wait_for(lambda shown: "EPSILON" in shown)
            places = [opened.index(word) for word in ("ALPHA", "BETA", "GAMMA", "EPSILON")]
            assert places == sorted(places)
        finally:
            screen.tmux("kill-server")
            driver.end()


def choose(screen: Screen, listed: str) -> None:
    """Moves to the line; the newest one is chosen at first."""
    lines = [line for line in listed.splitlines() if "ALPHA" in line or "Say hello" in line]
    for _ in lines[: next(n for n, line in enumerate(lines) if "ALPHA" in line)]:
        screen.tmux("send-keys", "Down")
    screen.tmux("send-keys", "Enter")


def command(driver: Driver) -> list[str]:
    env = driver.env() | {"TERM": "xterm-256color"}
    words = [str(driver.program.executable), *WORDS[driver.program.agent]]
    lent = ["runuser", "-u", ORDINARY_USER, "--"] if os.getuid() == 0 else []
    return [*lent, "env", "-i", *(f"{name}={value}" for name, value in env.items()), *words]


def known_person(driver: Driver) -> None:
    """Past the first questions of Claude Code: theme, key, trust in the folder."""
    if driver.program.agent != "claude":
        return
    project = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
    settings = {
        "hasCompletedOnboarding": True, "theme": "dark", "numStartups": 3,
        "customApiKeyResponses": {"approved": ["dummy"], "rejected": []},
        "projects": {str(driver.project): project},
    }  # fmt: skip
    (driver.home / ".claude.json").write_text(json.dumps(settings), encoding="utf-8")
    driver.own(driver.home)


def absent(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} ({pwd.getpwuid(os.getuid()).pw_name})")
    pytest.skip(reason)
