"""Tables that fit the terminal. Widths are counted in cells, so wide characters align."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ultracontext.cli.output import one_line

GAP = "  "


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. `least`: it is not cut below this; columns of greater `weight` are cut first."""

    name: str
    least: int = 4
    weight: int = 0
    right: bool = False
    keeps_end: bool = False
    """Cut at its begin: of a path the last part tells most."""


def render(
    columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int | None
) -> list[str]:
    """Lines of the table, the names of the columns first; `width` None cuts nothing."""
    from rich.cells import cell_len

    cells = [[one_line(text) for text in row] for row in rows]
    widths = [
        max([cell_len(column.name), *(cell_len(row[i]) for row in cells)])
        for i, column in enumerate(columns)
    ]
    if width is not None:
        _shrink(widths, columns, width - len(GAP) * (len(columns) - 1))
    head = _line([column.name for column in columns], widths, columns)
    return [head] + [_line(row, widths, columns) for row in cells]


def _shrink(widths: list[int], columns: Sequence[Column], room: int) -> None:
    for weight in sorted({column.weight for column in columns}, reverse=True):
        for i, column in enumerate(columns):
            if column.weight == weight and sum(widths) > room:
                widths[i] = max(min(column.least, widths[i]), widths[i] - (sum(widths) - room))
    for i in reversed(range(len(widths))):  # very narrow: all gives way, the first column last
        if sum(widths) > room:
            widths[i] = max(1, widths[i] - (sum(widths) - room))


def _line(cells: Sequence[str], widths: Sequence[int], columns: Sequence[Column]) -> str:
    parts = [
        _fit(cell, width, column)
        for cell, width, column in zip(cells, widths, columns, strict=True)
    ]
    return GAP.join(parts).rstrip()


def _fit(text: str, width: int, column: Column) -> str:
    from rich.cells import cell_len, set_cell_size

    size = cell_len(text)
    if size > width and column.keeps_end:
        while text and cell_len(text) >= width:
            text = text[1:]
        text = ("…" + text) if width else ""
        size = cell_len(text)
    if size > width:
        return set_cell_size(text, max(width - 1, 0)) + "…" if width else ""
    blank = " " * (width - size)
    return blank + text if column.right else text + blank
