"""A provider's checksum adds to what a pattern says, and takes nothing away."""

from __future__ import annotations

from binascii import crc32

import pytest

from ultracontext.redaction import Redactor
from ultracontext.redaction.checks import proved

BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def token(prefix: str, body: str) -> str:
    left, out = crc32(body.encode()), ""
    for _ in range(6):
        left, digit = divmod(left, 62)
        out = BASE62[digit] + out
    return prefix + body + out


@pytest.mark.parametrize("prefix", ["gh" + "p_", "gh" + "s_", "np" + "m_"])
def test_a_token_with_its_checksum_is_masked_even_where_a_filler_would_pass(
    redactor: Redactor, prefix: str
) -> None:
    filler = prefix + "N0tReAl" + "xxxxxx" * 4 + "abc12"
    assert redactor.text(filler) == filler
    made = token(prefix, "N0tReAl" + "xxxxxx" * 3 + "abc12")
    assert proved(("crc32",), made.encode())
    assert "N0tReAl" not in redactor.text(made)


def test_a_token_that_fails_it_is_masked_as_well(redactor: Redactor) -> None:
    made = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"
    assert not proved(("crc32",), made.encode())
    assert "N0tReAl" not in redactor.text(made)


def test_other_rules_have_none() -> None:
    assert not proved((), token("x_", "N0tReAl3ahovCJQX4bipwDKRY5cjqx").encode())
