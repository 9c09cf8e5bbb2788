"""Nobody but `Redactor.redact` makes a masked record."""

from __future__ import annotations

import copy
import dataclasses
import pickle  # noqa: TID251 - to see it refused
from typing import Any

import pytest

from ultracontext.model import RawRecord
from ultracontext.redaction import (
    MaskedRecord,
    MaskedText,
    Redactor,
    load_redactor,
    require_masked,
    require_masked_text,
)

RAW = RawRecord(agent="claude", source="/s", start=0, end=8, data=b'{"a":1}')


@pytest.fixture(scope="module")
def record() -> MaskedRecord:
    return load_redactor(b"k", engine="aho").redact(RAW)


def fields(record: MaskedRecord) -> dict[str, Any]:
    return {name: getattr(record, name) for name in MaskedRecord.__slots__}


def test_it_is_not_constructed(record: MaskedRecord) -> None:
    for make in (
        lambda: MaskedRecord(),
        lambda: MaskedRecord(**fields(record)),
        lambda: MaskedRecord(object(), **fields(record)),
        lambda: type(record).__call__(**fields(record)),
    ):
        with pytest.raises(TypeError):
            make()


def test_it_has_no_subclasses() -> None:
    with pytest.raises(TypeError):
        type("Mine", (MaskedRecord,), {})


def test_it_is_not_copied_or_pickled(record: MaskedRecord) -> None:
    for action in (copy.copy, copy.deepcopy):
        with pytest.raises(TypeError):
            action(record)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError):
            pickle.dumps(record, protocol)


def test_it_is_not_replaced(record: MaskedRecord) -> None:
    with pytest.raises(TypeError):
        dataclasses.replace(record, body=b"")  # type: ignore[type-var]
    if hasattr(copy, "replace"):
        with pytest.raises(TypeError):
            copy.replace(record, body=b"")


def test_it_is_frozen(record: MaskedRecord) -> None:
    for name in (*MaskedRecord.__slots__, "extra"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(record, name, None)
        with pytest.raises((AttributeError, TypeError)):
            delattr(record, name)
    with pytest.raises(AttributeError):
        record.__dict__  # noqa: B018


def test_an_empty_one_is_of_no_use() -> None:
    empty = object.__new__(MaskedRecord)
    for name in MaskedRecord.__slots__:
        with pytest.raises(AttributeError):
            getattr(empty, name)
    with pytest.raises(TypeError):
        require_masked(empty)


def test_a_forged_one_is_recognised(record: MaskedRecord) -> None:
    forged = object.__new__(MaskedRecord)
    for name, value in fields(record).items():
        if not name.startswith("_"):
            object.__setattr__(forged, name, value)
    with pytest.raises(TypeError):
        require_masked(forged)


@pytest.mark.parametrize("other", [RAW, None, {}, b"", "x", object()])
def test_nothing_else_passes_for_one(other: object) -> None:
    with pytest.raises(TypeError):
        require_masked(other)


def test_a_minted_one_passes(record: MaskedRecord) -> None:
    assert require_masked(record) is record


def test_the_redactor_takes_raw_records_only(record: MaskedRecord) -> None:
    redactor: Redactor = load_redactor(b"k", engine="aho")
    with pytest.raises((AttributeError, TypeError)):
        redactor.redact(record)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def text() -> MaskedText:
    return load_redactor(b"k", engine="aho").document("a note")


def test_a_masked_text_is_made_by_the_redactor_only(text: MaskedText) -> None:
    for fields in ({}, {"text": "x"}, {"text": "x", "masks": {}, "rule_set": 1}):
        with pytest.raises(TypeError):
            MaskedText(**fields)
    with pytest.raises(TypeError):
        type("Mine", (MaskedText,), {})
    with pytest.raises(TypeError):
        copy.copy(text)
    with pytest.raises(TypeError):
        copy.deepcopy(text)
    with pytest.raises(TypeError):
        pickle.dumps(text)
    for name in (*MaskedText.__slots__, "extra"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(text, name, None)


def test_a_forged_text_is_recognised(text: MaskedText) -> None:
    forged = object.__new__(MaskedText)
    for other in (forged, "a note", b"a note", None, text.text):
        with pytest.raises(TypeError):
            require_masked_text(other)
    assert require_masked_text(text) is text


def test_a_document_and_a_value_are_masked() -> None:
    redactor = load_redactor(b"k", engine="aho")
    secret = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"
    note = redactor.document(f"use {secret}")
    assert secret not in note.text
    assert note.masks == {"github-token": 1}
    assert redactor.document(note.text).text == note.text
    value = {"role": "user", "content": [secret, {"password": "N0tReAl!9x"}, 7, None], secret: 1}
    masked = redactor.value(value)
    assert secret not in str(masked)
    assert "N0tReAl!9x" not in str(masked)
    assert masked["content"][2:] == [7, None]
    assert redactor.value(secret).startswith("[redacted:github-token:")
    assert value["content"][0] == secret  # type: ignore[index]
