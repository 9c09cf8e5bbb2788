"""Each screen as a picture, at three sizes, with a fixed clock.

After a change that is meant: `pytest tests/dashboard/test_snapshots.py --snapshot-update`, and look
at what changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.dashboard.answers import Answering
from tests.dashboard.conftest import MakeApp
from tests.dashboard.scenes import SCENES, pinned, settled

SIZES = ((60, 20), (110, 36), (200, 60))
Compare = Callable[..., bool]

pytestmark = pytest.mark.timeout(60)


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("scene", SCENES)
def test_screen(
    person: Path, make_app: MakeApp, snap_compare: Compare, tmp_path: Path, scene: str,
    size: tuple[int, int],
) -> None:  # fmt: skip
    app = make_app(person, program=Answering(tmp_path / "program").program)
    with pinned(app):
        act = SCENES[scene]
        assert snap_compare(app, terminal_size=size, run_before=lambda pilot: act(pilot, app))


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def test_nothing_captured(
    make_app: MakeApp, snap_compare: Compare, tmp_path: Path, size: tuple[int, int]
) -> None:
    app = make_app(tmp_path / "empty")
    with pinned(app):
        assert snap_compare(app, terminal_size=size, run_before=partial(settled, app=app))


def test_light(
    person: Path, make_app: MakeApp, snap_compare: Compare
) -> None:  # the same, for a bright terminal
    app = make_app(person, env={"ULTRACONTEXT_THEME": "light", "HOME": str(person)})
    with pinned(app):
        assert snap_compare(app, terminal_size=SIZES[1], run_before=partial(settled, app=app))
