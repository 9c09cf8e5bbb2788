from __future__ import annotations

import re

import pytest

from ultracontext.redaction.heads import ANY, heads, leads
from ultracontext.redaction.rules import load_rules


@pytest.mark.parametrize(
    ("pattern", "anchors", "found"),
    [
        (r"gh[po]_[a-z]{16}", ["ghp_", "gho_"], (0,)),
        (r"gh[po]_[a-z]{16}", ["ghp_"], ()),
        (r"[a-z0-9][_.-]?key", ["key"], (1, 2)),
        (r"[a-z]{3}\.x", [".x"], (3,)),
        (r"(?:a(?:bc)?|x)key", ["key"], (1, 3)),
        (r"a*key", ["key"], ()),
        (r"a|key", ["key"], ()),
        (r"(?=a)key", ["key"], ()),
        (r"0\|[a-f]{4}", ["0|"], (0,)),
    ],
)
def test_how_far_before_an_anchor_a_match_begins(
    pattern: str, anchors: list[str], found: tuple[int, ...]
) -> None:
    assert leads(pattern, anchors) == found


def test_what_is_not_plain_ends_a_head() -> None:
    assert heads(r"a(?:b|c+)d") == {"abd", "a"}
    assert heads(r"[^a]\d") == {ANY * 2}


def test_most_rules_are_tried_at_their_anchors() -> None:
    rules = load_rules()
    assert sum(bool(rule.leads) for rule in rules) > len(rules) * 0.9
    (token,) = (rule for rule in rules if rule.name == "github-token")
    assert token.leads == (0,)
    assert re.match(token.probe, b"ghp_" + b"a" * 16)
