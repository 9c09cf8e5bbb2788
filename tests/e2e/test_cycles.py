"""Start, stop and kill, again and again: no process, lock or socket is left behind."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest
from program import Person

from ultracontext.runtime.lock import running


def cycle(person: Person, number: int) -> int:
    """One start and one end; the pid that it had."""
    assert person.run("daemon", "start").code == 0
    pid = int(person.status()["daemon"]["pid"])
    if number % 3 == 2:
        os.kill(pid, signal.SIGKILL)
    elif number % 3 == 1:
        os.kill(pid, signal.SIGTERM)
    else:
        assert person.run("daemon", "stop").code == 0
    return pid


def left(person: Person) -> list[str]:
    """Processes that have this person's home in their environment, but zombies."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if str(person.home).encode() in (folder / "environ").read_bytes():
                found.append(folder.name)
        except OSError:
            continue
    return found


def run_cycles(person: Person, count: int) -> None:
    person.chat("a", turns=3)
    for number in range(count):
        cycle(person, number)
    assert person.run("daemon", "start").code == 0
    assert person.run("daemon", "stop").code == 0
    assert left(person) == []
    assert running(person.home / "run/daemon.lock") is None
    assert not (person.home / "run/daemon.sock").exists()
    assert len(person.sessions()) == 1
    assert person.sessions()[0]["messages"] == 6


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="needs /proc")
@pytest.mark.timeout(180)
def test_a_few_cycles_leave_nothing(person: Person) -> None:
    run_cycles(person, 6)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_two_hundred_cycles_leave_nothing(person: Person) -> None:
    run_cycles(person, 200)
