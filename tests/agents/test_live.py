"""The real programs, talking to a model server on loopback, captured while they run."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from blackbox import Home, kill
from real_agents import (
    DRIVERS,
    PROGRAMS,
    Driver,
    Hold,
    ModelServer,
    Program,
    Result,
    Step,
    driver_for,
    missing,
)
from real_agents.programs import INSTALL, folder

pytestmark = [pytest.mark.full, pytest.mark.timeout(420)]

WAIT_SECONDS = 60
"""For a loaded machine. How long it takes on an idle one is measured elsewhere."""

FAKE_KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"
NOTE = "the note says heliotrope"

FIRST = "What does the note in this folder say?"
LOOKS = "I will look at the note."
FIRST_ANSWER = "It says heliotrope, and nothing else."
SECOND = f"Remember the key {FAKE_KEY} for the deployment."
SECOND_MASKED = "Remember the key"
SECOND_ANSWER = "I would rather not keep it."
THIRD = "Thanks, that was all for today."
THIRD_ANSWER = "You are welcome, see you tomorrow."


@dataclass(kw_only=True)
class Stage:
    """A home with a running daemon, and a program in it."""

    home: Home
    driver: Driver
    waits: dict[str, float] = field(default_factory=dict)
    """Seconds from the model's being asked to what was said before being in the store."""

    def session(self) -> dict[str, Any] | None:
        """The one session of the program; its own sub-agents aside."""
        found = self.home.json("sessions", "--agent", self.driver.program.agent)
        assert len(found) <= 1, found
        return found[0] if found else None

    def messages(self) -> list[dict[str, Any]]:
        session = self.session()
        if session is None:
            return []
        shown = self.home.json("show", session["id"])["messages"]
        return [message for message in shown if message["kind"] != "meta"]

    def wait_for(self, what: str, true: Callable[[list[dict[str, Any]]], bool]) -> None:
        began = time.monotonic()
        while not true(messages := self.messages()):
            taken = time.monotonic() - began
            assert taken < WAIT_SECONDS, f"{what}: not stored in {taken:.0f} s: {brief(messages)}"
            time.sleep(0.2)
        self.waits[what] = round(time.monotonic() - began, 2)


@pytest.fixture(params=PROGRAMS, ids=lambda program: program.name)
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    program: Program = request.param
    for part in program.required():
        if not part.installed:
            absent(part)
    with tempfile.TemporaryDirectory(prefix="uc-agents-") as made:
        base = Path(made).resolve()
        base.chmod(0o755)
        home = Home(base / "home")
        project = base / "project"
        project.mkdir()
        (project / "note.txt").write_text(f"{NOTE}\n", encoding="utf-8")
        with ModelServer(dialect=DRIVERS[program.agent].dialect) as model:
            driver = driver_for(program, home.folder, project, model)
            driver.prepare()
            daemon = home.start("daemon", "run")
            try:
                yield Stage(home=home, driver=driver)
            finally:
                driver.end()
                kill(daemon)


def absent(program: Program) -> None:
    reason = f"{program.name} is not in {folder()}; get it by {INSTALL} {program.name}"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def test_each_turn_is_stored_while_the_program_runs_and_once(
    stage: Stage, record_property: Callable[[str, object], None]
) -> None:
    session = first_turn(stage)
    second_turn(stage, session)
    third_turn(stage, session)
    check_conversation(stage)
    check_session(stage, session)
    check_secret(stage)
    record_property("seconds until stored", stage.waits)


def first_turn(stage: Stage) -> str:
    """Its last answer is held back; what came before is in the store meanwhile."""
    hold, driver = Hold(), stage.driver
    driver.model.script.turns[FIRST] = [
        Step(text=LOOKS, call=driver.shell_call("look1", "cat note.txt")),
        Step(text=FIRST_ANSWER, hold=hold),
    ]
    turn = driver.start(FIRST)
    turn.wait_until(hold)
    stage.wait_for("first prompt, call and result", first_half)
    assert turn.running
    assert not count(stage.messages(), "assistant", FIRST_ANSWER)
    hold.release()
    return driver.session_id(done(turn.wait(), FIRST_ANSWER))


