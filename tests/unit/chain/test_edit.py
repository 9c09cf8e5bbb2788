from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracontext.chain import body_of, members, merged, object_text, parts_of

LENIENT = json.JSONDecoder(parse_int=str, parse_float=str)
names = st.text(st.characters(codec=None), max_size=4)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(codec=None), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(names, values, max_size=5)
indents = st.sampled_from([None, 0, 2])


@given(objects, indents)
def test_members_put_together_are_the_object(value: dict[str, object], indent: int | None) -> None:
    text = json.dumps(value, indent=indent).encode()
    found = members(text)
    assert list(found) == list(value)
    assert {name: json.loads(part) for name, part in found.items()} == value
    assert json.loads(object_text(found)) == value


@given(objects, objects, st.lists(names, max_size=2))
def test_merge_is_that_of_dictionaries(
    value: dict[str, object], changes: dict[str, object], gone: list[str]
) -> None:
    text = merged(json.dumps(value).encode(), json.dumps(changes).encode(), gone)
    expected = {k: v for k, v in (value | changes).items() if k not in gone}
    assert json.loads(text) == expected
    assert list(json.loads(text)) == list(expected)


@given(objects, objects, indents)
def test_parts_of_a_body_are_what_it_was_made_of(
    content: dict[str, object], metadata: dict[str, object], indent: int | None
) -> None:
    text = json.dumps(content, indent=indent).encode()
    found, meta = parts_of(body_of(text, metadata))
    assert found == text
    assert json.loads(meta) == metadata


@pytest.mark.parametrize(
    "text",
    [b"", b" ", b"[]", b"null", b'"{}"', b"{", b"{}x", b'{"a"}', b'{"a":}', b'{"a":1,}', b"{1:2}",
     b'{"a":1 "b":2}', b"\xff{}", b'{"\\ud800":1,}', b'{"\\ud800" 1}', b'{"\\ud800":1}x',
     b'{"\\ud800":01}', b'{"\\ud800":NaN}', b'{"a":"\xff"}', b'{"a":"\xed\xa0\x80"}'],
)  # fmt: skip
def test_what_is_no_object(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        members(text)


@pytest.mark.parametrize("body", [b"", b"{}", b"[{}]", b"[{},{},{}]", b'["\\ud800"]', b"\xff"])
def test_what_is_no_body(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parts_of(body)


def test_values_are_not_read_as_numbers() -> None:
    text = b'{"a":1e400,"b":-0.0,"c":1.10,"d":' + b"9" * 5000 + b"}"
    assert object_text(members(text)) == text
