"""A secret that is cut over records which arrive together."""

from __future__ import annotations

from typing import Any

import pytest
from redaction_corpus import raw, secrets

from ultracontext.model import RawRecord
from ultracontext.redaction import MaskedRecord, Redactor
from ultracontext.redaction.confirm import MASK

TOKEN = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"
PEM = next(text for name, text, _ in secrets() if name == "rule:private-key")


def answer(text: str, role: str = "assistant") -> RawRecord:
    return raw({"message": {"role": role, "content": [{"type": "text", "text": text}]}})


def delta(text: str) -> RawRecord:
    return raw({"type": "event", "payload": {"type": "agent_delta", "delta": text}})


def across(redactor: Redactor, raws: list[RawRecord]) -> list[MaskedRecord]:
    return redactor.sequence(raws, None)


def said(record: MaskedRecord) -> str:
    native: dict[str, Any] = record.native
    if "payload" in native:
        return str(native["payload"]["delta"])
    return str(native["message"]["content"][0]["text"])


def test_both_records_are_masked_and_keep_their_digest(redactor: Redactor) -> None:
    raws = [answer("first."), answer(f"it is {TOKEN[:20]}"), answer(f"{TOKEN[20:]} so")]
    out = across(redactor, raws)
    assert said(out[0]) == "first."
    assert said(out[1]).startswith("it is [redacted:github-token:")
    assert said(out[2]).endswith("] so")
    assert TOKEN[20:].encode() not in out[2].body
    assert [r.digest for r in out] == [redactor.redact(one).digest for one in raws]
    assert out[2].masks == {"cut-in-two": 1}
    assert (out[1].start, out[1].end, out[1].source) == (0, raws[1].end, raws[1].source)


def test_a_stream_of_small_deltas(redactor: Redactor) -> None:
    out = across(redactor, [delta(text) for text in ("it is ", *TOKEN, " so")])
    assert said(out[0]) == "it is "
    assert said(out[-1]) == " so"
    assert all(MASK.fullmatch(said(record).encode()) for record in out[1:-1])


def test_records_that_say_nothing_do_not_part_two(redactor: Redactor) -> None:
    raws = [answer(TOKEN[:20]), raw({"type": "progress", "n": 1}), answer(TOKEN[20:])]
    assert TOKEN[20:].encode() not in across(redactor, raws)[2].body


@pytest.mark.parametrize("cut", [40, 70, 150, 200])
def test_a_private_key_over_two_records(redactor: Redactor, cut: int) -> None:
    out = across(redactor, [answer(f"a\n{PEM[:cut]}"), answer(f"{PEM[cut:]}\nz")])
    lines = [line for line in PEM.split("\n") if "-----" not in line]
    both = said(out[0]) + said(out[1])
    assert not any(line[:16] in both or line[-16:] in both for line in lines)


def test_every_format_cut_in_the_middle(hyperscan_redactor: Redactor) -> None:
    missed = []
    for name, text, _ in secrets():
        whole = f"I use {text} here"
        span = max(hyperscan_redactor.scanner.find(whole), key=lambda s: s.end - s.start)
        place = (span.start + span.end) // 2
        out = across(hyperscan_redactor, [answer(whole[:place]), answer(whole[place:])])
        cut_at_a_space = whole[place - 1].isspace() or whole[place].isspace()
        if whole[place : span.end] in said(out[1]) and not cut_at_a_space:
            missed.append(name)
    assert missed == []


def test_other_voices_and_whole_words_are_not_joined(redactor: Redactor) -> None:
    for raws in (
        [answer(TOKEN[:20]), answer(TOKEN[20:], role="user")],
        [answer(TOKEN[:20] + " "), answer(TOKEN[20:])],
        [answer("One sentence."), answer("Another one")],
        [raw(data=b"[1]"), raw(data=b"{}"), raw(data=b" ")],
    ):
        masked = [redactor.redact(one) for one in raws]
        out = redactor.sequence(raws, None)
        assert [r.body for r in out] == [r.body for r in masked]


def test_masking_again_changes_nothing(redactor: Redactor) -> None:
    out = across(redactor, [answer(f"it is {TOKEN[:20]}"), answer(f"{TOKEN[20:]} so")])
    raws = [raw(data=record.body) for record in out]
    again = across(redactor, raws)
    assert [record.body for record in again] == [record.body for record in out]
