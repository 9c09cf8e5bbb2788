"""Pure parts: texts, numbers, order."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from ultracontext_dashboard import words
from ultracontext_dashboard.arrange import View, arrange
from ultracontext_dashboard.library import Doing, Entry
from ultracontext_dashboard.text import clean, fit, one_line, short_lines

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)


@given(st.text(), st.integers(0, 60), st.booleans())
def test_fit_has_exactly_the_width(text: str, width: int, right: bool) -> None:
    assert cell_len(fit(one_line(text), width, right=right)) == width


@given(st.text())
def test_nothing_in_a_clean_text_steers_a_terminal(text: str) -> None:
    for character in clean(text):
        code = ord(character)
        assert character == "\n" or code >= 0x20
        assert not 0x7F <= code < 0xA0
        assert not 0x202A <= code <= 0x202E
        assert not 0xD800 <= code < 0xE000


@given(st.text(), st.integers(1, 20))
def test_short_lines_are_bounded(text: str, most: int) -> None:
    lines, left = short_lines(text, most)
    assert len(lines) <= most
    assert left >= 0


@pytest.mark.parametrize(
    ("ago", "told"),
    [(0, "now"), (59, "now"), (60, "1 m"), (3599, "59 m"), (7200, "2 h"), (86400, "yesterday"),
     (5 * 86400, "5 d"), (40 * 86400, "2026-10-21")],
)  # fmt: skip
def test_ages(ago: int, told: str) -> None:
    assert words.age(NOW - timedelta(seconds=ago), NOW) == told


@given(st.integers(0, 10**12))
def test_counts_take_five_cells_at_most(count: int) -> None:
    assert len(words.count_text(min(count, 10**9))) <= 7


def entry(name: str, updated: str, **row: object) -> Entry:
    base = {"id": name, "agent": "claude", "updated_at": updated, "title": name}
    return Entry(row={**base, **row}, doing=Doing(state="idle"))


def test_children_hang_under_their_parent_and_subagents_fold() -> None:
    entries = {
        e.context_id: e
        for e in (
            entry("old", "2026-11-30T10:00:00Z"),
            entry("parent", "2026-11-30T11:00:00Z"),
            entry("fork", "2026-11-30T12:00:00Z", parent_id="parent", relation="fork"),
            entry("sub", "2026-11-30T12:00:00Z", parent_id="parent", relation="subagent"),
        )
    }
    lines = arrange(entries, View())
    assert [(line.key, line.depth, line.folded) for line in lines] == [
        ("parent", 0, 1), ("fork", 1, 0), ("old", 0, 0)
    ]  # fmt: skip
    lines = arrange(entries, View(unfolded=frozenset({"parent"})))
    assert {line.key for line in lines} == {"parent", "fork", "sub", "old"}


def test_a_circle_of_parents_hides_nothing() -> None:
    entries = {
        "a": entry("a", "2026-11-30T10:00:00Z", parent_id="b", relation="fork"),
        "b": entry("b", "2026-11-30T11:00:00Z", parent_id="a", relation="fork"),
    }
    assert {line.key for line in arrange(entries, View())} == {"a", "b"}
