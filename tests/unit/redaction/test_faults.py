"""Odd input: what agents write now and then, and what nobody should."""

from __future__ import annotations

import json
import time

import pytest
from redaction_corpus import raw

from ultracontext.redaction import Redactor

TOKEN = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"

ODD = {
    "half an emoji": b'{"t":"cut \\ud83d","s":"%b"}',
    "NaN": b'{"t":NaN,"s":"%b"}',
    "infinity": b'{"t":-Infinity,"s":"%b"}',
    "2**70": b'{"t":1180591620717411303424,"s":"%b"}',
    "NUL escape": b'{"t":"a\\u0000b","s":"%b"}',
    "BOM": b'\xef\xbb\xbf{"s":"%b"}',
    "carriage return": b'{"s":"%b"}\r',
    "separators": b'{"t":"\xe2\x80\xa8\xc2\x85\x0c","s":"%b"}',
    "invalid UTF-8": b'{"t":"\xff\xfe","s":"%b"}',
    "NUL block": b"\0" * 512 + b"%b",
    "fused": b'{"type":"pr-link","prNu{"type":"user","s":"%b"}',
    "deep": b'{"a":' * 10_000 + b'"%b"' + b"}" * 10_000,
    "deep list": b'{"a":' + b"[" * 2_000 + b'"%b"' + b"]" * 2_000 + b"}",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_records_are_masked(redactor: Redactor, name: str) -> None:
    data = ODD[name].replace(b"%b", TOKEN.encode())
    record = redactor.redact(raw(data=data))
    assert TOKEN.encode() not in record.body
    assert TOKEN not in (record.text or "")
    assert TOKEN not in json.dumps(record.native)
    assert record.masks


@pytest.mark.parametrize("name", ODD)
def test_odd_records_without_a_secret_keep_their_bytes(redactor: Redactor, name: str) -> None:
    data = ODD[name].replace(b"%b", b"x")
    record = redactor.redact(raw(data=data))
    if record.native is not None:
        assert record.body == data.removeprefix(b"\xef\xbb\xbf")
    assert record.masks == {}


def test_what_has_no_number_in_json_stays_what_it_is(redactor: Redactor) -> None:
    data = b'{"a":[NaN,Infinity,-Infinity,null],"s":"%b"}' % TOKEN.encode()
    body = redactor.redact(raw(data=data)).body
    assert body.startswith(b'{"a":[NaN,Infinity,-Infinity,null],"s":"[redacted:')


def test_an_empty_object_is_a_record(redactor: Redactor) -> None:
    record = redactor.redact(raw(data=b"{}"))
    assert record.native == {}
    assert record.body == b"{}"


def test_a_pretty_printed_document_is_one_record(redactor: Redactor) -> None:
    data = json.dumps({"id": "msg_cb99a444f001Ftd3k", "s": TOKEN}, indent=2).encode()
    record = redactor.redact(raw(data=data))
    assert record.native["id"] == "msg_cb99a444f001Ftd3k"
    assert TOKEN.encode() not in record.body


RUNAWAY = {
    "one letter": "a" * 10,
    "prefixes": "eyJ-",
    "key ids": "AKIA",
    "quotes": 'password="',
    "urls": "http://a:b",
    "headers": "-----BEGIN PRIVATE KEY-----\n",
    "backslashes": "\\",
    "percent": "%41",
    "code": "def f(x): return x  # lorem ipsum\n",
}


@pytest.mark.parametrize("name", RUNAWAY)
def test_work_grows_with_the_text(hyperscan_redactor: Redactor, name: str) -> None:
    piece = RUNAWAY[name]

    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        begun = time.process_time()
        hyperscan_redactor.redact(raw({"t": text}))
        return time.process_time() - begun

    seconds(10_000)
    small = max(seconds(100_000), 0.004)
    assert seconds(800_000) < small * 24


def test_a_string_of_50_mb_is_masked_in_seconds(hyperscan_redactor: Redactor) -> None:
    text = RUNAWAY["code"] * (50_000_000 // len(RUNAWAY["code"])) + TOKEN
    begun = time.process_time()
    record = hyperscan_redactor.redact(raw({"t": text}))
    assert time.process_time() - begun < 10
    assert record.masks == {"github-token": 1}
    assert TOKEN.encode() not in record.parts[0].data
