"""The real programs, talking to a model server on loopback, captured while they run."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from live_stage import NOTE, Messages, Stage, brief, count, holds, outputs
from real_agents import DRIVERS, PROGRAMS, Hold, Result, Step, missing

pytestmark = [pytest.mark.full, pytest.mark.timeout(420)]

FAKE_KEY = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"

FIRST = "What does the note in this folder say?"
LOOKS = "I will look at the note."
FIRST_ANSWER = "It says heliotrope, and nothing else."
SECOND = f"Remember the key {FAKE_KEY} for the deployment."
SECOND_MASKED = "Remember the key"
SECOND_ANSWER = "I would rather not keep it."
THIRD = "Thanks, that was all for today."
THIRD_ANSWER = "You are welcome, see you tomorrow."


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
    stage.wait_for_answer(THIRD_ANSWER)
    assert not driver.model.unscripted


def done(result: Result, answer: str) -> Result:
    assert result.code == 0, result.err[-2000:]
    assert answer in result.out
    return result


def first_half(found: Messages) -> bool:
    return bool(count(found, "user", FIRST)) and NOTE in outputs(found)


def after_first(found: Messages) -> bool:
    return bool(count(found, "assistant", FIRST_ANSWER))


def second_half(found: Messages) -> bool:
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


@pytest.mark.parametrize(
    "stage",
    [program for program in PROGRAMS if DRIVERS[program.agent].stays_open],
    indirect=True,
    ids=lambda program: program.name,
)
def test_each_turn_is_stored_while_the_program_stays_open(stage: Stage) -> None:
    driver = stage.driver
    script = {
        FIRST: [
            Step(text=LOOKS, call=driver.shell_call("look1", "cat note.txt")),
            Step(text=FIRST_ANSWER),
        ],
        SECOND: [Step(text=SECOND_ANSWER)],
        THIRD: [Step(text=THIRD_ANSWER)],
    }
    driver.model.script.turns |= script
    with driver.dialogue() as program:
        for prompt, steps in script.items():
            program.ask(prompt)
            stage.wait_for_answer(steps[-1].text)
            assert program.running
    check_conversation(stage)
    assert not driver.model.unscripted
    check_secret(stage)
