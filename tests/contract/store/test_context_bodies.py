"""Every JSON value comes back as it was stored."""

from __future__ import annotations

import json
import os
import random

import pytest
from context_writer import Writer, message
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ultracontext.store import Update

ODD = [
    '{"nul":"a\\u0000b","raw":"a\tb"}'.replace("\t", "\\t"),
    '{"lone":"\\ud800","\\udc00key":1,"pair":"\\ud83d\\ude00"}',
    '{"big":123456789012345678901234567890,"huge":1e400,"neg":-0.0,"long":0.10000000000000000555}',
    '{"z":1,"a":2,"\\u0061b":3,"":4}',
    '{ "spaces" : [ 1 , 2 ],\n "lines"\r\n: {} }',
    '{"deep":' + "[" * 400 + "]" * 400 + "}",
    '{"unicode":"äöü \u2028 🙂","escaped":"\\u00e4"}',
    '{"id":"mine","index":7,"content":null}',
    "{}",
    '{"digits":' + "9" * 6000 + "}",
]


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_odd_messages(writer: Writer, text: str) -> None:
    name = writer.create()
    writer.append(name, message(text.encode()))
    fork = writer.fork(name)
    for context in (name, fork):
        (found,) = writer.messages(context)
        assert found.content == text.encode()
    assert writer.space.verify(fork).sound


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_an_edit_touches_no_other_member(writer: Writer, text: str) -> None:
    name = writer.create()
    writer.append(name, message(text.encode()))
    writer.edit(name, Update(index=0, changes=b'{"added":"\\ud800 1e400"}'))
    (found,) = writer.messages(name)
    kept = json.JSONDecoder(parse_int=str, parse_float=str)
    assert kept.decode(found.content.decode()) == {
        **kept.decode(text), "added": "\ud800 1e400",
    }  # fmt: skip


METADATA = {
    "nul\0": "a\0b", "lone": "\ud800", "big": 2**200, "z": 1, "a": {"\udc00": [None, True, 1.5]},
}  # fmt: skip


def test_odd_metadata(writer: Writer) -> None:
    name = writer.create(metadata=METADATA)
    writer.append(name, message("a", METADATA))
    writer.checkpoint(name, metadata=METADATA, operation_id="op\0\ud800" + "x" * 3000)
    writer.set_metadata(name, {"more\0": "\udc00"})
    info = writer.space.context(name)
    assert info.metadata == METADATA | {"more\0": "\udc00"}
    assert list(info.metadata) == [*METADATA, "more\0"]
    (found,) = writer.messages(name)
    assert found.metadata == METADATA
    assert list(found.metadata) == list(METADATA)
    assert writer.space.versions(name)[1].metadata == METADATA
    assert writer.space.verify(name).sound
    again = writer.checkpoint(name, metadata=METADATA, operation_id="op\0\ud800" + "x" * 3000)
    assert again.duplicate


@pytest.mark.timeout(120)
def test_message_of_20_mb(writer: Writer) -> None:
    name = writer.create()
    noise = random.Random(1).randbytes(10_000_000).hex()
    content = b'{"content":"' + noise.encode() + b'"}'
    writer.append(name, "before", message(content), "after")
    found = writer.messages(writer.fork(name))
    assert found[1].content == content
    writer.edit(name, Update(index=1, changes=b'{"role":"user"}'))
    assert writer.messages(name, first=1, at=1)[0].content == content[:-1] + b',"role":"user"}'
    assert writer.space.verify(name).sound


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
objects = st.dictionaries(st.text(st.characters(codec=None), max_size=5), values, max_size=4)


@settings(
    max_examples=int(os.environ.get("UC_EXAMPLES", "40")), deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(objects, objects, st.booleans())
def test_any_object_and_metadata(
    writer: Writer, content: object, metadata: object, escaped: bool
) -> None:
    text = json.dumps(content, ensure_ascii=escaped)
    try:
        data = text.encode()
    except UnicodeEncodeError:
        data = json.dumps(content).encode()
    name = writer.create(metadata=metadata)
    writer.append(name, message(data, metadata))
    (found,) = writer.messages(name)
    assert found.content == data
    assert json.dumps(found.metadata) == json.dumps(metadata)
    assert json.dumps(writer.space.context(name).metadata) == json.dumps(metadata)
