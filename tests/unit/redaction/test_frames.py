"""Framed secrets over records that arrive apart: each is masked alone, after what was open."""

from __future__ import annotations

import base64
import json
import random
from typing import Any

import pytest
from redaction_corpus import raw

from ultracontext.model import RawRecord
from ultracontext.redaction import Frame, MaskedRecord, Redactor
from ultracontext.redaction.confirm import MASK
from ultracontext.redaction.frames import MOST_LINES


def blob(size: int, seed: int = 1) -> str:
    return base64.b64encode(random.Random(seed).randbytes(size)).decode()


def wrapped(text: str, width: int = 64) -> str:
    return "\n".join(text[i : i + width] for i in range(0, len(text), width))


def pem(kind: str, size: int = 600, head: str = "") -> str:
    return f"-----BEGIN {kind}-----\n{head}{wrapped(blob(size))}\n-----END {kind}-----"


KEY = "PRIVATE " + "KEY"
ENCRYPTED = "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,0BADC0FFEE0BADC0FFEE0BADC0FFEE00\n\n"
KEYS = {
    "pkcs8": pem(KEY),
    "rsa": pem("RSA " + KEY),
    "encrypted": pem("RSA " + KEY, 400, ENCRYPTED),
    "openssh": pem("OPENSSH " + KEY).replace("BEGIN OPENSSH PRIVATE KEY-----\n", "BEGIN OPENSSH "
               "PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA"),
    "pgp": pem("PGP " + KEY + " BLOCK", 700, "Version: GnuPG v2\n\n").replace(
        "\n-----END", "\n=aB3d\n-----END"
    ),
    "putty": (
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: aes256-cbc\nComment: not real\n"
        f"Public-Lines: 2\n{wrapped(blob(84, 3))}\nKey-Derivation: Argon2id\nArgon2-Memory: 8192\n"
        f"Argon2-Salt: 0badc0ffee0badc0ffee\nPrivate-Lines: 4\n{wrapped(blob(180, 4))}\n"
        f"Private-MAC: {'0bad1dea' * 8}"
    ),
}  # fmt: skip


def said(text: str, start: int = 0) -> RawRecord:
    one = raw({"type": "response_item", "payload": {"type": "output", "output": text}})
    return RawRecord(
        agent="x", source="/s.jsonl", start=start, end=start + len(one.data), data=one.data
    )


def apart(redactor: Redactor, texts: list[str]) -> list[MaskedRecord]:
    """Each record in a batch of its own; what is open goes through JSON, as in a checkpoint."""
    out: list[MaskedRecord] = []
    frame: Frame | None = None
    for number, text in enumerate(texts):
        out += redactor.sequence([said(text, number * 100)], frame)
        frame = out[-1].frame
        if frame is not None:
            frame = Frame.of(json.loads(json.dumps(frame.state())))
    return out


def text_of(record: MaskedRecord) -> str:
    return str(record.native["payload"]["output"])


def body_of(key: str) -> list[str]:
    lines = [line for line in key.split("\n") if len(line) > 20 and ":" not in line]
    return [line for line in lines if "-----" not in line]


def leaks(texts: list[str], key: str) -> list[str]:
    """Pieces of 12 letters of the key's lines that stand in one of the texts."""
    return [
        line[i : i + 12]
        for line in body_of(key)
        for i in range(0, len(line) - 12, 4)
        if any(line[i : i + 12] in text for text in texts)
    ]


@pytest.mark.parametrize("name", KEYS)
def test_a_cut_at_every_place(hyperscan_redactor: Redactor, name: str) -> None:
    key = KEYS[name]
    whole = f"here it is:\n{key}\nthat was it"
    start, wrong = whole.index(key), []
    for cut in range(start + 1, start + len(key)):
        first, second = apart(hyperscan_redactor, [whole[:cut], whole[cut:]])
        found = leaks([text_of(first), text_of(second)], key)
        if found or not text_of(second).endswith("\nthat was it") or second.frame is not None:
            wrong.append((cut - start, found[:1], text_of(second)[-20:]))
        assert text_of(first).startswith("here it is:\n")
    assert wrong == []


@pytest.mark.parametrize("name", KEYS)
@pytest.mark.parametrize("size", [1, 7, 64, 65, 150])
def test_a_stream_of_pieces(redactor: Redactor, name: str, size: int) -> None:
    key = KEYS[name]
    pieces = ["so: ", *(key[i : i + size] for i in range(0, len(key), size)), "\nWell then."]
    out = apart(redactor, pieces)
    texts = [text_of(record) for record in out]
    assert leaks(["".join(texts)], key) == []
    assert texts[0] == "so: "
    assert texts[-1] == "\nWell then."
    assert out[-1].frame is None
    masks = {mask for text in texts[8:-8] for mask in MASK.findall(text.encode())}
    assert len(masks) <= 1


@pytest.mark.parametrize("form", ["numbered", "escaped", "twice", "quoted", "arrow", "diff"])
def test_other_forms_of_lines(redactor: Redactor, form: str) -> None:
    lines = KEYS["rsa"].split("\n")
    shown = {
        "numbered": lambda: "\n".join(f"{i:6}\t{line}" for i, line in enumerate(lines, 1)),
        "arrow": lambda: "\n".join(f"{i:5}→{line}" for i, line in enumerate(lines, 1)),
        "escaped": lambda: "\\n".join(lines),
        "twice": lambda: "\\\\n".join(lines),
        "quoted": lambda: "\n".join(f"> {line}" for line in lines),
        "diff": lambda: "\n".join(f"+{line}" for line in lines),
    }[form]()
    for cut in range(60, len(shown) - 20, 37):
        out = apart(redactor, [shown[:cut], shown[cut:] + "\nend."])
        assert leaks([text_of(record) for record in out], KEYS["rsa"]) == [], cut
        assert text_of(out[1]).endswith("\nend."), cut


