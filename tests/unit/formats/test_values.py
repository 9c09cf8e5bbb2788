"""Looks into native JSON, where any value may have any type."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracontext.formats import values

ANYTHING: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
SPAN = [datetime(year, 1, 1, tzinfo=UTC).replace(tzinfo=None) for year in (2001, 2100)]
LOOKS: Any = [
    values.text_or_none, values.identifier, values.mapping, values.listing, values.moment,
    values.from_json, values.rendered, values.as_json,
]  # fmt: skip


@pytest.mark.parametrize("look", LOOKS)
@given(value=ANYTHING)
def test_no_value_makes_a_look_fail(look: Any, value: Any) -> None:
    look(value)


@pytest.mark.parametrize(
    ("value", "time"),
    [
        ("2026-11-30T14:02:50.123Z", "2026-11-30T14:02:50.123Z"),
        ("2026-11-30T14:02:50+02:00", "2026-11-30T12:02:50.000Z"),
        ("2026-11-30T14:02:50", "2026-11-30T14:02:50.000Z"),
        (1_790_000_000, "2026-09-21T14:13:20.000Z"),
        (1_790_000_000_500, "2026-09-21T14:13:20.500Z"),
        ("1999-12-31T23:59:59.000Z", None),
        ("2000-01-01T00:00:00+05:00", None),
        ("9999-12-31T23:59:59-23:00", None),
        ("not a time", None),
        (10**400, None),
        (-(10**400), None),
        (float("nan"), None),
        (float("inf"), None),
        (True, None),
        (0, None),
    ],
)
def test_moment(value: object, time: str | None) -> None:
    assert values.moment(value) == time


@given(
    st.datetimes(
        *SPAN,
        timezones=st.sampled_from([UTC, timezone(timedelta(hours=-7))]),
    )
)  # fmt: skip
def test_a_moment_is_the_same_read_again(time: datetime) -> None:
    first = values.moment(time.isoformat())
    assert first is not None
    assert values.moment(first) == first
    assert abs(datetime.fromisoformat(first) - time) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("value", "found"),
    [("a", "a"), (7, "7"), (1 << 64, None), ("x" * 201, None), ("", None), (True, None)],
)
def test_identifier(value: object, found: str | None) -> None:
    assert values.identifier(value) == found


def test_a_line_is_cut_with_a_mark() -> None:
    assert values.one_line(" a\n b\t") == "a b"
    assert values.one_line("word " * 100, 10) == "word word…"
