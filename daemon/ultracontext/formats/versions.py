"""Versions of agents' programs, compared without guessing.

`2.1.332` and `2026.9.6` are releases, `0.172.0-alpha.3` is none. A build after `+` does not count.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_RELEASE = re.compile(r"v?(\d{1,9}(?:\.\d{1,9}){0,3})(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?")


class Version(NamedTuple):
    """A parsed version; compares by its numbers, a pre-release before its release."""

    numbers: tuple[int, ...]
    final: bool
    before: str
    """What follows the dash of a pre-release."""

    @property
    def series(self) -> tuple[int, ...]:
        """All numbers but the last: versions that differ in the patch only share it."""
        return self.numbers[:-1]


def parse(text: str) -> Version | None:
    """None for what is no version."""
    found = _RELEASE.fullmatch(text.strip())
    if found is None:
        return None
    numbers = tuple(int(part) for part in found[1].split("."))
    return Version(numbers + (0,) * (3 - len(numbers)), found[2] is None, found[2] or "")


def find(text: str) -> str | None:
    """The first version in a program's own words (`codex-cli 0.171.0`)."""
    for word in re.split(r"[\s()]+", text[:2000]):
        parsed = parse(word) if "." in word else None
        if parsed is not None:
            return word.removeprefix("v")
    return None
