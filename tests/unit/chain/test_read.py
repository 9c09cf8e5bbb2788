from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ultracontext.chain import BUCKET, Places, shown, window


def places(end: int, removed: set[int]) -> Places:
    counts: dict[int, int] = {}
    for position in removed:
        counts[position // BUCKET] = counts.get(position // BUCKET, 0) + 1
    return Places(
        end,
        sorted(counts.items()),
        lambda first, until: sorted(p for p in removed if first <= p < until),
    )


@given(st.integers(0, 3 * BUCKET + 5), st.data())
def test_index_and_position_are_each_other_s_inverse(end: int, data: st.DataObject) -> None:
    positions = st.integers(0, end - 1) if end else st.nothing()
    removed = data.draw(st.sets(positions, max_size=end))
    left = [position for position in range(end) if position not in removed]
    found = places(end, removed)
    assert [found.position_of(index) for index in range(len(left))] == left
    assert [found.index_of(position) for position in left] == list(range(len(left)))
    assert found.index_of(end) == len(left)
    assert found.position_of(len(left)) >= (left[-1] + 1 if left else 0)


def test_whole_buckets_can_be_removed() -> None:
    found = places(3 * BUCKET, set(range(BUCKET, 2 * BUCKET)))
    assert found.position_of(BUCKET) == 2 * BUCKET
    assert found.index_of(2 * BUCKET) == BUCKET


def test_a_version_shows_what_was_born_and_not_yet_superseded() -> None:
    assert shown(0, None, 0)
    assert shown(1, 3, 2)
    assert not shown(1, 3, 3)
    assert not shown(1, 3, 0)
    assert not shown(2, 2, 2)  # a revision within one version


@given(st.integers(0, 20), st.none() | st.integers(0, 25), st.none() | st.integers(0, 25))
def test_window_is_that_of_a_list(total: int, first: int | None, last: int | None) -> None:
    items = list(range(total))
    expected = items[first or 0 :]
    if last is not None:
        expected = [item for item in expected if item >= total - last]
    found = window(total, first=first, last=last)
    assert items[found.first : found.until] == expected
