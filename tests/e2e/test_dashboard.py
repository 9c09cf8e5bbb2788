"""The dashboard on a real terminal (tmux), with a live daemon and the recordings of `demo`."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from blackbox import Home

pytestmark = [pytest.mark.full, pytest.mark.timeout(180)]
SECONDS = 60.0


class Terminal:
    """One tmux server of our own, with one window."""

    def __init__(self, folder: Path, env: dict[str, str]) -> None:
        self._tmux = ["tmux", "-f", "/dev/null", "-S", str(folder / "tmux.sock")]
        self._env = env

    def run(self, *words: str) -> str:
        done = subprocess.run(
            [*self._tmux, *words], env=self._env, capture_output=True, text=True, timeout=20,
            check=False,
        )  # fmt: skip
        return done.stdout

    def start(self, command: list[str], width: int, height: int) -> None:
        line = f"{shlex.join(command)}; echo left with $?; sleep 100"
        size = ["-x", str(width), "-y", str(height)]
        self.run("new-session", "-d", *size, line)

    def keys(self, *names: str) -> None:
        self.run("send-keys", *names)

    def screen(self) -> str:
        return self.run("capture-pane", "-p")

    def until(self, met: Callable[[str], bool]) -> str:
        end = time.monotonic() + SECONDS
        while not met(shown := self.screen()):
            assert time.monotonic() < end, f"it did not come:\n{shown}"
            time.sleep(0.2)
        return shown

    def shows(self, text: str) -> str:
        return self.until(lambda shown: text in shown)


@pytest.fixture
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    if shutil.which("tmux") is None:
        if os.environ.get("CI"):
            pytest.fail("tmux is missing")
        pytest.skip("tmux is not installed")
    folder = tmp_path_factory.mktemp("t")
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "PYTHONPATH", "LANG")}
    env = {**kept, "LC_ALL": "C.UTF-8", "TMPDIR": str(folder), "HOME": str(folder)}
    found = Terminal(folder, env)
    yield found
    found.run("kill-server")


def program(*words: str) -> list[str]:
    return [sys.executable, "-m", "ultracontext.cli", *words]


def test_demo_is_watched_read_and_left(terminal: Terminal) -> None:
    terminal.start(program("demo", "--pause", "0.1"), 120, 36)
    shown = terminal.until(lambda s: "● capturing" in s and "upload-service" in s)
    assert "claude" in shown
    terminal.keys("/")
    terminal.shows("agent, project, text")
    terminal.keys("claude", "Enter")
    terminal.shows("/ claude")
    terminal.keys("Enter")
    terminal.shows("Lineage")
    terminal.shows("[redacted:github-token:")
    terminal.keys("Escape")
    terminal.shows("/ filter")
    terminal.keys("S")
    terminal.shows("no problems")
    terminal.keys("Escape")
    terminal.shows("enter open")
    terminal.run("resize-window", "-x", "60", "-y", "20")
    narrow = terminal.until(lambda s: "│" not in s and "enter open" in s)
    assert max(len(line) for line in narrow.splitlines()) <= 60
    terminal.keys("q")
    terminal.shows("left with 0")


def test_a_daemon_that_stops_and_comes_back(terminal: Terminal, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    assert home.run("daemon", "start").returncode == 0
    command = ["env", *(f"{k}={v}" for k, v in home.env.items() if k != "NO_COLOR")]
    terminal.start([*command, *program("dashboard")], 100, 30)
    try:
        terminal.shows("● capturing")
        assert home.run("daemon", "stop").returncode == 0
        terminal.shows("no daemon is running")
        assert home.run("daemon", "start").returncode == 0
        terminal.shows("● capturing")
        terminal.keys("q")
        terminal.shows("left with 0")
    finally:
        home.run("daemon", "stop")


def test_a_dumb_terminal_is_told(terminal: Terminal, tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    command = ["env", *(f"{k}={v}" for k, v in home.env.items()), "TERM=dumb"]
    terminal.start([*command, *program("dashboard")], 100, 30)
    try:
        shown = terminal.shows("left with")
        assert "ultracontext status" in " ".join(shown.split())
    finally:
        home.run("daemon", "stop")