def second_turn(stage: Stage, session: str) -> None:
    """While the model has not answered yet, the whole turn before is in the store."""
    hold, driver = Hold(), stage.driver
    driver.model.script.turns[SECOND] = [Step(text=SECOND_ANSWER, hold=hold)]
    turn = driver.start(SECOND, resume=session)
    turn.wait_until(hold)
    awaited = after_first if driver.prompt_waits else second_half
    stage.wait_for("first turn and second prompt", awaited)
    assert turn.running
    hold.release()
    result = done(turn.wait(), SECOND_ANSWER)
    assert driver.session_id(result) == session
    assert not missing(result.requests[0].entries, [FIRST, LOOKS, NOTE, FIRST_ANSWER, FAKE_KEY])


def third_turn(stage: Stage, session: str) -> None:
    driver = stage.driver
    driver.model.script.turns[THIRD] = [Step(text=THIRD_ANSWER)]
    done(driver.run_turn(THIRD, resume=session), THIRD_ANSWER)
    stage.wait_for("all turns", lambda found: bool(count(found, "assistant", THIRD_ANSWER)))
    assert not driver.model.unscripted


def done(result: Result, answer: str) -> Result:
    assert result.code == 0, result.err[-2000:]
    assert answer in result.out
    return result


def first_half(found: list[dict[str, Any]]) -> bool:
    return bool(count(found, "user", FIRST)) and NOTE in outputs(found)


def after_first(found: list[dict[str, Any]]) -> bool:
    return bool(count(found, "assistant", FIRST_ANSWER))


def second_half(found: list[dict[str, Any]]) -> bool:
    return after_first(found) and bool(count(found, "user", SECOND_MASKED))


def check_conversation(stage: Stage) -> None:
    """Every prompt and answer once, in order; the call with its result between them."""
    found = stage.messages()
    said = [
        ("user", FIRST), ("assistant", LOOKS), ("tool_call", "cat note.txt"),
        ("tool_result", NOTE), ("assistant", FIRST_ANSWER), ("user", SECOND_MASKED),
        ("assistant", SECOND_ANSWER), ("user", THIRD), ("assistant", THIRD_ANSWER),
    ]  # fmt: skip
    places = [[n for n, m in enumerate(found) if holds(m, kind, text)] for kind, text in said]
    assert [len(p) for p in places] == [1] * len(said), brief(found)
    assert places == sorted(places), brief(found)
    typed = [m for m in found if m["kind"] == "user"]
    assert len(typed) == 3, brief(typed)
    (call,) = [m["tool"] for m in found if m["kind"] == "tool_call"]
    (result,) = [m["tool"] for m in found if m["kind"] == "tool_result"]
    assert call["call_id"] == result["call_id"]
    assert not result["is_error"]


def check_session(stage: Stage, native: str) -> None:
    session = stage.session()
    assert session is not None
    assert session["session_id"] == native
    assert session["project_path"] == str(stage.driver.project)
    assert session["title"]
    assert session["model"]
    assert session["messages"] == len(stage.messages())
    assert stage.home.integrity() == "ok"
    again = stage.home.json("status")
    assert again["problems"] == [], again["problems"]


def check_secret(stage: Stage) -> None:
    """In no file of ours, while the daemon runs and after it has ended."""
    for _ in range(2):
        files = [f for f in stage.home.uc.rglob("*") if f.is_file()]
        assert files
        assert [f for f in files if FAKE_KEY.encode() in f.read_bytes()] == []
        stage.home.run("daemon", "stop")


def count(found: list[dict[str, Any]], kind: str, text: str) -> int:
    return sum(holds(message, kind, text) for message in found)


def holds(message: dict[str, Any], kind: str, text: str) -> bool:
    if message["kind"] != kind:
        return False
    tool = message.get("tool") or {}
    return text in f"{message['text']}\n{tool.get('input')}\n{tool.get('output')}"


def outputs(found: list[dict[str, Any]]) -> str:
    return "\n".join(str(m["tool"]["output"]) for m in found if m["kind"] == "tool_result")


def brief(found: list[dict[str, Any]]) -> str:
    lines = (f"{m['kind']}: {m['text'][:90]!r} {str(m.get('tool'))[:160]}" for m in found)
    return "\n" + "\n".join(lines)
