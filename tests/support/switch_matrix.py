"""A session of each program, written for each program and gone on with there.

A cell is (source program, target program). The source's session is recorded once, by the program
itself; the cell switches it by the command line into a home of the target's own, lets the real
target go on with it, and looks at what it sends to its model.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from blackbox import Home
from real_agents import DRIVERS, PROGRAMS, Driver, Entry, ModelServer, Program, Step, driver_for
from real_agents.programs import EVERYTHING
from recordings import lay_out, redactor

from ultracontext.agents import known
from ultracontext.runtime.machine import LocalMachine
from ultracontext.switch.session import by_session

NOTE = "the note says heliotrope"
MISSING = "no-such-file.txt"
AGAIN = "Now tell me what we found so far."
AGAIN_ANSWER = "We found one note and missed another."

FIRST = "What does note.txt say? Answer in one line."
SECOND = 'Say "größe 日本 🙂" and\nthen a second line with `code` and a \\ backslash.'
THIRD = f"Now read {MISSING}, please."


def talk(driver: Driver) -> dict[str, list[Step]]:
    """Three turns: calls one after the other, odd characters, a call that fails."""
    return {
        "What does note.txt say?": [
            Step(text="I will look at it.", call=driver.shell_call("look1", "cat note.txt")),
            Step(text="Once more.", call=driver.shell_call("look2", "cat note.txt | wc -c")),
            Step(text="It says heliotrope."),
        ],
        "größe 日本": [
            Step(text="größe 日本 🙂\nand a second line with `code` and a \\ backslash")
        ],
        "Now read": [
            Step(text="I try.", call=driver.shell_call("look3", f"cat {MISSING}")),
            Step(text="There is no such file."),
        ],
    }


SAID = (
    FIRST, "I will look at it.", "cat note.txt", NOTE, "Once more.", "wc -c",
    "It says heliotrope.", SECOND, "größe 日本 🙂\nand a second line", THIRD, "I try.", MISSING,
    "There is no such file.",
)  # fmt: skip
"""What the request has to hold, in this order."""

CALLS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """A recording of a program that cannot be run here."""

    agent: str
    version: str
    recording: str

    @property
    def name(self) -> str:
        return f"{self.agent}-{self.version}"

    def required(self) -> list[Program]:
        return []


FIXTURES = (Fixture(agent="cursor", version="2026.09", recording="cli-store-db"),)
Source = Program | Fixture


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """A session that a real program wrote."""

    program: Source
    root: Path
    session_id: str
    said: Sequence[str] = SAID
    calls: int = CALLS
    orphans: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a cell."""

    switched: dict[str, Any]
    history: Sequence[Entry]
    answered: bool
    session_id: str
    unscripted: int
    came: Recorded


