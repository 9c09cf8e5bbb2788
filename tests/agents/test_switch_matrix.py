"""The real programs go on with what we wrote, and send the whole history to their model."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from real_agents import PROGRAMS, Program, missing
from real_agents.driver import ORDINARY_USER
from real_agents.programs import INSTALL, folder
from switch_matrix import SECRET, Cell, Matrix, Source, chosen, name_of, note_outcome
from written import PNG

pytestmark = [pytest.mark.full, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def matrix() -> Iterator[Matrix]:
    """`UC_MATRIX_FOLDER` names a folder that is kept, so that a run can go on where one ended."""
    kept = os.environ.get("UC_MATRIX_FOLDER")
    with tempfile.TemporaryDirectory(prefix="uc-matrix-") as made:
        matrix = Matrix(base=Path(kept or made).resolve())
        matrix.prepare()
        yield matrix


@pytest.mark.parametrize("cell", chosen(), ids=name_of)
def test_history_arrives(matrix: Matrix, cell: Cell) -> None:
    for program in cell:
        present(program)
    try:
        check(matrix, cell)
    except BaseException:
        note_outcome(cell, passed=False)
        raise
    note_outcome(cell, passed=True)


def check(matrix: Matrix, cell: Cell) -> None:
    source, target = cell
    outcome = matrix.run(matrix.source(source), target)
    switched = outcome.switched
    came = outcome.came
    assert missing(outcome.history, came.said) == []
    kinds = Counter(entry.kind for entry in outcome.history)
    told = {loss["kind"]: loss["count"] for loss in switched["losses"]}
    assert switched["tool_calls"] == came.calls
    assert kinds["tool_call"] == kinds["tool_result"] >= came.calls - told.get("tool", 0)
    called = [entry.call_id for entry in outcome.history if entry.kind == "tool_call"]
    answered = [entry.call_id for entry in outcome.history if entry.kind == "tool_result"]
    assert called == answered
    assert told.get("orphan", 0) == came.orphans
    assert not set(told) & {"tool_output_cut", "text_safety", "other"}, told
    assert outcome.measured.missing == []
    assert told == dict(outcome.measured.lost)
    assert outcome.answered
    assert outcome.session_id == switched["session_id"]
    assert outcome.unscripted == 0


@pytest.mark.parametrize("target", PROGRAMS, ids=lambda program: program.name)
def test_odd_things_arrive_or_are_told_of(matrix: Matrix, target: Program) -> None:
    present(target)
    outcome = matrix.run(matrix.odd(), target)
    told = {loss["kind"]: loss["count"] for loss in outcome.switched["losses"]}
    assert outcome.measured.missing == []
    assert told == dict(outcome.measured.lost)
    assert SECRET not in outcome.sent
    assert "[redacted:" in outcome.sent
    assert PNG in outcome.sent
    assert outcome.answered


def present(program: Source) -> None:
    for part in program.required():
        if not part.installed:
            absent(f"{part.name} is not in {folder()}; get it by {INSTALL} {part.name}")


def absent(reason: str) -> None:
    if os.environ.get("CI") == "true":
        pytest.fail(f"{reason} ({ORDINARY_USER})")
    pytest.skip(reason)
