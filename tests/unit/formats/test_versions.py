from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracontext.formats.versions import find, parse


@pytest.mark.parametrize(
    ("text", "numbers", "final"),
    [
        ("2.1.332", (2, 1, 332), True),
        ("v0.61", (0, 61, 0), True),
        ("2026.9.6", (2026, 9, 6), True),
        ("0.172.0-alpha.3", (0, 172, 0), False),
        ("1.2.3+build.5", (1, 2, 3), True),
    ],
)
def test_a_version_is_its_numbers(text: str, numbers: tuple[int, ...], final: bool) -> None:
    found = parse(text)
    assert found is not None
    assert (found.numbers, found.final) == (numbers, final)


@pytest.mark.parametrize("text", ["", "latest", "1.2.x", "1.2.3.4.5", "-1.0", "1..2"])
def test_what_is_no_version_gives_none(text: str) -> None:
    assert parse(text) is None


def test_versions_compare_by_number_and_a_pre_release_comes_first() -> None:
    order = ["0.9.10", "0.45.0", "0.125.0", "0.171.0-beta.1", "0.171.0", "1.0.0"]
    shuffled = [order[place] for place in (3, 0, 5, 1, 4, 2)]
    assert sorted(shuffled, key=lambda text: parse(text) or ()) == order


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("2.1.332 (Claude Code)\n", "2.1.332"),
        ("codex-cli 0.171.0", "0.171.0"),
        ("OpenClaw v2026.9.6 (abc)", "2026.9.6"),
        ("nothing of the kind", None),
    ],
)
def test_the_version_is_found_in_a_programs_own_words(said: str, version: str | None) -> None:
    assert find(said) == version


@given(st.text(max_size=300))
def test_odd_words_never_raise(text: str) -> None:
    found = find(text)
    assert found is None or parse(found) is not None
