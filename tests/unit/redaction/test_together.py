"""One scan over many records gives what each gives by itself."""

from __future__ import annotations

import base64
import random
from collections.abc import Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redaction_corpus import raw, secrets

from ultracontext.model import RawRecord
from ultracontext.redaction import MaskedRecord, Redactor, load_redactor
from ultracontext.redaction.together import GROUP_BYTES, plain_ones
from ultracontext.redaction.walk import OUR_NAMES
from ultracontext.settings.custom import CustomRule, CustomRules

TOKEN = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"
FIELDS = tuple(name for name in MaskedRecord.__slots__ if name not in ("_seal", "content"))


def line(data: bytes) -> RawRecord:
    return RawRecord(agent="a", source="/s", start=0, end=len(data) + 1, data=data)


ODD = [
    line(data)
    for data in (
        b'{"a":"plain"}', b'\xef\xbb\xbf{"a":"begins with a mark"}', b'{"a":1e400,"b":"x"}',
        b'{"a":"first value","a":"second value"}', b'{"a":12345678901234567890123}', b"not json",
        b'["a list"]', b'{"a":"\\ud800 alone"}', b'{"a":"\xff\xfe"}', b'{"a" : "spaced out"}',
        b'{"n":null,"t":true,"deep":{"er":[{"and":["so on and on"]}]}}', b'{"a":NaN}', b"{}",
        b'{"password":"hunter2hunter2"}', b'{"a":"' + b"\\\\" * 9 + b'"}',
        b'{"a":"\\n\\u0000\\n is what parts the texts \\\\n\\\\u0000\\\\n"}',
    )
]  # fmt: skip
"""What is not read by the fast parser, or by nobody."""


def dressed(text: str) -> list[RawRecord]:
    """A text in the forms in which it may hide."""
    escaped = "".join(f"\\u{ord(c):04x}" if ord(c) < 65536 else c for c in text)
    coloured = f"\x1b[31m{text[:4]}\x1b[0m{text[4:]}"
    packed = base64.b64encode(text.encode()).decode()
    quoted = "".join(f"%{byte:02X}" for byte in text.encode())
    return [raw({"text": form}) for form in (text, escaped, coloured, packed, quoted)]


def same(redactor: Redactor, raws: Sequence[RawRecord]) -> list[MaskedRecord]:
    """The records by one scan, after they were compared with those by one scan each."""
    alone = [redactor.redact(one) for one in raws]
    together = redactor._each(raws)
    for one, other in zip(alone, together, strict=True):
        for name in FIELDS:
            if name == "frame":  # `sequence` tells it, of all of them
                continue
            assert repr(getattr(one, name)) == repr(getattr(other, name)), name
    return together


def test_every_secret_among_plain_records(redactor: Redactor) -> None:
    count = 0
    texts = [text for _, text, _ in secrets()]
    for start in range(0, len(texts), 40):
        raws = [ODD[0]]
        for text in texts[start : start + 40]:
            raws += [raw({"text": text}), raw({"words": "nothing to see here", "n": len(raws)})]
        count += sum(bool(record.masks) for record in same(redactor, raws))
    assert count > 300


def test_no_find_eats_into_the_next_record(redactor: Redactor) -> None:
    """A pattern over many lines that begins in one text ends in it."""
    samples = {name: text for name, text, _ in secrets()}
    pem, netrc = samples["rule:private-key"], samples["rule:netrc"]
    for end in ("the machine learns", "machine x", '{"kty":"RSA"', pem[:90], pem[:30], netrc):
        for begin in (pem, TOKEN, netrc, samples["rule:jwk"]):
            masked = same(redactor, [raw({"text": end}), raw({"text": begin}), raw({"t": end})])
            assert masked[1].masks


def test_every_form_of_a_secret(redactor: Redactor) -> None:
    masked = same(redactor, [*dressed(TOKEN), *dressed("an ordinary sentence"), *ODD])
    assert [bool(record.masks) for record in masked[:10]] == [True] * 5 + [False] * 5


def test_odd_records_are_as_alone(redactor: Redactor) -> None:
    same(redactor, ODD)
    same(redactor, list(reversed(ODD)))


def test_a_large_group_is_parted(redactor: Redactor) -> None:
    rng = random.Random(3)
    words = [raw({"text": "x" * rng.choice((10, 50_000, 300_000))}) for _ in range(30)]
    words[17] = raw({"text": "y" * 200_000 + " " + TOKEN})
    assert sum(len(one.data) for one in words) > 2 * GROUP_BYTES
    masked = same(redactor, words)
    assert [i for i, record in enumerate(masked) if record.masks] == [17]
    assert any(record.parts for record in masked)


def test_the_digest_of_an_untouched_body_is_at_hand(redactor: Redactor) -> None:
    from ultracontext.chain import content_digest

    masked = redactor.sequence([*ODD, raw({"text": TOKEN}), raw({"text": "words"})], None)
    known = [record for record in masked if record.content is not None]
    assert len(known) > 3
    assert all(record.content == content_digest(record.body, None) for record in known)
    assert masked[-2].content is None


def test_a_plain_record_is_not_looked_at_twice(hyperscan_redactor: Redactor) -> None:
    raws = [raw({"text": "words"}), raw({"text": TOKEN}), raw({"password": "hunter2hunter2"})]
    found = plain_ones(raws, hyperscan_redactor.scanner, {}, OUR_NAMES)
    assert [one is not None for one in found] == [True, False, False]


def test_a_persons_own_rules_count(cache_dir: object) -> None:
    rules = CustomRules(rules=(CustomRule(name="ticket", pattern="TICKET-[0-9]{6}"),))
    redactor = load_redactor(b"k" * 32, engine="aho", custom=rules)
    masked = same(redactor, [raw({"text": "words"}), raw({"text": "see TICKET-123456"})])
    assert masked[1].masks == {"ticket": 1}


PIECES = st.sampled_from(
    ["words ", "\n", "\\n", "\\", "%", "%20", "\x1b[1m", "\0", "\n\0\n", "é", TOKEN[:20],
     TOKEN[20:], TOKEN, "token = ", '"', "key: ", "path ", "-----BEGIN",
     "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ="]
)  # fmt: skip


def test_a_secret_that_is_cut_over_the_pieces_of_a_record(redactor: Redactor) -> None:
    def blocks(*texts: str) -> RawRecord:
        return raw({"content": [{"type": "text", "text": text} for text in texts]})

    raws = [
        blocks("one", "two"),
        blocks(TOKEN[:20], TOKEN[20:]),
        blocks("a", TOKEN),
        raw({"l": [1]}),
    ]
    masked = same(redactor, raws)
    assert [bool(record.masks) for record in masked] == [False, True, True, False]


@given(st.lists(st.lists(PIECES, max_size=6).map("".join), min_size=2, max_size=8))
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_texts(hyperscan_redactor: Redactor, texts: list[str]) -> None:
    same(hyperscan_redactor, [raw({"text": text, "n": i}) for i, text in enumerate(texts)])


@pytest.mark.parametrize("count", [0, 1])
def test_few_records(redactor: Redactor, count: int) -> None:
    assert len(same(redactor, ODD[:count])) == count