def test_every_piece_has_the_mask_of_the_first(redactor: Redactor) -> None:
    key = KEYS["pkcs8"]
    out = apart(redactor, [key[:300], key[300:500], key[500:]])
    assert len({text_of(record) for record in out}) == 1
    assert MASK.fullmatch(text_of(out[0]).encode())
    assert [record.masks.get("framed") for record in out] == [1, 1, 1]


def test_one_batch_gives_the_mask_of_the_whole_secret(redactor: Redactor) -> None:
    key = KEYS["pkcs8"]
    raws = [said(key[:300]), said(key[300:500], 9), said(key[500:], 10)]
    out = redactor.sequence(raws, None)
    assert {text_of(record) for record in out} == {redactor.text(key)}
    assert [r.digest for r in out] == [redactor.redact(one).digest for one in raws]


def test_records_that_say_nothing_leave_it_open(redactor: Redactor) -> None:
    key = KEYS["pkcs8"]
    first = redactor.redact(said(key[:300], 700))
    assert first.frame is not None
    assert first.frame.since == 700
    quiet = raw({"type": "token_count", "id": "3f9c2ab75e8d10467b2c9fa3d81e04b6a5c7d290", "n": 1})
    second = redactor.redact(quiet, first.frame)
    assert second.body == quiet.data
    assert second.frame == first.frame
    assert leaks([text_of(redactor.redact(said(key[300:]), second.frame))], key) == []


@pytest.mark.parametrize(
    "text",
    [
        "Done",
        "The key is cut here.",
        "OK\nlet us go on",
        "3f9c2ab75e8d10467b2c9fa3d81e04b6a5c7d290",
        '{"ok": true}',
        "README.md\nsrc",
        "internationalization\nof everything",
    ],
)
def test_the_first_other_text_closes_it_and_stays(redactor: Redactor, text: str) -> None:
    """Also when another voice says it."""
    first = redactor.redact(said(KEYS["pkcs8"][:300]))
    other = raw({"message": {"role": "assistant", "content": [{"type": "text", "text": text}]}})
    second = redactor.redact(other, first.frame)
    assert second.body == other.data
    assert second.frame is None
    line = raw({"payload": {"output": KEYS["pkcs8"][300:365]}})
    assert redactor.redact(line, second.frame).body == line.data


def test_two_hundred_lines_close_it(redactor: Redactor) -> None:
    lines = wrapped(blob(64 * 230)).split("\n")
    texts = [f"-----BEGIN {KEY}-----", *("\n" + line for line in lines)]
    out = apart(redactor, texts)
    assert out[MOST_LINES - 5].frame is not None
    assert leaks([text_of(out[MOST_LINES - 5])], "\n".join(lines)) == []
    assert out[MOST_LINES + 5].frame is None
    assert text_of(out[-1]) == "\n" + lines[-1]


def test_the_same_text_twice_in_a_record_goes_twice(redactor: Redactor) -> None:
    key = KEYS["rsa"]

    def result(text: str) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": "t1", "content": text}
        return {"message": {"role": "user", "content": [block]},
                "toolUseResult": {"stdout": text.strip(), "stderr": ""}}  # fmt: skip

    frame = None
    for piece in (key[:200] + "\n", key[200:330] + "\n", key[330:]):
        record = redactor.redact(raw(result(piece)), frame)
        assert leaks([record.body.decode()], key) == []
        frame = record.frame
    assert frame is None


def test_a_line_that_does_not_parse_is_masked_too(redactor: Redactor) -> None:
    key = KEYS["rsa"]
    first = redactor.redact(said(key[:300]))
    broken = raw(data=key[300:].encode())
    record = redactor.redact(broken, first.frame)
    assert record.text is not None
    assert leaks([record.text], key) == []
    assert record.frame is None


def test_the_state_is_small_and_holds_nothing_of_the_secret(redactor: Redactor) -> None:
    for key in KEYS.values():
        for cut in range(3, len(key) - 3, 11):
            frame = redactor.redact(said(key[:cut])).frame
            state = json.dumps(frame.state() if frame is not None else {})
            assert len(state) < 400
            assert leaks([state], key) == []


@pytest.mark.parametrize("state", [None, {}, "x", 7, {"kind": 3}, ["a"]])
def test_a_state_that_is_none_is_none(state: object) -> None:
    assert Frame.of(state) is None


@pytest.mark.parametrize(
    "text",
    [
        f"A file starts with -----BEGIN {KEY}----- and ends with -----END {KEY}-----.",
        f"-----BEGIN {KEY}-----\nyour key here",
        f"it looks for `-----BEGIN RSA {KEY}-----`",
        "a table\n-----|-----\nx | y",
        "-----",
        "see PuTTY",
        "a dash -",
    ],
)
def test_texts_about_keys_stay(redactor: Redactor, text: str) -> None:
    one = said(text)
    record = redactor.redact(one)
    assert record.body == one.data
    after = said("Understood, thanks")
    assert redactor.redact(after, record.frame).body == after.data


def test_a_public_key_and_a_certificate_open_nothing(redactor: Redactor) -> None:
    for kind in ("PUBLIC KEY", "CERTIFICATE", "PGP MESSAGE"):
        record = redactor.redact(said(pem(kind)[:400]))
        assert record.frame is None
        assert record.masks == {}
