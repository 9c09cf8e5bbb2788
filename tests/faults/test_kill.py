"""Fault 1: SIGKILL at each named step and at random moments. Nothing lost, nothing twice."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest
from blackbox import ClaudeSession, Home, check_sessions, kill

from ultracontext.model.failpoint import NAMES

CAPTURE = [name for name in NAMES if not name.startswith("switch_")]
"""The steps of a switch have tests of their own."""

KILLS = int(os.environ.get("UC_KILLS", "25"))
SEED = int(os.environ.get("UC_SEED", "20261130"))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.mark.full
@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", CAPTURE)
def test_killed_at_a_named_step_then_run_again(home: Home, name: str) -> None:
    sessions = [ClaudeSession(home, session=None) for _ in range(3)]
    for session in sessions:
        session.append(f"text {n} " + "x" * 300 for n in range(900))
    for count in (1, 2):
        process = home.start(
            "daemon", "run", "--once", ULTRACONTEXT_FAILPOINTS=f"{name}=kill:{count}"
        )
        assert process.wait(60) == -9, f"{name} was not passed {count} times"
    home.once()
    check_sessions(home, sessions)
    assert home.once()["events"] == 0


@pytest.mark.full
@pytest.mark.timeout(900)
def test_killed_at_random_moments_of_a_backfill(home: Home) -> None:
    rng = random.Random(SEED)
    print(f"seed {SEED}, {KILLS} kills")  # noqa: T201 - to replay
    sessions = [ClaudeSession(home) for _ in range(6)]
    for session in sessions:
        session.append(f"text {n} " + "word " * rng.randrange(20, 400) for n in range(1500))
    for _ in range(KILLS):
        process = home.start("daemon", "run", "--once")
        time.sleep(rng.uniform(0.2, 1.6))
        kill(process)
        if (home.uc / "store.db").exists():
            assert home.integrity() == "ok"
    home.once()
    check_sessions(home, sessions)


@pytest.mark.full
@pytest.mark.timeout(900)
def test_killed_at_random_moments_of_live_writing(home: Home) -> None:
    rng = random.Random(SEED + 1)
    print(f"seed {SEED + 1}, {KILLS} kills")  # noqa: T201 - to replay
    sessions = [ClaudeSession(home) for _ in range(4)]
    for _ in range(KILLS):
        process = home.start("daemon", "run")
        end = time.monotonic() + rng.uniform(0.3, 1.5)
        while time.monotonic() < end:
            rng.choice(sessions).append(f"text {rng.random()}" for _ in range(rng.randrange(1, 9)))
            time.sleep(0.005)
        kill(process)
    home.once()
    check_sessions(home, sessions)
