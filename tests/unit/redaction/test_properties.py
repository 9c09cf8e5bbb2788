"""For any input: nothing raises, masking twice changes nothing, structure stays."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redaction_corpus import raw, secrets

from ultracontext.redaction import Redactor, load_json

QUICK = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
# Values of some 30 kB are meant to occur; that Hypothesis takes long to print them is no fault.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

SECRETS = [text for _, text, _ in secrets()]


def secret_at(place: int) -> str:
    return SECRETS[place]


PIECES = st.one_of(
    st.text(max_size=20),
    st.integers(0, len(SECRETS) - 1).map(secret_at),
    st.sampled_from(
        [
            'password="',
            "token: ",
            "\\n",
            '\\"',
            "%20",
            "Bearer ",
            "[redacted:x:00000000]",
            "https://a:",
            "@b",
            "\n",
            "-----BEGIN ",
            "eyJ",
            "=",
            "'",
            "\\u0041",
        ]
    ),
)
TEXTS = st.lists(PIECES, max_size=6).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(text=TEXTS)
@QUICK
def test_masking_a_text_twice_changes_nothing(redactor: Redactor, text: str) -> None:
    once = redactor.text(text)
    assert redactor.text(once) == once


@given(value=st.dictionaries(TEXTS, VALUES, max_size=4))
@QUICK
def test_masking_a_record_twice_changes_nothing(redactor: Redactor, value: dict[str, Any]) -> None:
    once = redactor.redact(raw(data=json.dumps(value).encode()))
    again = redactor.redact(raw(data=once.body))
    assert again.body == once.body
    assert again.masks == {}


@given(value=st.dictionaries(TEXTS, VALUES, max_size=4))
@QUICK
def test_types_and_structure_stay(redactor: Redactor, value: dict[str, Any]) -> None:
    record = redactor.redact(raw(data=json.dumps(value).encode()))
    assert shape(record.native) == shape(value)
    assert shape(load_json(record.body)) == shape(value)


@given(data=st.binary(max_size=200))
@QUICK
def test_no_bytes_raise(redactor: Redactor, data: bytes) -> None:
    record = redactor.redact(raw(data=data))
    assert (record.native is None) == (record.text is not None)
    if record.text is not None:
        record.text.encode()


@given(text=TEXTS)
@QUICK
def test_both_engines_find_the_same(
    hyperscan_redactor: Redactor, aho_redactor: Redactor, text: str
) -> None:
    assert hyperscan_redactor.scanner.find(text) == aho_redactor.scanner.find(text)


@pytest.mark.parametrize("wrap", ["{}", "x {} y", "\n{}\n", '{{"k": "{}"}}', "a={};b", "'{}'"])
def test_both_engines_find_the_same_in_the_corpus(
    hyperscan_redactor: Redactor, aho_redactor: Redactor, wrap: str
) -> None:
    for name, text, _ in secrets():
        whole = wrap.format(text)
        found = hyperscan_redactor.scanner.find(whole)
        assert found == aho_redactor.scanner.find(whole), name


def shape(value: Any) -> Any:
    """A value with its strings left out."""
    if isinstance(value, dict):
        return [shape(member) for member in value.values()]
    if isinstance(value, list):
        return [shape(member) for member in value]
    if isinstance(value, str):
        return "text"
    return str(value)
