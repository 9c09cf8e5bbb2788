"""A secret that is cut over the blocks or lines of one record is masked in each piece."""

from __future__ import annotations

from typing import Any

import pytest
from redaction_corpus import raw, rows, secrets

from ultracontext.redaction import Redactor
from ultracontext.redaction.confirm import MASK

TOKEN = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"
PEM = next(text for name, text, _ in secrets() if name == "rule:private-key")


def blocks(*texts: str, key: str = "text") -> dict[str, Any]:
    content = [{"type": "text", key: text} for text in texts]
    return {"message": {"role": "assistant", "content": content}}


def texts_of(redactor: Redactor, value: dict[str, Any]) -> list[str]:
    native = redactor.redact(raw(value)).native
    return [next(v for k, v in b.items() if k != "type") for b in native["message"]["content"]]


@pytest.mark.parametrize("key", ["text", "thinking", "output"])
def test_both_pieces_go_with_one_mask(redactor: Redactor, key: str) -> None:
    one, two = texts_of(redactor, blocks(f"it is {TOKEN[:20]}", f"{TOKEN[20:]} é so", key=key))
    assert one.startswith("it is [redacted:github-token:")
    assert two.endswith("] é so")
    assert MASK.findall(one.encode()) == MASK.findall(two.encode())


def test_pieces_may_be_many_and_small(redactor: Redactor) -> None:
    value = blocks("é x ", *TOKEN, " y")
    out = texts_of(redactor, value)
    assert out[0] == "é x "
    assert out[-1] == " y"
    assert all(MASK.fullmatch(text.encode()) for text in out[1:-1])


def test_every_format_cut_in_the_middle(hyperscan_redactor: Redactor) -> None:
    """But letters after what is a secret without them: they may be the next word."""
    missed = []
    for name, text, _ in secrets():
        whole = f"I use {text} here"
        span = max(hyperscan_redactor.scanner.find(whole), key=lambda s: s.end - s.start)
        for place in ((span.start + span.end) // 2, span.end - 5):
            one, two = whole[:place], whole[place:]
            masked = hyperscan_redactor.redact(raw(blocks(one, two)))
            rest = whole[place : span.end]
            plain = rest.isalpha() and hyperscan_redactor.text(one) != one
            if not masked.masks or (not plain and rest in masked.body.decode()):
                missed.append((name, place, two))
    assert missed == []


def test_no_look_alike_cut_in_two_is_touched(hyperscan_redactor: Redactor) -> None:
    touched = []
    for row in rows("look-alikes.tsv"):
        text = row["text"].replace("\\n", "\n")
        for place in range(1, len(text), 7):
            before = raw(blocks(text[:place], text[place:]))
            if hyperscan_redactor.redact(before).body != before.data:
                alone = hyperscan_redactor.redact(raw({"text": text[:place], "x": text[place:]}))
                touched += [] if alone.masks else [(row["id"], place)]
    assert touched == []


def test_a_complete_secret_does_not_take_the_next_word_along(redactor: Redactor) -> None:
    key = (
        "sk-ant-api03-N0tReAl3ahovCJQX29gnuBIPW18fmtAHOV07elszGNU-6dkryFMT_5cjqxELSZ4bipwDKRY4bipw"
    )
    one, two = texts_of(redactor, blocks(f"it is {key}", "Then we go on"))
    assert MASK.fullmatch(one[6:].encode())
    assert two == "Then we go on"


def test_long_blocks_are_joined_at_their_ends(redactor: Redactor) -> None:
    fill = "lorem ipsum é\n" * 1000
    one, two = texts_of(redactor, blocks(fill + TOKEN[:9], TOKEN[9:] + "\n" + fill))
    assert TOKEN[9:] not in two
    assert one.startswith(fill)
    assert two.endswith(fill)


@pytest.mark.parametrize("cut", [40, 70, 150, 200])
def test_a_private_key_over_two_blocks(redactor: Redactor, cut: int) -> None:
    one, two = texts_of(redactor, blocks(f"a\n{PEM[:cut]}", f"{PEM[cut:]}\nz"))
    lines = [line for line in PEM.split("\n") if "-----" not in line]
    assert not any(line[:16] in one + two or line[-16:] in one + two for line in lines)
    assert one.startswith("a\n")
    assert two.endswith("\nz")


@pytest.mark.parametrize("sign", ["", "+", " "])
def test_a_private_key_in_a_list_of_lines(redactor: Redactor, sign: str) -> None:
    lines = [sign + line for line in ("a = 1", *PEM.split("\n"), "b = 2")]
    native = redactor.redact(raw({"structuredPatch": [{"lines": lines}]})).native
    out = native["structuredPatch"][0]["lines"]
    assert len(out) == len(lines)
    assert out[0] == lines[0]
    assert out[-1] == lines[-1]
    assert all("[redacted:private-key:" in line for line in out[1:-1])


def test_twice_changes_nothing(redactor: Redactor) -> None:
    value = blocks(f"it is {TOKEN[:20]}", f"{TOKEN[20:]} so", PEM[:70], PEM[70:])
    once = redactor.redact(raw(value))
    again = redactor.redact(raw(data=once.body))
    assert again.body == once.body
    assert again.masks == {}


def test_other_lists_stay(redactor: Redactor) -> None:
    before = raw({"argv": ["gh" + "p_N0tReAl3ahovCJQX", "4bipwDKRY5cjqxELSZ6d"], "n": [1, 2, [3]]})
    assert redactor.redact(before).body == before.data
