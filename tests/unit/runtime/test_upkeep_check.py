"""When the daemon looks through its store for damage."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ultracontext.paths import resolve_paths
from ultracontext.runtime.assembly import Line, Setup, capture_line
from ultracontext.runtime.health import damage_problems
from ultracontext.runtime.upkeep import CHECKED, Upkeep
from ultracontext.settings import load_settings

DAY = 86400


@pytest.fixture
def line(tmp_path: Path) -> Iterator[Line]:
    env = {"ULTRACONTEXT_HOME": str(tmp_path / "uc"), "ULTRACONTEXT_REDACTION_ENGINE": "aho"}
    paths = resolve_paths(env, tmp_path)
    paths.ensure()
    setup = Setup(
        paths=paths, settings=load_settings(paths.config_file, env), env=env, home=tmp_path
    )
    with capture_line(setup) as made:
        yield made


@pytest.fixture
def asked(line: Line, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The answers of every look; the list may be given some in advance."""
    looks: list[bool] = []
    sound = type(line.store).sound

    def look(store: object, halted: object) -> bool | None:
        looks.append(True)
        return sound(store, halted)  # type: ignore[arg-type]

    monkeypatch.setattr(type(line.store), "sound", look)
    return looks


def test_once_a_day(line: Line, asked: list[bool]) -> None:
    upkeep, stop = Upkeep(line), threading.Event()
    upkeep.once(stop)
    upkeep.once(stop)
    assert len(asked) == 1
    Upkeep(line).once(stop)  # the next daemon
    assert len(asked) == 1
    line.space.note(CHECKED, line.space.noted(CHECKED) - DAY)
    upkeep.once(stop)
    assert len(asked) == 2


def test_after_a_daemon_that_did_not_end_cleanly(line: Line, asked: list[bool]) -> None:
    Upkeep(line).once(threading.Event())
    upkeep = Upkeep(line, unclean=True)
    upkeep.once(threading.Event())
    upkeep.once(threading.Event())
    assert len(asked) == 2


def test_a_clock_set_back_does_not_put_it_off(line: Line, asked: list[bool]) -> None:
    line.space.note(CHECKED, 1 << 40)
    Upkeep(line).once(threading.Event())
    assert len(asked) == 1


def test_a_single_run_does_not_wait_for_it(line: Line, asked: list[bool]) -> None:
    Upkeep(line, gently=False).once(threading.Event())
    assert not asked


def test_what_is_found_is_a_problem_once(line: Line) -> None:
    path = line.setup.paths.store_file
    line.store.maintain()
    with path.open("r+b") as file:
        file.seek(4096 * 3)
        file.write(b"\xff" * 4096 * 3)
    Upkeep(line, unclean=True).once(threading.Event())
    assert line.store.damaged
    (found,) = damage_problems(line.setup.paths, [], line.store.damaged)
    assert (found["code"], str(path) in found["message"]) == ("store-corrupt", True)
    assert "daemon stop" in found["hint"]
    assert damage_problems(line.setup.paths, [found], True) == []
