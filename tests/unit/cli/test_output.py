from __future__ import annotations

import json

import pytest

from ultracontext.cli.output import json_bytes, one_line, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bcreset \x1b(0lines", "reset lines"),
        ("\x9b31mred", "red"),
        ("a\n\tb  c\r\n", "a b c"),
        ("a\x00\x07b", "ab"),
        ("left\u202eright\u2066x", "leftrightx"),
        ("\ud83d half", "half"),
        ("👩\u200d💻 [/bold] 日本", "👩\u200d💻 [/bold] 日本"),
        ("\x1b[31", "31"),
    ],
)
def test_one_line(text: str, shown: str) -> None:
    assert one_line(text) == shown


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x9b2J", "\x07", "\x7f", "\u202e", "\ud83d", "\r", "\0"]
)
def test_visible_neutralises(text: str) -> None:
    shown = visible(f"a{text}b\n\tc")
    assert shown.startswith("a")
    assert shown.endswith("b\n\tc")
    assert text[0] not in shown
    shown.encode("utf-8")


def test_visible_keeps_what_is_harmless() -> None:
    text = "日本 e\u0301 👩\u200d💻 [0] x ✂️\n"
    assert visible(text) == text
    assert visible("a\r\nb") == "a\nb"


@pytest.mark.parametrize(
    "value",
    [
        {"a": "\ud83d"},
        {"\udfff": [1, 2**70, -(2**70)]},
        {"a": "日本", "b": None, "c": [True, 1.5]},
        {1: "a"},
    ],
)
def test_json_is_valid_utf8_and_reads_back(value: dict[object, object]) -> None:
    text = json_bytes(value).decode("utf-8")
    assert json.loads(text) == {str(key): item for key, item in value.items()}


def test_json_has_no_nan() -> None:
    assert json.loads(json_bytes({"a": [float("nan"), float("inf"), 2**70]})) == {
        "a": [None, None, 2**70]
    }
