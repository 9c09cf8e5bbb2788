from __future__ import annotations

import pytest
from rich.cells import cell_len

from ultracontext.cli.table import Column, render

COLUMNS = (Column(name="Id"), Column(name="N", right=True), Column(name="Title", weight=2, least=8))
ROWS = [
    ("ctx_1", "7", "short"),
    ("ctx_2", "12345", "説明を日本語で書いてください" * 4),
    ("ctx_3", "1", "e\u0301\u200b" * 60 + "\x1b[31m"),
    ("ctx_4", "", "a\nb"),
]


def test_without_a_width_nothing_is_cut() -> None:
    lines = render(COLUMNS, ROWS, None)
    assert lines[0].split() == ["Id", "N", "Title"]
    assert lines[2].endswith("ください")
    assert lines[4].endswith("a b")


@pytest.mark.parametrize("width", [8, 20, 40, 80, 120])
def test_lines_fit_whatever_the_characters(width: int) -> None:
    lines = render(COLUMNS, ROWS, width)
    assert len(lines) == 5
    assert all(cell_len(line) <= width for line in lines)
    assert "\x1b" not in "".join(lines)


def test_columns_are_aligned_in_cells() -> None:
    lines = render(COLUMNS, ROWS, 60)
    starts = {
        cell_len(line[: line.index(t)]) for line, t in zip(lines[1:3], ("short", "説"), strict=True)
    }
    assert len(starts) == 1


def test_heavier_columns_give_way_first() -> None:
    line = render(COLUMNS, ROWS, 40)[2]
    assert line.startswith("ctx_2  12345  ")
    assert line.endswith("…")


def test_no_rows() -> None:
    assert len(render(COLUMNS, [], 80)) == 1
