"""Text of sessions as a terminal may show it: nothing in it can steer the terminal or the layout.

Widths are terminal cells.
"""

from __future__ import annotations

import re

from rich.cells import cell_len, set_cell_size
from rich.text import Text

MASK = re.compile(r"\[redacted:[a-z0-9_.-]+:[0-9a-f]{8}\]")
"""What stands in the place of a secret."""

_DROPPED = dict.fromkeys(
    [
        0x200B, 0x200C, 0x200D, 0x200E, 0x200F, 0x061C, 0xFEFF, 0x00AD, 0x2060, 0x034F, 0x180E,
        *range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xFE00, 0xFE10),
        *range(0xE0000, 0xE0080), *range(0xE0100, 0xE01F0), *range(0x1F3FB, 0x1F400),
    ]
)  # fmt: skip
"""Marks that turn the direction of writing, join or dress characters, or have no width: terminals
disagree on how wide such a sequence is."""

_SHOWN = {code: 0x2400 + code for code in range(0x20) if code not in (0x09, 0x0A)}
_SHOWN |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_SHOWN |= dict.fromkeys(range(0xD800, 0xE000), 0xFFFD)
_SHOWN |= {0x2028: 0x0A, 0x2029: 0x0A}

_TABLE: dict[int, int | str | None] = {**_DROPPED, **_SHOWN, 0x09: "    "}

LONGEST_LINE = 2000
"""Characters of one line that are ever shown."""


def clean(text: str) -> str:
    """The text without anything that a terminal would obey; line ends stay."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_TABLE)


def one_line(text: str, longest: int = 500) -> str:
    """The same on one line, cut to so many characters."""
    return " ".join(clean(text[: 4 * longest]).split())[:longest]


def short_lines(text: str, most: int) -> tuple[list[str], int]:
    """At most `most` lines, each of bounded length, and how many lines are left out."""
    lines = clean(text).split("\n")
    while lines and not lines[-1].strip():
        lines.pop()
    shown = [
        line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} … {len(line):,} characters"
        for line in lines[:most]
    ]
    return shown, max(0, len(lines) - most)


def fit(text: str, width: int, *, right: bool = False) -> str:
    """Exactly `width` cells: cut with `…`, or filled with spaces. Never cuts a wide character in
    two."""
    if width <= 0:
        return ""
    wide = cell_len(text)
    if wide > width:
        return set_cell_size(text, width - 1) + "…" if width > 1 else "…"
    blank = " " * (width - wide)
    return blank + text if right else text + blank


def tilde(path: object, home: object) -> str:
    """A path as a person writes it: `~/uc/store.db`."""
    text, base = str(path), str(home).rstrip("/")
    return f"~{text[len(base) :]}" if base and f"{text}/".startswith(f"{base}/") else text


def keep_end(text: str, width: int) -> str:
    """The end of a path in at most `width` cells."""
    if cell_len(text) <= width:
        return text
    while text and cell_len(text) > max(0, width - 1):
        text = text[1:]
    return f"…{text}"


def with_masks(text: str, style: str, mask_style: str) -> Text:
    """Plain text in which masks stand out. No markup is read from it."""
    shown = Text(text, style=style, no_wrap=False)
    for found in MASK.finditer(text):
        shown.stylize(mask_style, found.start(), found.end())
    return shown
