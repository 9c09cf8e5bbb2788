"""What a masked record holds."""

from __future__ import annotations

import json

import pytest
from redaction_corpus import raw

from ultracontext.redaction import Redactor, join_parts, load_json, without_fingerprints

TOKEN = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"


def test_a_clean_record_keeps_its_bytes(redactor: Redactor) -> None:
    data = b'{ "n": 1180591620717411303424, "x":1.50, "t":"\\u0041" }'
    record = redactor.redact(raw(data=data))
    assert record.body == data
    assert record.native == {"n": 2**70, "x": 1.5, "t": "A"}
    assert record.masks == {}
    assert record.text is None


def test_a_masked_record_keeps_types_order_and_large_numbers(redactor: Redactor) -> None:
    data = b'{"z":1180591620717411303424,"t":"%b","n":NaN,"b":true,"e":[]}' % TOKEN.encode()
    record = redactor.redact(raw(data=data))
    again = load_json(record.body)
    assert list(again) == ["z", "t", "n", "b", "e"]
    assert again["z"] == 2**70
    assert again["n"] != again["n"]
    assert TOKEN not in record.body.decode()


def test_a_secret_under_a_repeated_key_is_found(redactor: Redactor) -> None:
    data = b'{"a":"%b","a":"x"}' % TOKEN.encode()
    record = redactor.redact(raw(data=data))
    assert TOKEN.encode() not in record.body
    assert record.masks


@pytest.mark.parametrize("gap", [b" :", b"\t:", b":", b": "])
def test_a_repeated_key_is_found_in_any_spelling(redactor: Redactor, gap: bytes) -> None:
    data = b'{"q\\\\":1,"a"%b"%b","a":"x","l":["\\":"]}' % (gap, TOKEN.encode())
    assert TOKEN.encode() not in redactor.redact(raw(data=data)).body


def test_a_secret_as_key_is_masked_and_members_stay_apart(redactor: Redactor) -> None:
    record = redactor.redact(raw({TOKEN: 1, "x": {TOKEN + "\n": 2, TOKEN + "\t": 3, "y": 4}}))
    assert TOKEN not in record.body.decode()
    assert len(record.native) == 2
    assert sorted(record.native["x"].values()) == [2, 3, 4]


@pytest.mark.parametrize(
    "value",
    [
        {"password": "N0tReAl9x"},
        {"db": {"clientSecret": "N0tReAl9xAA11bb"}},
        {"env": [{"name": "API_TOKEN", "value": "N0tReAl9xAA11bb"}]},
    ],
)
def test_a_value_is_masked_for_its_key(redactor: Redactor, value: dict[str, object]) -> None:
    assert b"N0tReAl9x" not in redactor.redact(raw(value)).body


@pytest.mark.parametrize(
    "value",
    [
        {
            "usage": {"input_tokens": 5, "token_count": 18},
            "max_tokens": 4096,
            "tokenizer": "gpt-4o",
        },
        {"password": "********", "api_key": "${API_KEY}", "token": "<your-token>"},
        {"sessionKey": "agent:main:explicit:923a7369-94e3-4f91-9a61-dbe22e44158b"},
        {"nextPageToken": "CAUQAA12bc", "public_key": "N0tReAl9xAA11bb"},
        {"password": "required", "secret": "projects/p/secrets/s/versions/1"},
    ],
)
def test_other_members_stay(redactor: Redactor, value: dict[str, object]) -> None:
    before = raw(value)
    assert redactor.redact(before).body == before.data


def test_protocol_fields_never_change(redactor: Redactor) -> None:
    blob = ("EqQB" + "CgIYAhIMkQx93Tz3/AKIA" + "NOTREAL7GNU3DKRY/" + "xELSZ4bipwDKRY4b" * 40) + "=="
    value = {
        "message": {
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": blob},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": blob},
                },
            ]
        },
        "payload": {"type": "reasoning", "encrypted_content": blob.replace("/", "-")},
    }
    before = raw(value)
    assert redactor.redact(before).body == before.data


def test_a_field_called_signature_elsewhere_is_scanned(redactor: Redactor) -> None:
    assert TOKEN.encode() not in redactor.redact(raw({"input": {"signature": TOKEN}})).body


def test_large_strings_become_parts(redactor: Redactor) -> None:
    text = "lorem ipsum\n" * 30_000 + TOKEN
    record = redactor.redact(raw({"a": {"b": ["x", text]}, "c": 1}))
    assert len(record.body) < 2_000
    assert record.native["a"]["b"][1] == text[:1000]
    (part,) = record.parts
    assert part.path == ("a", "b", 1)
    assert TOKEN.encode() not in part.data
    again = json.loads(join_parts(record.body, record.parts))
    assert again["a"]["b"][1].startswith(text[:-60])


def test_what_is_no_object_is_masked_text(redactor: Redactor) -> None:
    for data in (b'["%b"]', b'{"cut": "%b', b"\xff\xfe %b", b"\0\0\0 %b", b'"%b"'):
        record = redactor.redact(raw(data=data % TOKEN.encode()))
        assert record.native is None
        assert record.body == b""
        assert record.text is not None
        assert TOKEN not in record.text
        record.text.encode()


def test_companions_and_path_are_masked(redactor: Redactor) -> None:
    record = redactor.redact(raw({"a": 1}, companions={"spill": b"x " + TOKEN.encode()}))
    assert TOKEN not in record.companions["spill"]
    again = redactor.with_companions(record, {"other": TOKEN.encode()})
    assert list(again.companions) == ["other"]
    assert TOKEN not in again.companions["other"]
    assert again.digest == record.digest, "companions are no part of a record's identity"


def test_the_digest_depends_on_every_byte_and_on_the_key(
    redactor: Redactor, aho_redactor: Redactor
) -> None:
    one, two = redactor.redact(raw({"a": 1})), redactor.redact(raw({"a": 2}))
    assert len(one.digest) == 16
    assert one.digest != two.digest
    assert one.digest == aho_redactor.redact(raw({"a": 1})).digest


def test_a_record_that_is_too_large_is_a_stub(redactor: Redactor) -> None:
    record = redactor.redact(raw(data=b"", too_large=(70_000_000, "ab" * 16)))
    assert record.native is None
    assert record.too_large == (70_000_000, "ab" * 16)
    assert record.text is not None
    assert "70000000" in record.text


def test_masks_are_the_same_on_every_machine_without_fingerprints(redactor: Redactor) -> None:
    record = redactor.redact(raw({"a": TOKEN}))
    assert without_fingerprints(record.body) == b'{"a":"[redacted:github-token]"}'


def test_a_bom_is_no_part_of_the_json(redactor: Redactor) -> None:
    record = redactor.redact(raw(data=b'\xef\xbb\xbf{"a":1}'))
    assert record.native == {"a": 1}
    assert record.body == b'{"a":1}'
