"""A step that runs the agent's own program: taken back whole, or by the program when others used
its database since."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from switch_lab import tree

from ultracontext.formats import FileWrite, RunProgram
from ultracontext.switch import steps
from ultracontext.switch.back import take_back
from ultracontext.switch.done import Done, SwitchError

TAKES = """
import pathlib, sys
root = pathlib.Path(sys.argv[1])
new = root / "sessions" / "new.jsonl"
with (root / "store.db").open("a") as out:
    out.write(new.read_text())
(root / "archive").mkdir(exist_ok=True)
new.rename(root / "archive" / "new.imported")
"""
TAKES_BACK = """
import pathlib, sys
store = pathlib.Path(sys.argv[1]) / "store.db"
store.write_text(store.read_text().replace("new session", ""))
"""
FAILS = "raise SystemExit(3)"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "agent"
    (made / "archive").mkdir(parents=True)
    (made / "archive" / "old.imported").write_text("old")
    (made / "store.db").write_text("old session")
    return made


@pytest.fixture
def carry_out(root: Path, tmp_path: Path) -> Callable[..., list[Done]]:
    def carry_out(program: str = TAKES, back: str = TAKES_BACK) -> list[Done]:
        file = FileWrite(path="sessions/new.jsonl", data=b"new session")
        done = steps.announce_file(root, file)
        steps.write_file(root, file, "sw_1")
        step = RunProgram(
            argv=(sys.executable, "-c", program, str(root)),
            undo=(sys.executable, "-c", back, str(root)),
            backup=("store.db",), makes=("archive", "runs"), hint="Stop it",
        )  # fmt: skip
        begun = steps.announce(root, step, tmp_path / "keep")
        done += begun
        steps.perform(root, step)
        steps.note_ran(begun)
        return done

    return carry_out


def test_a_plan_that_fails_afterwards_leaves_all_as_it_was(
    root: Path, carry_out: Callable[..., list[Done]]
) -> None:
    before = tree(root)
    done = carry_out()
    assert (root / "store.db").read_text() == "old sessionnew session"
    assert take_back(done) == []
    assert tree(root) == before


def test_a_crash_before_the_program_ended_leaves_all_as_it_was(root: Path, tmp_path: Path) -> None:
    before = tree(root)
    step = RunProgram(argv=("x",), backup=("store.db",), makes=("archive",))
    begun = steps.announce(root, step, tmp_path / "keep")
    (root / "store.db").write_text("half")
    (root / "archive" / "half").write_text("half")
    assert take_back(begun) == []
    assert tree(root) == before


def test_undo_restores_while_nobody_used_the_database(
    root: Path, carry_out: Callable[..., list[Done]]
) -> None:
    before = tree(root)
    done = carry_out(back=FAILS)
    assert take_back(done, later=True) == []
    assert tree(root) == before


def test_undo_keeps_what_others_did_and_asks_the_program(
    root: Path, carry_out: Callable[..., list[Done]]
) -> None:
    done = carry_out()
    with (root / "store.db").open("a") as out:
        out.write(" and another")
    (root / "archive" / "later.imported").write_text("later")
    assert take_back(done, later=True) == []
    assert (root / "store.db").read_text() == "old session and another"
    assert sorted(path.name for path in (root / "archive").iterdir()) == [
        "later.imported", "old.imported"
    ]  # fmt: skip


def test_undo_that_the_program_refuses_changes_nothing(
    root: Path, carry_out: Callable[..., list[Done]]
) -> None:
    done = carry_out(back=FAILS)
    with (root / "store.db").open("a") as out:
        out.write(" and another")
    before = tree(root)
    (left,) = take_back(done, later=True)
    assert "ended with 3" in left
    assert tree(root) == before


def test_a_program_that_fails_says_what_to_do(carry_out: Callable[..., list[Done]]) -> None:
    with pytest.raises(SwitchError, match="ended with 3") as error:
        carry_out(program=FAILS)
    assert error.value.hint == "Stop it"
