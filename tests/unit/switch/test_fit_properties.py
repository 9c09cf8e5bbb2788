"""What holds of every conversation, whatever a session looks like."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recordings import minted
from switch_lab import result, spoken, use

from ultracontext.agents import agent
from ultracontext.formats import Entry, Limits
from ultracontext.model import MessageId
from ultracontext.switch.fit import Place, Wish, fit
from ultracontext.switch.session import MaskedSession

TEXTS = st.text(alphabet=st.sampled_from("ab \n\0\ud800é<[/"), max_size=12)
IDS = st.sampled_from(["a", "b", "call 1", "", "ü", "toolu_01"])
INPUTS = st.sampled_from([{}, {"a": [1, None]}, "raw", ["x"], None, {"\ud800": "\0"}])
BLOCKS = st.one_of(
    st.builds(lambda text: ("assistant", text), TEXTS),
    st.builds(lambda text: ("user", text), TEXTS),
    st.builds(
        lambda name, given, ids: ("assistant", [use(name, given, one) for one in ids]),
        st.sampled_from(["Bash", "a b", "mcp__x__y", "ö", ""]), INPUTS,
        st.lists(IDS, min_size=1, max_size=3),
    ),
    st.builds(
        lambda ids, text: ("user", [result(one, text) for one in ids]),
        st.lists(IDS, min_size=1, max_size=3), TEXTS,
    ),
    st.builds(
        lambda text: ("assistant", [{"type": "thinking", "thinking": text, "signature": "s"}]),
        TEXTS,
    ),
)  # fmt: skip
SESSIONS = st.lists(BLOCKS, max_size=14)
LIMITS = st.builds(
    Limits,
    rising=st.booleans(),
    output_chars=st.sampled_from([None, 200]),
    tool_names=st.sampled_from([None, {"Bash": "exec"}]),
    call_id=st.sampled_from([r"[A-Za-z0-9_-]+", r"[A-Za-z0-9]+"]),
)
WISHES = st.builds(
    Wish,
    full=st.booleans(),
    last=st.sampled_from([None, 1, 2]),
    budget=st.sampled_from([None, 5]),
    fidelity=st.sampled_from(["faithful", "text"]),
    pending=st.booleans(),
)


def session(said: list[tuple[str, Any]]) -> MaskedSession:
    records = [
        (minted(record, agent="claude"), MessageId(f"msg_{number:024x}"))
        for number, record in enumerate(spoken(*said))
    ]
    return MaskedSession.of(agent("claude"), "s", records)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(said=SESSIONS, limits=LIMITS, wish=WISHES)
def test_a_writer_gets_what_it_was_promised(
    said: list[tuple[str, Any]], limits: Limits, wish: Wish
) -> None:
    made = fit(session(said), limits, wish, Place(cwd="/w"), same_agent=False)
    talk = made.conversation
    assert talk.turns
    for turn in talk.turns:
        assert turn.entries[0].kind == "user"
    found = list(talk.entries())
    calls = [e.call_id for e in found if e.kind == "tool_call"]
    assert len(set(calls)) == len(calls)
    assert calls == [e.call_id for e in found if e.kind == "tool_result"]
    for entry in found:
        check(entry, limits)
    paired(found)
    times = [e.timestamp for e in found]
    assert times == sorted(times)
    assert not limits.rising or len(set(times)) == len(times)
    assert all(loss.count > 0 for loss in made.losses)
    assert talk.pending is None or wish.pending


def check(entry: Entry, limits: Limits) -> None:
    texts = [entry.text, entry.name, *map(str, entry.input)]
    for text in texts:
        assert "\0" not in text
        text.encode("utf-8")
    if entry.kind in ("user", "assistant"):
        assert entry.text.strip() or entry.images
    if entry.kind == "tool_call":
        assert re.fullmatch(limits.call_id, entry.call_id)
        assert re.fullmatch(limits.tool_name, entry.name)
        assert limits.tool_names is None or entry.name in limits.tool_names.values()
    if entry.kind == "tool_result" and limits.output_chars is not None:
        assert len(entry.text) <= limits.output_chars


def paired(found: list[Entry]) -> None:
    """All calls of a batch, then their results in the same order, nothing between them."""
    waiting: list[str] = []
    answering = False
    for entry in found:
        if entry.kind == "tool_call":
            assert not answering or not waiting
            answering = False
            waiting.append(entry.call_id)
        elif entry.kind == "tool_result":
            answering = True
            assert waiting.pop(0) == entry.call_id
        else:
            assert not waiting
    assert not waiting
