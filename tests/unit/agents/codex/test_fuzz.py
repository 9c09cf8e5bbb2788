"""Odd records never raise and never break the law of counting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from rollouts import Masking, OpenHome, Say

from ultracontext.agents.codex import SPEC
from ultracontext.agents.codex.assign import assigner
from ultracontext.agents.codex.reader import Reader
from ultracontext.formats import Engine, SourceFacts
from ultracontext.model import Message, MessageId

FIXTURES = Path(__file__).parents[3] / "fixtures" / "codex"
POOL = [
    json.loads(line)
    for path in sorted(FIXTURES.rglob("*.jsonl"))
    for line in path.read_bytes().split(b"\n")
    if line
]
POOL += [
    {
        "type": "event_msg",
        "payload": {"type": kind, "call_id": "c", "num_turns": 2, "item": {"type": item}},
    }
    for kind in (
        "exec_command_end",
        "mcp_tool_call_end",
        "patch_apply_end",
        "web_search_end",
        "error",
        "thread_rolled_back",
        "turn_aborted",
        "image_generation_end",
        "item_completed",
    )
    for item in ("McpToolCall", "WebSearch", "Plan", "HookPrompt", "DynamicToolCall")
]
JUNK = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=8),
        st.sampled_from(
            ["user", "assistant", "message", "call_1", "", "<image>", "\ud83d", "call_ls1"]
        ),
    ),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def spoiled(draw: st.DrawFn) -> Any:
    """A recorded record with up to three values replaced, removed or moved."""
    record = json.loads(json.dumps(draw(st.sampled_from(POOL))))
    for _ in range(draw(st.integers(0, 3))):
        node: Any = record
        while isinstance(node, (dict, list)) and node:
            key = draw(st.sampled_from(list(node) if isinstance(node, dict) else range(len(node))))
            inner = node[key]
            if isinstance(inner, (dict, list)) and inner and draw(st.integers(0, 3)):
                node = inner
                continue
            if isinstance(node, dict) and draw(st.booleans()):
                del node[key]
            else:
                node[key] = draw(JUNK)
            break
    return record


@settings(max_examples=250, deadline=None)
@given(records=st.lists(st.one_of(spoiled(), JUNK), max_size=12))
def test_spoiled_records_never_raise(masked: Masking, records: list[object]) -> None:
    reader = SPEC.reader("01a22cd6-9a61-7840-8dd0-9a521e43952e")
    source = SourceFacts(engine=Engine.APPEND_LOG, session_hint="x")
    assigners = [
        assigner(source, None),
        assigner(SourceFacts(engine=source.engine, role="names"), None),
    ]
    fed: list[Message] = []
    for number, value in enumerate(records):
        record = masked(json.dumps(value).encode())
        for each in assigners:
            each.assign(record)
            json.dumps(each.state())
        messages = reader.feed(record, MessageId(f"msg_{number}"))
        assert all(isinstance(message.text, str) for message in messages)
        fed += messages
        shown = [message for message in reader.settle(fed) if message.kind != "meta"]
        assert reader.facts().messages == len(shown)
    assert len({message.id for message in fed}) == len(fed)


@settings(max_examples=60, deadline=None)
@given(
    cut=st.integers(0, 400),
    name=st.sampled_from(sorted(p.name for p in FIXTURES.iterdir() if p.is_dir())),
)
def test_a_session_read_from_the_middle_never_raises(home: OpenHome, name: str, cut: int) -> None:
    opened = home(name)
    for session in opened.names():
        reader, named = SPEC.reader(session), opened.sessions[session]
        fed = [m for own, record in named[cut % len(named) :] for m in reader.feed(record, own)]
        shown = [message for message in reader.settle(fed) if message.kind != "meta"]
        assert reader.facts().messages == len(shown)


def test_work_per_record_does_not_grow_with_the_session(masked: Masking, say: Say) -> None:
    """Nothing is kept of turns that are whole."""
    reader = SPEC.reader(say.SESSION)
    turn = [masked(line) for line in say.turn("go on", "Done.")]
    for number in range(2000):
        for step, record in enumerate(turn):
            reader.feed(record, MessageId(f"m{number}.{step}"))
    assert isinstance(reader, Reader)
    twins = reader._state.twins
    assert not twins._by_text
    assert reader.facts().messages == 4000
