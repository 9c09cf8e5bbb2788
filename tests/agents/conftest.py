"""Each pinned program in turn, in a home of its own."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from blackbox import Home, kill
from live_stage import NOTE, Stage
from real_agents import DRIVERS, PROGRAMS, ModelServer, Program, driver_for
from real_agents.driver import ORDINARY_USER
from real_agents.programs import INSTALL, folder


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.name)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    program: Program = request.param
    for part in program.required():
        if not part.installed:
            absent(f"{part.name} is not in {folder()}; get it by {INSTALL} {part.name}")
    with tempfile.TemporaryDirectory(prefix="uc-agents-") as made:
        base = Path(made).resolve()
        base.chmod(0o755)
        home = Home(base / "home")
        project = base / "project"
        project.mkdir()
        (project / "note.txt").write_text(f"{NOTE}\n", encoding="utf-8")
        with ModelServer(dialect=DRIVERS[program.agent].dialect) as model:
            driver = driver_for(program, home.folder, project, model)
            if not driver.reachable():
                absent(f"{ORDINARY_USER} cannot read {folder()}; install into another UC_AGENTS")
            driver.prepare()
            daemon = home.start("daemon", "run")
            try:
                yield Stage(home=home, driver=driver)
            finally:
                driver.end()
                kill(daemon)


def absent(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