@dataclass(kw_only=True)
class Matrix:
    """One folder with all recordings and cells; the project is the same for all."""

    base: Path
    recorded: dict[str, Recorded] = field(default_factory=dict)

    @property
    def project(self) -> Path:
        return self.base / "project"

    def prepare(self) -> None:
        self.base.chmod(0o755)
        self.project.mkdir(exist_ok=True)
        (self.project / "note.txt").write_text(f"{NOTE}\n", encoding="utf-8")

    def source(self, program: Source) -> Recorded:
        """Recorded once."""
        if program.name not in self.recorded:
            self.recorded[program.name] = (
                self._lay(program) if isinstance(program, Fixture) else self._record(program)
            )
        return self.recorded[program.name]

    def _lay(self, fixture: Fixture) -> Recorded:
        """What its reader makes of it is what has to arrive."""
        root = Path(str(known()[fixture.agent].roots({}, self.base / f"from-{fixture.name}")[0]))
        lay_out(fixture.agent, fixture.recording, root)
        machine = LocalMachine(known(), {fixture.agent: [root]}, redactor())
        found = by_session(s for f in machine.files([fixture.agent]) for s in machine.read(f))
        session = max(found, key=lambda one: len(one.live))
        said = [m.text for m in session.live if m.kind in ("user", "assistant")]
        calls = [m for m in session.live if m.kind == "tool_call" and m.tool]
        orphans = sum(m.tool is not None and m.tool.output is None for m in calls)
        return Recorded(
            program=fixture, root=root, session_id=session.session_id, said=said,
            calls=len(calls), orphans=orphans,
        )  # fmt: skip

    def _record(self, program: Program) -> Recorded:
        home = self.base / f"from-{program.name}"
        with ModelServer(dialect=DRIVERS[program.agent].dialect) as model:
            driver = driver_for(program, home, self.project, model)
            driver.prepare()
            model.script.turns |= talk(driver)
            session = None
            try:
                for prompt in (FIRST, SECOND, THIRD):
                    result = driver.run_turn(prompt, resume=session)
                    assert result.code == 0, result.err[-2000:]
                    session = driver.session_id(result)
            finally:
                driver.end()
            assert not model.unscripted, [r.entries[-1] for r in model.unscripted]
        assert session is not None
        root = Path(str(known()[program.agent].roots({}, home)[0]))
        return Recorded(program=program, root=root, session_id=session)

    def run(self, source: Source, target: Program) -> Outcome:
        """Switches, resumes, and gives what the target sent along with the new prompt."""
        came = self.source(source)
        folder = self.base / f"to-{target.name}"
        used = folder.exists()
        with ModelServer(dialect=DRIVERS[target.agent].dialect) as model:
            driver = driver_for(target, folder, self.project, model)
            driver.prepare()
            try:
                if not used:
                    warm_up(driver, model)
                return self._go_on(came, driver, model)
            finally:
                driver.end()

    def _go_on(self, came: Recorded, driver: Driver, model: ModelServer) -> Outcome:
        switched = self.switch(came, driver)
        driver.own(driver.home)
        model.script.turns["Now tell me"] = [Step(text=AGAIN_ANSWER)]
        seen = len(model.requests)
        result = driver.run_turn(AGAIN, resume=switched["session_id"])
        assert result.code == 0, (result.err[-2000:], result.out[-2000:])
        turns = [r for r in model.requests[seen:] if r.turn]
        assert turns, "the program asked nothing"
        return Outcome(
            switched=switched, history=turns[0].before("Now tell me"),
            answered=AGAIN_ANSWER in result.out, session_id=driver.session_id(result),
            unscripted=len(model.unscripted), came=came,
        )  # fmt: skip

    def switch(self, came: Recorded, driver: Driver) -> dict[str, Any]:
        """By the command line, as a person does it."""
        home = Home(driver.home)
        home.uc = self.base / f"uc-{driver.program.name}"  # ours, where the program is another's
        home.env["ULTRACONTEXT_HOME"] = str(home.uc)
        home.uc.mkdir(exist_ok=True, mode=0o700)
        slug, own = driver.program.agent, came.program.agent
        root = Path(str(known()[slug].roots({}, driver.home)[0]))
        roots = {own: [came.root]}
        roots[slug] = [root, *roots.get(slug, [])]
        lines = [
            f"[agents.{name}]\nroots = {json.dumps(list(map(str, found)))}\n"
            for name, found in roots.items()
        ]
        (home.uc / "config.toml").write_text("\n".join(lines), encoding="utf-8")
        node = next((p.executable for p in EVERYTHING if p.agent == driver.program.needs), None)
        bins = [driver.program.executable.parent, *([node.parent] if node else [])]
        done = subprocess.run(
            home.command(
                "switch", slug, "--from", own, "--session", came.session_id, "--cwd",
                str(self.project), "--target-version", driver.program.version, "--force",
                "--yes", "--json",
            ),
            env=home.env | {"PATH": f"{':'.join(map(str, bins))}:{os.environ['PATH']}"},
            cwd=self.project, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found


def warm_up(driver: Driver, model: ModelServer) -> None:
    """The target's home was used before: that is where others' sessions are not found."""
    model.script.turns["Say hello"] = [Step(text="hello")]
    result = driver.run_turn("Say hello.")
    assert result.code == 0, (result.err[-2000:], result.out[-2000:])


# ---- cells and evidence --------------------------------------------------------------------------
Cell = tuple[Source, Program]


def targets() -> list[Program]:
    """The programs whose agent has a writer."""
    return [p for p in PROGRAMS if known()[p.agent].writer is not None]


def cells() -> list[Cell]:
    sources: list[Source] = [*PROGRAMS, *FIXTURES]
    return [(source, target) for target in targets() for source in sources]


def fixed() -> list[Cell]:
    """Two sources for each target, so that each program is a source and a target twice."""
    return [
        (PROGRAMS[(number + step) % len(PROGRAMS)], target)
        for number, target in enumerate(targets())
        for step in (1, 4)
    ]


def name_of(cell: Cell) -> str:
    return f"{cell[0].name}-to-{cell[1].name}"


TEST = "tests/agents/test_switch_matrix.py"
RESULTS = "UC_MATRIX_RESULTS"
"""Names the file that outcomes are added to, one JSON object a line."""


def note_outcome(cell: Cell, *, passed: bool) -> None:
    path = os.environ.get(RESULTS)
    if not path:
        return
    source, target = cell
    line = {
        "source": source.agent, "source_version": source.version, "target": target.agent,
        "version": target.version, "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "test": f"{TEST}::test_history_arrives[{name_of(cell)}]", "passed": passed,
    }  # fmt: skip
    with Path(path).open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
