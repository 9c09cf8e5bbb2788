"""Line of keys, log, health, themes."""

from __future__ import annotations

from datetime import timedelta

import pytest
from rich.console import Console
from tests.dashboard.conftest import NOW
from tests.dashboard.test_home import WIDE, loaded
from textual.widgets import Static

from ultracontext_dashboard.app import Dashboard
from ultracontext_dashboard.screens.health import masks_table, versions_met
from ultracontext_dashboard.screens.help import Help
from ultracontext_dashboard.screens.home import Home
from ultracontext_dashboard.screens.log import told
from ultracontext_dashboard.themes import chosen
from ultracontext_dashboard.widgets.top import Keys, shortened


async def test_a_click_on_a_key_presses_it(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await loaded(pilot, app)
        keys = app.screen.query_one(Keys)
        text = keys.render().plain
        await pilot.click(Keys, offset=(text.index("? help"), 0))
        await pilot.pause(0.2)
        assert isinstance(app.screen, Help)
        await pilot.press("escape")
        await pilot.pause(0.2)
        await pilot.click(Keys, offset=(text.index("g group"), 0))
        await pilot.pause(0.1)
        assert isinstance(app.screen, Home)
        assert app.screen.view.grouped


async def test_a_click_on_a_tab_chooses_the_agent(app: Dashboard) -> None:
    async with app.run_test(size=WIDE) as pilot:
        await loaded(pilot, app)
        assert isinstance(app.screen, Home)
        text = str(app.screen.query_one("#tabs", Static).render())
        await pilot.click("#tabs", offset=(text.index("claude"), 0))
        await pilot.pause(0.1)
        assert app.screen.view.agent == "claude"


@pytest.mark.parametrize("room", [0, 10, 30, 58, 100, 200])
def test_the_last_keys_stay(room: int) -> None:
    groups = Home.KEYS.split("   ")
    shown = shortened(groups, room)
    assert shown == [group for group in groups if group in shown]
    assert shown[-2:] == groups[-2:]
    assert len(shown) == 2 or len("   ".join(shown)) <= room
    assert shown == groups or len(shown) < len(groups)


def test_a_line_of_the_log_is_readable() -> None:
    line = (
        '{"timestamp": "2026-11-30T19:24:19.810Z", "level": "error", "logger": "capture.tail",'
        ' "code": "gone", "event": "file-gone"}'
    )
    assert told(line) == ("11-30 19:24:19 error   capture.tail  file-gone  code=gone", "bold red")
    assert told("no [json] \x1b[31m") == ("no [json] ␛[31m", "")
    assert told("[1]") == ("[1]", "")


def test_masks_by_kind_over_time() -> None:
    rows = [
        {"kind": "github-token", "count": 3, "until": NOW, "met": [NOW, NOW - timedelta(days=2)]},
        {"kind": "jwt", "count": 1, "until": NOW - timedelta(days=40)},
    ]
    console = Console(width=80, record=True, file=None, force_terminal=False)
    with console.capture() as got:
        console.print(masks_table(rows, NOW))
    lines = got.get().splitlines()
    assert lines[0].split()[:4] == ["Masks", "by", "kind", "4"]
    assert lines[1].rstrip().endswith("▇▁▇")
    assert lines[2].split() == ["jwt", "1"]


def test_versions_that_nobody_tried_stand_out() -> None:
    assert versions_met(["1.0", "9.9"], ("1.0",)).plain == "1.0, 9.9 new to us"


@pytest.mark.parametrize(
    ("env", "name"),
    [({}, "dark"), ({"COLORFGBG": "0;15"}, "light"), ({"COLORFGBG": "15;0"}, "dark"),
     ({"COLORFGBG": "0;15", "ULTRACONTEXT_THEME": "dark"}, "dark"),
     ({"ULTRACONTEXT_THEME": "Light"}, "light"), ({"ULTRACONTEXT_THEME": "odd"}, "dark")],
)  # fmt: skip
def test_the_theme_follows_the_setting_then_the_terminal(env: dict[str, str], name: str) -> None:
    assert chosen(env) == f"ultracontext-{name}"
