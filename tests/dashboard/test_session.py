"""The session screen."""

from __future__ import annotations

from tests.dashboard.conftest import SECRET
from tests.dashboard.test_home import WIDE, context, loaded
from textual.pilot import Pilot
from textual.widgets import Static

from ultracontext_dashboard.app import Dashboard
from ultracontext_dashboard.screens.session import SessionScreen
from ultracontext_dashboard.widgets.conversation import Conversation


async def opened(pilot: Pilot[int], app: Dashboard, number: int) -> Conversation:
    await loaded(pilot, app)
    await app.push_screen(SessionScreen(context(number)))
    for _ in range(100):
        talk = app.screen.query_one(Conversation)
        if talk.count:
            break
        await pilot.pause(0.05)
    await pilot.pause(0.1)
    return app.screen.query_one(Conversation)


def shown(talk: Conversation) -> str:
    height = talk.virtual_size.height
    rows = [talk._strips[place][part] for place, part in talk._lines[:height]]
    return "\n".join("".join(s.text for s in row).rstrip() for row in rows)


async def test_conversation_with_tools_diff_and_masks(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        talk = await opened(pilot, app, 1)
        text = shown(talk)
        assert "Fix the flaky retry test" in text
        assert "▸ Bash  gh run view 4711" in text
        assert "+2 -1" in text
        assert SECRET not in text
        await pilot.press("up", "enter")
        text = shown(talk)
        assert "-time.sleep(1)" in text
        assert "+clock.tick(1)" in text
        await pilot.press("up", "enter")
        assert "[redacted:github-token:" in shown(talk)


async def test_turns_and_search(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        talk = await opened(pilot, app, 1)
        assert talk.at_tail
        await pilot.press("k")
        assert talk.current is not None
        assert talk.current.kind == "user"
        assert not talk.at_tail
        await pilot.press("slash", *"retry", "enter")
        await pilot.pause(0.1)
        first = talk.cursor
        await pilot.press("n")
        assert talk.cursor != first
        await pilot.press("t")
        assert talk.at_tail


async def test_markdown_answer_is_drawn_and_long_lines_bounded(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        talk = await opened(pilot, app, 2)
        assert "Shall I update the lock file?" in shown(talk)
        await pilot.press("escape")
        talk = await opened(pilot, app, 10)
        assert "5,0" in shown(talk)
        width = talk.scrollable_content_region.width
        assert {talk.render_line(y).cell_length for y in range(talk.size.height)} == {width}


async def test_side_shows_lineage_and_files(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await opened(pilot, app, 1)
        side = str(app.screen.query_one("#side-text", Static).render())
        assert "Lineage" in side
        assert "tests/test_retry.py" in side
        await pilot.press("i")
        assert not app.screen.query_one("#side").display
