"""What a person wiped is not captured again, until it is wanted again."""

from __future__ import annotations

import shutil

import pytest
from capture_lab import Lab, lines, record

from ultracontext.model import ContextId, captured_context_id

NAME = captured_context_id("toy", "s1")
TEXTS = ["text 0", "text 1", "text 2"]


@pytest.fixture
def wiped(lab: Lab) -> Lab:
    lab.write(lines(record(n) for n in range(3)))
    lab.write(lines(record(n, session="s2") for n in range(2)), "b.log")
    lab.run()
    assert lab.texts() == TEXTS
    lab.space.wipe(NAME, reason="forget", now=lab.now)
    return lab


def test_neither_a_scan_nor_a_new_turn_brings_it_back(wiped: Lab) -> None:
    wiped.run()
    assert wiped.texts() == []
    wiped.append(lines([record(3)]))
    done = wiped.run()
    assert wiped.texts() == []
    assert done.skipped["wiped"] == 1
    assert wiped.space.totals()["skipped.wiped"] == 1
    assert wiped.texts("s2") == ["text 0", "text 1"]


def test_neither_a_copy_nor_a_rewritten_file_brings_it_back(wiped: Lab) -> None:
    shutil.copy(wiped.logs / "a.log", wiped.logs / "copy.log")
    wiped.append(lines([record(9)]), "copy.log")
    wiped.write(lines(record(n, text=f"rewritten {n}") for n in range(5)))
    wiped.run()
    assert wiped.texts() == []
    assert [c.session_id for c in wiped.space.contexts(limit=0)] == ["s2"]


def test_a_daemon_that_runs_obeys_at_once(lab: Lab) -> None:
    """Between two sweeps the store refuses what the engine does not know of yet."""
    lab.write(lines(record(n) for n in range(3)))
    engine = lab.engine()
    engine.run_once()
    lab.space.wipe(NAME, now=lab.now)
    path = lab.append(lines([record(3)]))
    engine.hint(str(path))
    engine._take_hints()
    while engine._work():
        pass
    assert lab.texts() == []
    assert lab.space.totals()["skipped.wiped"] == 1


@pytest.mark.parametrize("running", [False, True])
def test_captured_again_it_is_whole(wiped: Lab, running: bool) -> None:
    engine = wiped.engine()
    engine.run_once()
    wiped.append(lines([record(3)]))
    engine.run_once()
    wiped.write(lines(record(n) for n in range(2, 6)), "copy.log")
    engine.run_once()
    assert wiped.space.lift(NAME, now=wiped.now)
    (engine if running else wiped.engine()).run_once()
    assert sorted(wiped.texts()) == [*TEXTS, "text 3", "text 4", "text 5"]
    assert wiped.space.verify(NAME).sound
    wiped.append(lines([record(6)]), "copy.log")
    wiped.run()
    assert wiped.texts()[-1] == "text 6"


def test_tombstone_of_an_import_is_obeyed_too(lab: Lab) -> None:
    lab.write(lines([record(0)]))
    lab.run()
    stone_of_other = captured_context_id("toy", "s9")
    lab.space.wipe(NAME, now=lab.now)
    (stone,) = lab.space.tombstones()
    stone.context_id = ContextId(stone_of_other)
    stone.session_id = "s9"
    lab.space.bury(stone)
    lab.write(lines([record(0, session="s9")]), "c.log")
    lab.run()
    assert lab.texts("s9") == []
