"""Every JSON value comes back as it was stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ultracontext.model import event_id
from ultracontext.store import CaptureBatch, SpaceStore, Store

ODD = [
    rb'{"nul":"a\u0000b"}',
    rb'{"lone":"\ud800","pair":"\ud83d\ude00"}',
    b'{"big":123456789012345678901234567890,"e":1e400,"neg":-0.0,"long":0.1000000000000000055}',
    b'{"z":1,"a":2,"m":{"y":1,"b":2}}',
    '{"text":"ünïcödé 漢字 \U0001f600"}'.encode(),
    b'{"deep":' + b"[" * 300 + b"]" * 300 + b"}",
    b'{"":"","k":[{},[],null,true,false]}',
    b"{}",
]


@pytest.mark.parametrize("data", ODD, ids=range(len(ODD)))
def test_odd_values_round_trip(space: SpaceStore, make: Any, data: bytes) -> None:
    event = make.event(0, data=data)
    make.append(space, event, make.event(1), make.event(2, data=data))
    first, _, last = space.nodes(space.find("s1").context_id)
    assert first.body == last.body == event.record.body
    if b"e400" not in data:
        assert json.loads(first.body) == json.loads(data)
        assert list(json.loads(first.body)) == list(json.loads(data))


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.lists(
        st.dictionaries(st.text(), st.recursive(
            st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False,
            allow_infinity=False), lambda inner: st.lists(inner) | st.dictionaries(st.text(),
            inner), max_leaves=8,
        )),
        max_size=8,
    )
)  # fmt: skip
def test_any_value_round_trips(store: Store, make: Any, values: list[Any]) -> None:
    space = store.within(f"s{len(values)}-{abs(hash(json.dumps(values)))}")
    events = [
        make.event(i, data=json.dumps(value).encode(), event_id=event_id("claude", "s1", i))
        for i, value in enumerate(values)
    ]
    space.append(CaptureBatch(events=events, checkpoints=[], facts=[]), now=make.now)
    row = space.by_session("claude", "s1")
    read = [] if row is None else [node.body for node in space.nodes(row.context_id)]
    assert read == [event.record.body for event in events]


@pytest.mark.parametrize("size", [300_000, 20_000_000])
def test_large_strings_go_as_parts(space: SpaceStore, make: Any, size: int) -> None:
    text = ("0123456789 abc\n\U0001f600" * (size // 17))[:size] + "end"
    value = {
        "n": 12345678901234567890123,
        "list": [1, {"deep": text}],
        "z": "\ud800",
        "other": text,
    }
    make.append(space, make.event(0, data=json.dumps(value).encode()), make.event(1))
    node, after = space.nodes(space.find("s1").context_id)
    assert json.loads(node.body) == value
    assert list(json.loads(node.body)) == list(value)
    assert after.body == b'{"type":"user","n":1}'


def test_names_with_lone_surrogates_and_nul(space: SpaceStore, make: Any) -> None:
    make.append(
        space,
        make.event(0, session="a\ud800\0", event_type="t\udfff", call_id="c\ud800"),
        checkpoints=[make.checkpoint(1, path="/p\ud800")],
        facts=[make.facts(session="a\ud800\0", parent_session="\ud801")],
    )
    row = space.by_session("claude", "a\ud800\0")
    assert row is not None
    assert row.facts.parent_session == "\ud801"
    (node,) = space.nodes(row.context_id)
    assert node.kind == "user"
