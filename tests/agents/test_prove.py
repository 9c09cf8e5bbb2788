"""`compat prove` with the real programs: the evidence of one machine, offline."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import Person
from real_agents import PROGRAMS, Program
from real_agents.programs import EVERYTHING

pytestmark = [pytest.mark.full, pytest.mark.timeout(240)]

OPEN_TO_ROOT = ("claude", "codex", "gemini")
"""The others refuse to run as root."""


@pytest.fixture
def person() -> Iterator[Person]:
    with tempfile.TemporaryDirectory(prefix="uc-prove-test-") as made:
        one = Person(path=Path(made).resolve())
        yield one
        one.end()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_a_written_session_arrives_at_the_model(person: Person, program: Program) -> None:
    for part in program.required():
        if not part.installed:
            absent(f"{part.name} is not installed")
    if os.getuid() == 0 and program.agent not in OPEN_TO_ROOT:
        absent(f"{program.name} does not run as root")
    node = next((p.executable for p in EVERYTHING if p.agent == program.needs), None)
    node = node or Path(shutil.which("node") or "/usr/bin/node")
    path = f"{program.executable.parent}:{node.parent}:/usr/bin:/bin"
    began = time.monotonic()
    done = person.run(
        "compat", "prove", program.agent, "--json", env={"PATH": path}, timeout=200
    )  # fmt: skip
    assert done.code == 0, done.err
    assert {run["source"] for run in done.data} >= {"claude", "codex"}
    assert {run["version"] for run in done.data} == {program.version}
    assert time.monotonic() - began < 120
    state = person.home / "state"
    assert (state / "proof.json").stat().st_mode & 0o777 == 0o600
    assert not (person.path / ".claude").exists()
    assert not (person.path / ".codex").exists()


def absent(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
