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
from evidence import unproven
from losses import Measure, measure
from real_agents import DRIVERS, PROGRAMS, Driver, Entry, ModelServer, Program, Step, driver_for
from real_agents.driver import ORDINARY_USER
from real_agents.programs import EVERYTHING
from recordings import lay_out, redactor
from switch_lab import CLAUDE_ID, claude_lines, result, spoken, use
from written import PNG

from ultracontext.agents import known
from ultracontext.runtime.machine import LocalMachine
from ultracontext.switch.session import MaskedSession, by_session

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

SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
PICTURE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": PNG},
}
LONG = "".join(f"line {number} of a long output\n" for number in range(4000))

ODD: tuple[tuple[str, Any], ...] = (
    ("user", "/etc/hosts is broken ALPHA"),
    ("assistant", [
        {"type": "text", "text": "Two looks at once."},
        use("Bash", {"command": "cat /etc/hosts"}, "toolu_1"),
        use("Read", {"file_path": "/etc/hosts", "limit": 20}, "toolu_2"),
    ]),
    ("user", [
        result("toolu_1", "127.0.0.1 localhost"), result("toolu_2", "no leave", is_error=True)
    ]),
    ("assistant", "? what a file, \u2028 👩‍👩‍👧 with \0 and \ud800 BETA"),
    ("user", [{"type": "text", "text": "look at this"}, PICTURE]),
    ("assistant", [use("mcp__db__query", {"sql": "select 1", "n": {"a": [1, None]}}, "toolu_3")]),
    ("user", "? what now GAMMA"),
    ("assistant", [use("Bash", {"command": "seq 4000"}, "toolu_4")]),
    ("user", [result("toolu_4", LONG)]),
    ("assistant", [use("Bash", {"command": "true"}, "toolu_5")]),
    ("user", [result("toolu_5", "")]),
    ("assistant", f"The key is {SECRET} DELTA"),
    ("user", "<session_context> is a word of theirs"),
    ("assistant", "that was all EPSILON"),
)  # fmt: skip
"""What would be dropped or refused somewhere: texts like commands, parallel calls, a failure, a
picture, a call without a result, a long and an empty output, bytes that are no text, a secret."""


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

    def read(self) -> MaskedSession:
        """As its agent's reader gives it."""
        slug = self.program.agent
        machine = LocalMachine(known(), {slug: [self.root]}, redactor())
        read = by_session(s for file in machine.files([slug]) for s in machine.read(file))
        return next(session for session in read if session.session_id == self.session_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a cell."""

    switched: dict[str, Any]
    history: Sequence[Entry]
    sent: str
    """The whole request."""
    measured: Measure
    """What did not arrive."""
    answered: bool
    session_id: str
    unscripted: int
    came: Recorded


@dataclass(kw_only=True)
class Matrix:
    """One folder with all recordings and cells; the project is the same for all. A recording that
    lies there already is taken as it is."""

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
        root = Path(str(known()[program.agent].roots({}, home)[0]))
        known_id = home / "session-id"
        if known_id.exists():
            session_id = known_id.read_text("utf-8")
            return Recorded(program=program, root=root, session_id=session_id)
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
        known_id.write_text(session, "utf-8")
        return Recorded(program=program, root=root, session_id=session)

    def odd(self) -> Recorded:
        """A session made by hand, with all that a program may leave in its file."""
        program = next(p for p in PROGRAMS if p.agent == "claude")
        root = self.base / "from-odd" / ".claude"
        for path, data in claude_lines(list(spoken(*ODD))).items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)
        return Recorded(program=program, root=root, session_id=CLAUDE_ID)

    def run(self, came: Recorded, target: Program) -> Outcome:
        """Switches, resumes, and gives what the target sent along with the new prompt."""
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
        history, read = turns[0].before("Now tell me"), came.read()
        return Outcome(
            switched=switched, history=history, sent=json.dumps(turns[0].body),
            measured=measure(read.messages, read.live, history),
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
        driver.own(driver.home)
        node = next((p.executable for p in EVERYTHING if p.agent == driver.program.needs), None)
        bins = [self.borrowed(driver), *([node.parent] if node else [])]
        done = subprocess.run(
            home.command(
                "switch", slug, "--from", own, "--session", came.session_id, "--cwd",
                str(self.project), "--target-version", driver.program.version, "--force",
                "--yes", "--json",
            ),
            env=home.env
            | {
                "PATH": f"{':'.join(map(str, bins))}:{os.environ['PATH']}",
                "TMPDIR": str(driver.home / "tmp"),
            },
            cwd=self.project, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def borrowed(self, driver: Driver) -> Path:
        """The folder of the program. Root's is a script that runs it as the ordinary user, who
        gets all files of the home first: some refuse root, and what root has made."""
        program = driver.program.executable
        if os.getuid() != 0:
            return program.parent
        folder = self.base / f"bin-{driver.program.name}"
        folder.mkdir(exist_ok=True)
        script = folder / program.name
        script.write_text(
            f"#!/bin/sh\nchown -R {ORDINARY_USER}: {driver.home}\n"
            f'exec runuser -u {ORDINARY_USER} -- env "HOME=$HOME" {program} "$@"\n',
            encoding="utf-8",
        )
        script.chmod(0o755)
        return folder


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


def chosen() -> list[Cell]:
    """`UC_MATRIX=all`: all; `fixed`: two for each target; else these, and all that changed since
    they were run last."""
    which = os.environ.get("UC_MATRIX", "changed")
    if which == "all":
        return cells()
    always = fixed()
    if which == "fixed":
        return always
    return [cell for cell in cells() if cell in always or changed(cell)]


def changed(cell: Cell) -> bool:
    source, target = cell
    return unproven(source.agent, source.version, target.agent, target.version)


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
