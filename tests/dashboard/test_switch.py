"""The dialogs of switch and versions: what is chosen, what is told, what is run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from tests.dashboard.answers import COMPAT, DIFF, HANDOFF, NATIVE, PLAN, Answering
from tests.dashboard.conftest import MakeApp
from tests.dashboard.test_home import WIDE, context, loaded
from textual.pilot import Pilot
from textual.widgets import OptionList, Static

from ultracontext.errors import NotFoundError
from ultracontext_dashboard.app import Dashboard
from ultracontext_dashboard.screens.home import Home
from ultracontext_dashboard.screens.session import SessionScreen
from ultracontext_dashboard.screens.switch import Switch
from ultracontext_dashboard.screens.versions import Versions, diff_text
from ultracontext_dashboard.switching import Choice, plan_text, targets

pytestmark = pytest.mark.timeout(90)


@pytest.fixture
def answering(tmp_path: Path) -> Answering:
    return Answering(tmp_path / "program")


@pytest.fixture
def app(person: Path, make_app: MakeApp, answering: Answering) -> Dashboard:
    return make_app(person, program=answering.program)


async def until(pilot: Pilot[int], met: Callable[[], bool], seconds: float = 15) -> None:
    end = monotonic() + seconds
    while not met():
        assert monotonic() < end, "it did not come"
        await pilot.pause(0.05)


def told(app: Dashboard, name: str) -> str:
    return str(app.screen.query_one(f"#{name}", Static).render())


async def opened(pilot: Pilot[int], app: Dashboard) -> Switch:
    await loaded(pilot, app)
    await pilot.press("s")
    await until(pilot, lambda: isinstance(app.screen, Switch))
    await until(pilot, lambda: "messages" in told(app, "plan"))
    assert isinstance(app.screen, Switch)
    return app.screen


async def to(pilot: Pilot[int], screen: Switch, agent: str) -> None:
    await until(pilot, lambda: screen.choice is not None)
    while screen.choice is not None and screen.choice.target.agent != agent:
        await pilot.press("down")


def test_installed_and_certain_targets_come_first() -> None:
    found = [(t.agent, t.version, t.verdict) for t in targets(COMPAT, "claude")]
    assert found == [
        ("codex", "0.171.0", "tested"), ("gemini", "0.61.0", "untested"),
        ("openclaw", "", "expected"), ("cursor", "", "handoff"), ("claude", "2.1.332", "tested"),
    ]  # fmt: skip
    reasons = {t.agent: t.reason for t in targets(COMPAT, "claude")}
    assert reasons["codex"] == "real program, 2026-11-30"
    assert reasons["gemini"] == "no version of it was run"
    assert reasons["openclaw"] == "not found here; expected with 2026.9.6"
    assert reasons["claude"].startswith("same agent: a clean copy")


@pytest.mark.parametrize("body", [None, [], {}, {"agents": 3, "pairs": [1]}, {"agents": [{}]}])
def test_an_answer_of_another_shape_is_no_fault(body: Any) -> None:
    assert isinstance(targets(body, "claude"), list)


def test_the_command_holds_what_was_chosen() -> None:
    codex = targets(COMPAT, "claude")[0]
    choice = Choice(target=codex, context_id="ctx_1", last="3", folder="/a b", fidelity="text",
                    force=True)  # fmt: skip
    assert choice.words("--dry-run") == [
        "switch", "codex", "--session", "ctx_1", "--json", "--last", "3", "--cwd", "/a b",
        "--fidelity", "text", "--force", "--target-version", "0.171.0", "--dry-run",
    ]  # fmt: skip
    cursor = next(t for t in targets(COMPAT, "claude") if t.agent == "cursor")
    words = Choice(target=cursor, context_id="ctx_1", last="3").words("--yes")
    assert words == ["switch", "cursor", "--session", "ctx_1", "--json", "--handoff", "--yes"]


def test_the_plan_tells_what_is_lost() -> None:
    text = plan_text(PLAN, 60).plain
    assert "11 messages, 3 tool calls, about 1,246 tokens" in text
    assert "3 masks in place of secrets, 2 thoughts left out" in text
    assert "dry-run" not in text
    assert "a document of about 551 tokens" in plan_text(HANDOFF, 60).plain


async def test_nothing_is_written_before_the_plan_was_seen(
    app: Dashboard, answering: Answering
) -> None:
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot, app)
        assert "3 masks" in told(app, "plan")
        assert screen.query_one(OptionList).option_count == 5
        assert all("--dry-run" in call for call in answering.calls if call[0] == "switch")
        screen._planned = None
        await pilot.press("w")
        await pilot.pause(0.1)
        assert "no plan yet" in told(app, "told")
        assert all("--dry-run" in call for call in answering.calls if call[0] == "switch")


async def test_write_copy_and_undo(app: Dashboard, answering: Answering) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        await pilot.press("w")
        await until(pilot, lambda: "written:" in told(app, "told"))
        assert f"codex resume {NATIVE}" in told(app, "told")
        assert "--yes" in answering.calls[-1]
        await pilot.press("c")
        assert app.clipboard == PLAN["command"]
        await pilot.press("u")
        await until(pilot, lambda: "undone" in told(app, "told"))
        assert answering.calls[-1][:3] == ["switch", "undo", "sw_1"]
        await pilot.press("u")
        await until(pilot, lambda: "nothing was written here" in told(app, "told"))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, Home))


async def test_enter_writes_once_and_opens(
    app: Dashboard, answering: Answering, monkeypatch: pytest.MonkeyPatch
) -> None:
    launched: list[str] = []

    def launch(line: str) -> int:
        launched.append(line)
        return 7

    monkeypatch.setattr(app, "launch", launch)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: "exit code 7" in told(app, "told"))
        await pilot.press("enter")
        await until(pilot, lambda: len(launched) == 2)
        assert launched == [PLAN["command"]] * 2
        assert sum("--yes" in call for call in answering.calls) == 1


async def test_options_change_the_plan(app: Dashboard, answering: Answering) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        await pilot.press("l", "2", "enter", "d", "slash", "x", "enter", "f")
        await until(pilot, lambda: "--fidelity" in answering.calls[-1])
        call = answering.calls[-1]
        assert call[call.index("--last") + 1] == "2"
        assert call[call.index("--cwd") + 1] == "/x"
        await pilot.press("h")
        await until(pilot, lambda: "--handoff" in answering.calls[-1])
        await until(pilot, lambda: "a document" in told(app, "plan"))


async def test_a_refused_version_needs_force(app: Dashboard, answering: Answering) -> None:
    async with app.run_test(size=WIDE) as pilot:
        screen = await opened(pilot, app)
        await to(pilot, screen, "gemini")
        await until(pilot, lambda: "F forces it" in told(app, "plan"))
        await pilot.press("w")
        await until(pilot, lambda: "nothing was written" in told(app, "told"))
        await pilot.press("F")
        await until(pilot, lambda: "--force" in answering.calls[-1])
        await until(pilot, lambda: "messages" in told(app, "plan"))


async def test_switching_can_be_off(person: Path, make_app: MakeApp, answering: Answering) -> None:
    app = make_app(person, program=answering.program, allow_switch=False)
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app)
        await pilot.press("enter")
        await until(pilot, lambda: "--allow-switch" in told(app, "told"))
        assert not any("--yes" in call for call in answering.calls)


async def test_a_program_that_fails_is_told(person: Path, make_app: MakeApp) -> None:
    app = make_app(person, program=("/nonexistent/ultracontext",))
    async with app.run_test(size=WIDE) as pilot:
        await loaded(pilot, app)
        await pilot.press("s")
        await until(pilot, lambda: isinstance(app.screen, Switch))
        await until(pilot, lambda: "cannot start" in told(app, "plan"))


async def test_versions_and_what_changed(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await loaded(pilot, app)
        await app.push_screen(SessionScreen(context(1)))
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, Versions))
        await until(pilot, lambda: "take this [out]" in told(app, "diff"))
        assert app.screen.query_one(OptionList).option_count == 2
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen))


def test_a_difference_shows_both_sides() -> None:
    assert diff_text(DIFF).plain.splitlines() == [
        "- user: take this [out]", "- assistant: before", "+ assistant: after",
        "+ user: one", "+ two",
    ]  # fmt: skip
    assert "nothing changed" in diff_text({}).plain
    assert "nothing changed" in diff_text([1]).plain


async def test_versions_of_the_store(person: Path, make_app: MakeApp) -> None:
    app = make_app(person)
    async with app.run_test(size=WIDE) as pilot:
        await loaded(pilot, app)
        await app.push_screen(SessionScreen(context(1)))
        await pilot.press("v")
        await until(pilot, lambda: isinstance(app.screen, Versions), 5)
        listed = app.screen.query_one(OptionList)
        await until(pilot, lambda: listed.option_count > 0, 60)
        await pilot.press("d")
        await until(pilot, lambda: told(app, "diff").strip() != "", 60)
        assert "failed" not in told(app, "diff")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, SessionScreen), 5)
        await until(pilot, lambda: "as it was" in told(app, "top"), 20)


def test_a_version_that_is_not_there_is_refused(person: Path, make_app: MakeApp) -> None:
    app = make_app(person)
    sessions = app.reading.sessions
    row = sessions.row(context(1))
    assert row is not None
    whole = sessions.as_of(context(1), row["version"])
    session = sessions.open(context(1))
    session.advance()
    assert [m.text for m in whole] == [m.text for m in session.messages()]
    with pytest.raises(NotFoundError, match="no version"):
        sessions.as_of(context(1), row["version"] + 1)
    app.reading.close()
