"""The home screen, driven by keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.dashboard.conftest import ODD_TITLES, MakeApp, session_id
from textual.pilot import Pilot
from textual.widgets import Input, Static

from ultracontext.model import captured_context_id
from ultracontext_dashboard.app import Dashboard
from ultracontext_dashboard.screens.home import Home
from ultracontext_dashboard.screens.session import SessionScreen
from ultracontext_dashboard.widgets.session_list import SessionList

WIDE, NARROW = (140, 40), (80, 24)


def context(number: int) -> str:
    return captured_context_id("claude", session_id(number))


async def loaded(pilot: Pilot[int], app: Dashboard) -> SessionList:
    """Waits until the list stands and the resting sessions' words are read."""
    for _ in range(200):
        if app.loaded and all(entry.known for entry in app.entries.values()):
            break
        await pilot.pause(0.05)
    await pilot.pause()
    return app.screen.query_one(SessionList)


def lines(listed: SessionList) -> list[str]:
    height = listed.size.height
    return ["".join(s.text for s in listed.render_line(y)).rstrip() for y in range(height)]


async def test_states_are_what_the_records_prove(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await loaded(pilot, app)
        states = {n: app.entries[context(n)].doing for n in (1, 2, 3, 100)}
        assert [states[n].state for n in (1, 2, 3, 100)] == ["running", "turn", "running", "ended"]
        assert states[1].tool == "Bash"
        assert "pytest -k retry" in states[1].brief
        text = "\n".join(lines(app.screen.query_one(SessionList)))
        assert "● run   claude" in text
        assert "▸ Bash  pytest -k retry" in text
        assert "◐ turn" in text
        assert "running or asks, 5 m · ▸ Bash  rm" in text
        assert "Shall I update" in text


async def test_the_newest_stands_first_and_is_selected(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        listed = await loaded(pilot, app)
        assert listed.selected is not None
        assert listed.selected.context_id == context(1)


async def test_selection_stays_while_rows_move(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        listed = await loaded(pilot, app)
        await pilot.press("down", "down")
        before = listed.selected
        assert before is not None
        entry = app.entries[context(120)]
        entry.row = {**entry.row, "updated_at": "2026-11-30T19:59:59Z"}
        app.changed.publish(None)
        await pilot.pause()
        assert "Old question 20" in lines(listed)[0]
        assert listed.selected is before


async def test_typing_filters_by_agent_project_and_text(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        listed = await loaded(pilot, app)
        await pilot.press("slash", *"readme", "enter")
        assert "Rewrite the README" in next(line for line in lines(listed) if "turn" in line)
        assert listed.selected is not None
        assert listed.selected.context_id == context(2)
        assert sum("claude" in line for line in lines(listed)) == 1
        await pilot.press("slash", *[*"zzz"], "enter")
        assert "Nothing matches" in str(app.screen.query_one("#empty", Static).render())
        await pilot.press("escape")
        assert sum("claude" in line for line in lines(listed)) > 5
        assert app.screen.query_one("#filter", Input).value == ""


async def test_agents_are_chosen_by_left_and_right(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await loaded(pilot, app)
        screen = app.screen
        assert isinstance(screen, Home)
        await pilot.press("right")
        assert screen.view.agent == "claude"
        await pilot.press("right")
        assert screen.view.agent is None
        await pilot.press("left")
        assert screen.view.agent == "claude"


async def test_group_sort_and_lines(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        listed = await loaded(pilot, app)
        await pilot.press("g")
        assert lines(listed)[0].strip() == "/home/dev/acme-api"
        await pilot.press("g", "o", "o", "o", "o")
        assert "by title" in str(app.screen.query_one("#tabs", Static).render())
        titles = [line for line in lines(listed) if "claude" in line]
        assert "[/bold]" in "".join(titles[:2])
        two = len([line for line in lines(listed) if "claude" in line])
        await pilot.press("z")
        assert len([line for line in lines(listed) if "claude" in line]) > two


async def test_enter_opens_and_escape_comes_back(app: Dashboard) -> None:
    async with app.run_test(size=NARROW) as pilot:
        await loaded(pilot, app)
        await pilot.press("enter")
        await pilot.pause(0.3)
        assert isinstance(app.screen, SessionScreen)
        await pilot.press("escape")
        await pilot.pause(0.1)
        assert isinstance(app.screen, Home)


@pytest.mark.parametrize("key", ["S", "x", "comma", "L", "question_mark", "ctrl+f"])
async def test_each_page_opens_and_closes(app: Dashboard, key: str) -> None:
    async with app.run_test(size=NARROW) as pilot:
        await loaded(pilot, app)
        await pilot.press(key)
        await pilot.pause(0.2)
        assert not isinstance(app.screen, Home)
        await pilot.press("escape")
        await pilot.pause(0.2)
        assert isinstance(app.screen, Home)


async def test_text_of_sessions_is_data(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        listed = await loaded(pilot, app)
        text = "\n".join(lines(listed))
        assert "[/bold] [0] x [b + /tmp/[/bad]" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "日本語のタイトル" in text
        for row in range(listed.size.height):
            assert listed.render_line(row).cell_length == listed.scrollable_content_region.width
        app.say("[/b] [red]x")
        await pilot.pause()
        assert ODD_TITLES


async def test_without_a_daemon_it_says_so_and_lists(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await loaded(pilot, app)
        await pilot.pause(0.2)
        assert "no daemon is running" in str(app.screen.query_one("#top", Static).render())


async def test_nothing_captured_says_where_it_looked(tmp_path: Path, make_app: MakeApp) -> None:
    app = make_app(tmp_path / "empty")
    async with app.run_test(size=NARROW) as pilot:
        for _ in range(100):
            if app.loaded:
                break
            await pilot.pause(0.05)
        await pilot.pause(0.1)
        told = str(app.screen.query_one("#empty", Static).render())
        assert "Nothing is captured yet" in told
        assert "~/.claude" in told
        assert "ultracontext demo" in told


@pytest.mark.parametrize(("size", "small"), [((60, 20), False), ((59, 20), True), ((60, 19), True)])
async def test_a_screen_that_is_too_small_says_what_is_needed(
    app: Dashboard, size: tuple[int, int], small: bool
) -> None:
    async with app.run_test(size=size) as pilot:
        await pilot.pause(0.1)
        assert app.screen.has_class("small") is small
        assert "60x20" in str(app.screen.query_one("#too-small", Static).render())


async def test_resizing_from_wide_to_narrow_and_back(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await loaded(pilot, app)
        assert app.screen.query_one("#preview").display
        await pilot.resize_terminal(80, 24)
        await pilot.pause(0.1)
        assert not app.screen.query_one("#preview").display
        await pilot.resize_terminal(250, 80)
        await pilot.pause(0.1)
        assert app.screen.query_one("#preview").display
