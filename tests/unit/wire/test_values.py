"""Times, numbers and JSON of the wire."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracontext.wire import iso_of, parse, parse_instant, render, shapes
from ultracontext.wire.numbers import integer_prefix, whole

texts = st.text(st.characters(codec=None, exclude_categories=()))
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**60), 10**60) | texts
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)  # fmt: skip


@given(values)
def test_what_is_written_is_read_back(value: Any) -> None:
    assert json.dumps(parse(render(value))) == json.dumps(value)


@given(values)
def test_what_another_program_writes_is_read_alike(value: Any) -> None:
    assert json.dumps(parse(json.dumps(value).encode())) == json.dumps(value)


@pytest.mark.parametrize("text", [b"", b"NaN", b"Infinity", b"[-Infinity]", b"1e999", b"{'a':1}",
    b'"\x00"', b"\xff", b"[1,]", b"1 2", b"[" * 100_000, b'"\xed\xa0\x80"'])  # fmt: skip
def test_what_is_no_json(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (of several parsers)
        parse(text)


@given(st.dictionaries(texts, values, max_size=4))
def test_a_message_is_put_together_without_parsing_it(given: dict[str, Any]) -> None:
    content, metadata = shapes.split(given)
    text = shapes.message(content, name="msg_1", index=3, metadata=metadata, duplicate=False)
    found = json.loads(text)
    kept = {k: v for k, v in given.items() if k not in shapes.GENERATED}
    assert {k: v for k, v in found.items() if k not in shapes.GENERATED} == kept
    assert (found["id"], found["index"]) == ("msg_1", 3)
    assert list(found)[-3:] == ["id", "index", "metadata"]


FIRST, LAST = datetime(1, 1, 3), datetime(9999, 12, 29)  # noqa: DTZ001  (hypothesis wants them so)


@given(st.datetimes(FIRST, LAST, timezones=st.just(UTC)))
def test_an_instant_is_read_as_it_was_written(when: datetime) -> None:
    text = iso_of(when)
    assert len(text) == 24
    assert text.endswith("Z")
    found = parse_instant(text)
    assert found is not None
    assert found == when.replace(microsecond=when.microsecond // 1000 * 1000)


NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-30T12:00:00Z", "2026-11-30T12:00", "2026-11-30 12:00:00.000000+00",
        "2026-11-30T13:00:00+01:00", "2026-11-30T06:30:00-0530", "Mon, 30 Nov 2026 12:00:00 GMT",
        "Nov 30, 2026 12:00", "Mon Nov 30 2026 14:00:00 GMT+0200 (Somewhere)",
        "30 Nov 2026 12:00:00",
    ],
)  # fmt: skip
def test_forms_of_one_instant(text: str) -> None:
    assert parse_instant(text) == NOON


@pytest.mark.parametrize(
    "value",
    [
        None, 5, True, "", " ", "x", "1764511200000", "2026-13-01", "2026-02-30", "25:00", "now",
        "2026-11-30T25:00:00Z", "2026-11-30T12:00:00+99:00", "20261130", "x" * 200, "12 12 12",
    ],
)  # fmt: skip
def test_what_is_no_instant(value: object) -> None:
    assert parse_instant(value) is None


@given(st.text() | st.integers() | st.floats() | st.none() | st.booleans() | st.lists(st.none()))
def test_nothing_breaks_the_readers_of_values(value: Any) -> None:
    parse_instant(value)
    assert integer_prefix(value) is None or isinstance(integer_prefix(value), int)
    assert whole(value) is None or whole(value) == value


@pytest.mark.parametrize(
    ("value", "number"),
    [("2x", 2), (" 7", 7), ("-1", -1), ("+3", 3), ("x2", None), ("", None), (2.9, 2), (True, None),
     (None, None), ("1e3", 1), ("0x10", 0), ([1], None), (10**30, 10**30)],
)  # fmt: skip
def test_integers_as_the_original_reads_them(value: Any, number: int | None) -> None:
    assert integer_prefix(value) == number
