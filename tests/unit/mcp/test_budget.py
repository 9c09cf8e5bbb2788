"""Answers stay within their budget and lose nothing on the way."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from ultracontext.mcp.budget import SPARE_BYTES, clean, dumps, fit, fit_tail, line, whole

ROOM = 1500
TEXTS = st.text(st.characters(codec=None), max_size=4000)
ITEMS = st.lists(st.builds(lambda text: {"index": 0, "text": text}, TEXTS), max_size=8)


def size(items: list[dict[str, object]]) -> int:
    return len(dumps(items).encode())


@settings(deadline=None, max_examples=60)
@given(ITEMS)
def test_following_the_cursor_gives_every_character_once(items: list[dict[str, object]]) -> None:
    texts = [""] * len(items)
    at, offset = 0, 0
    for _ in range(200):
        if at >= len(items):
            break
        window = fit(items, ROOM, start=at, offset=offset)
        assert size(window.items) <= ROOM + SPARE_BYTES
        assert (window.after, window.offset) > (at, offset)
        for number, item in enumerate(window.items):
            texts[at + number] += str(item["text"])
        at, offset = window.after, window.offset
    assert texts == [item["text"] for item in items]


@settings(deadline=None, max_examples=60)
@given(ITEMS)
def test_the_tail_is_the_newest_that_fits(items: list[dict[str, object]]) -> None:
    window = fit_tail(items, ROOM, end=len(items))
    assert size(window.items) <= ROOM + SPARE_BYTES
    assert window.first == len(items) - len(window.items)
    assert bool(window.items) == bool(items)


def test_a_cut_splits_no_character() -> None:
    family = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
    for cut in range(1, len(family)):
        assert whole(family, cut) == 0
    assert whole("e\u0301x", 1) == 0
    assert whole("ab", 1) == 1
    text = (family + "e\u0301") * 500
    (piece,) = fit([{"text": text}], ROOM).items
    assert piece["text"]
    assert piece["text"].endswith((family, "e\u0301"))


def test_what_no_transport_takes_is_replaced() -> None:
    made = clean({"a\ud800": ["\0", "x\ny"]})
    assert json.loads(dumps(made)) == {"a\ufffd": ["\ufffd", "x\ny"]}
    assert line("a\n b  " + "c" * 300, 10) == "a b ccccc…"
