"""Messages drawn: text is data, lines have the width that they are asked for."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.style import Style
from textual.strip import Strip

from ultracontext.model import Message, Tool
from ultracontext_dashboard.blocks import Block, Palette, render

NAMES = ("user", "agent", "dim", "tool", "good", "bad", "mask", "added", "removed", "found")
PALETTE = Palette(**dict.fromkeys(NAMES, Style()))
CONSOLE = Console(color_system="truecolor", force_terminal=True, width=80)
ODD = st.text(
    st.one_of(
        st.characters(exclude_categories=[]),
        st.sampled_from("[/]*_`#|\x1b\x07\r\n\t\u202e\u0301\u200d\ufe0f日한👩❤م\U000e0041"),
    ),
    max_size=200,
)


def message(kind: Any, text: str, tool: Tool | None = None) -> Message:
    return Message(id="m", role="user", kind=kind, text=text, tool=tool, event_type=text[:20])


def drawn(given: Message, width: int, *, opened: bool = True, found: str = "") -> list[Strip]:
    return render(Block(message=given, open=opened), width, CONSOLE, PALETTE, found=found)


def check(strips: list[Strip], width: int) -> None:
    for strip in strips:
        assert strip.cell_length == width
        for segment in strip:
            assert segment.control is None
            assert all(c >= " " and not "\x7f" <= c < "\xa0" for c in segment.text)
            assert "\u202e" not in segment.text
            assert segment.style is None or segment.style.link is None


@given(st.sampled_from(["user", "assistant", "reasoning", "system"]), ODD, st.integers(20, 200))
@settings(max_examples=150, deadline=None)
def test_any_text_keeps_the_width_and_steers_nothing(kind: str, text: str, width: int) -> None:
    check(drawn(message(kind, text), width), width)


@given(ODD, ODD, ODD, st.integers(20, 200), st.booleans())
@settings(max_examples=150, deadline=None)
def test_any_tool_keeps_the_width(
    name: str, given_text: str, output: str, width: int, opened: bool
) -> None:
    tool = Tool(
        call_id="c", name=name, input={"command": given_text, "old_string": output,
        "new_string": name}, output=output, is_error=None,
    )  # fmt: skip
    check(drawn(message("tool_call", given_text, tool), width, opened=opened), width)
    check(drawn(message("tool_result", given_text, tool), width, opened=opened), width)


@given(ODD, st.text("ab[", min_size=1, max_size=3))
@settings(max_examples=100, deadline=None)
def test_search_marks_change_no_text(text: str, found: str) -> None:
    plain = [s.text for s in drawn(message("user", text), 60)]
    assert [s.text for s in drawn(message("user", text), 60, found=found)] == plain


@pytest.mark.parametrize("kind", ["user", "assistant"])
def test_a_line_of_a_megabyte_is_cut_and_counted(kind: str) -> None:
    strips = drawn(message(kind, "x" * 1_000_000), 80)
    assert len(strips) < 60
    assert "1,000,000 characters" in "".join(strip.text for strip in strips)
    check(strips, 80)
