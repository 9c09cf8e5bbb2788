"""JSON that no program writes: recorded values with parts exchanged for others."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(min_value=-(1 << 70), max_value=1 << 70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "x", "0", "\ud83d", "\x00", "<system-reminder>", "<command-name>", "[", "9" * 400]
    ),
    st.just([]),
    st.just({}),
    st.just([[[[["deep"]]]]]),
    st.just([None, 1, "x", [], {}, {"type": None}, {"type": "text"}, {"type": ["text"]}]),
    st.just({"type": "text", "text": {"type": "text", "text": ["x"]}}),
    st.just({"a": {"b": [{"c": "d"}]}}),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    found = [path] if path else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += places(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += places(item, (*path, index))
    return found


def exchanged(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """A copy with one place exchanged."""
    result = copy.deepcopy(value)
    node = result
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = other
    return result


@st.composite
def odd_records(draw: st.DrawFn, natives: list[dict[str, Any]]) -> dict[str, Any]:
    """A recorded value with up to three places exchanged or removed."""
    value: dict[str, Any] = draw(st.sampled_from(natives))
    for _ in range(draw(st.integers(min_value=1, max_value=3))):
        possible = places(value)
        if not possible:
            break
        path = draw(st.sampled_from(possible))
        change = draw(st.booleans())
        value = exchanged(value, path, draw(ODD)) if change else _without(value, path)
    return value


def _without(value: Any, path: tuple[Any, ...]) -> Any:
    result = copy.deepcopy(value)
    node = result
    for step in path[:-1]:
        node = node[step]
    del node[path[-1]]
    return result
