"""What a value under a secret's name looks like."""

from __future__ import annotations

import pytest

from ultracontext.redaction import Redactor, looks

CHOSEN = ("Zr9!FaBYqEGVaaB7", "Zr9!OmrDOltAbaB7", "Zr9!slrocAPUvaB7", "Summer*Wind24")
"""Read like words, and yet somebody chose them: digit, both cases, a sign that no name has."""


@pytest.mark.parametrize("value", CHOSEN)
@pytest.mark.parametrize("name", ["secret", "client_secret", "password", "apiToken"])
def test_a_chosen_value_is_masked_as_a_member_and_in_text(
    redactor: Redactor, name: str, value: str
) -> None:
    assert value not in repr(redactor.value({"extra": {name: value}}))
    assert value not in redactor.text(f'{{"{name}": "{value}"}}')


@pytest.mark.parametrize(
    "value",
    [b"handleKeyDown", b"Ctrl+Shift+P", b"keyName2", b"@scope/Name1!", b"Array<Key1!>", b"V1.2!"],
)
def test_names_are_no_secrets(value: bytes) -> None:
    assert not looks.suits("secret", value)
