"""The tables and what is made of them."""

from __future__ import annotations

import re
import string
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ultracontext.errors import RedactionError
from ultracontext.redaction.checks import CHECKS
from ultracontext.redaction.names import nature
from ultracontext.redaction.rules import (
    DECIDING,
    LEFT_GUARD,
    TABLES,
    Rule,
    code_digest,
    load_rules,
    read_table,
    rule_set_version,
)
from ultracontext.redaction.sample import sample

RULES = load_rules()
ASSIGNMENTS = {"env-assign", "secret-quoted", "flag-secret", "kube-secret"}
"""Their probe stands for what is around a match, or for names that any text may be."""


def test_the_version_is_stable_and_changes_with_a_rule() -> None:
    assert rule_set_version(RULES) == rule_set_version(load_rules())
    assert 0 < rule_set_version(RULES) < 2**63
    assert rule_set_version(RULES) != rule_set_version(RULES[1:])


def test_the_version_changes_with_the_code_that_decides(tmp_path: Path) -> None:
    for name in DECIDING:
        (tmp_path / f"{name}.py").write_text((TABLES.parent / f"{name}.py").read_text())
    same = code_digest(tmp_path)
    assert same == code_digest()
    for name in DECIDING:
        other = tmp_path / name
        other.mkdir()
        for module in DECIDING:
            text = (tmp_path / f"{module}.py").read_text()
            text = f"# a comment\n\n{text}" + ("x = 1\n" if module == name else "")
            (other / f"{module}.py").write_text(text)
        assert code_digest(other) != same
        assert rule_set_version(RULES, code_digest(other)) != rule_set_version(RULES)


def test_code_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RedactionError):
        code_digest(tmp_path)


def test_every_module_that_looks_at_a_text_is_in_the_version() -> None:
    others = {"__init__", "aho_engine", "child", "engine", "fingerprint", "hyperscan_engine",
              "large", "loading", "minted", "off", "opening", "rules", "sample",
              "slim"}  # fmt: skip
    assert {path.stem for path in TABLES.parent.glob("*.py")} <= others | set(DECIDING)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_sample_matches_its_own_rule(rule: Rule) -> None:
    text = sample(rule.sample).encode()
    match = rule.regex.search(text)
    assert match is not None
    assert re.search(rule.probe, text, re.IGNORECASE if rule.ignore_case else 0)
    assert any(anchor in (text.lower() if rule.ignore_case else text) for anchor in rule.anchors)


@pytest.mark.parametrize(
    "rule", [r for r in RULES if r.name not in ASSIGNMENTS], ids=lambda r: r.name
)
def test_probe_and_anchors_are_in_every_match(rule: Rule) -> None:
    """What an engine looks for must never say less than the pattern."""
    flags = re.IGNORECASE if rule.ignore_case else 0
    body = rule.regex.pattern.removeprefix(LEFT_GUARD.encode())

    @given(st.from_regex(re.compile(body, flags)))
    @settings(max_examples=8, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    def check(text: bytes) -> None:
        for match in rule.regex.finditer(text):
            whole = match[0].lower() if rule.ignore_case else match[0]
            assert re.search(rule.probe, match[0], flags), match[0]
            assert any(anchor in whole for anchor in rule.anchors), match[0]

    if "(?=" not in body.decode():
        check()


def test_every_name_of_a_secret_has_a_probe() -> None:
    from ultracontext.redaction import names

    by_name = {rule.name: rule for rule in RULES}
    words = names._PASSWORDS | names._SECRETS | {f"{word}_key" for word in names._KEY_BEFORE}
    for word in sorted(words):
        for spelled in (word, word.upper(), f"my_{word}", f"{word}_prod", f"{word}2"):
            if not nature(spelled):
                continue
            for name in ("env-assign", "secret-quoted"):
                text = f'{spelled}="'.encode() if "quoted" in name else f"{spelled}=x".encode()
                rule = by_name[name]
                assert re.search(rule.probe, text, re.IGNORECASE), (spelled, name)
                assert any(anchor in text.lower() for anchor in rule.anchors), (spelled, name)


def test_no_pattern_crosses_a_nul_and_only_marked_ones_a_line_end() -> None:
    for rule in RULES:
        assert not _can_match(rule, 0), rule.name
        if not rule.many_lines:
            assert not _can_match(rule, 10), rule.name


def _can_match(rule: Rule, char: int) -> bool:
    tree = _parser.parse(rule.regex.pattern, rule.regex.flags)
    return _takes(tree, char)


def _takes(node: object, char: int) -> bool:
    for op, argument in node:  # type: ignore[attr-defined]
        name = str(op)
        if name == "LITERAL" and argument == char:
            return True
        if name == "NOT_LITERAL" and argument != char:
            return True
        if name == "ANY" and char != 10:
            return True
        if name == "IN" and _class_takes(argument, char):
            return True
        if any(_takes(part, char) for part in _parts(name, argument)):
            return True
    return False


def _parts(name: str, argument: Any) -> list[Any]:
    """The patterns inside one node of a parsed pattern."""
    if name == "BRANCH":
        return list(argument[1])
    if name == "SUBPATTERN":
        return [argument[3]]
    if name == "ATOMIC_GROUP":
        return [argument]
    return [argument[2]] if name.endswith("_REPEAT") else []


def _class_takes(items: list[tuple[object, object]], char: int) -> bool:
    negated, hit = False, False
    spaces = string.whitespace.encode()
    for op, argument in items:
        name = str(op)
        negated |= name == "NEGATE"
        hit |= name == "LITERAL" and argument == char
        hit |= name == "RANGE" and argument[0] <= char <= argument[1]  # type: ignore[index]
        hit |= name == "CATEGORY" and (
            (str(argument) == "CATEGORY_SPACE" and char in spaces)
            or str(argument) in ("CATEGORY_NOT_WORD", "CATEGORY_NOT_DIGIT")
        )
    return hit != negated


def test_checks_that_rules_name_exist() -> None:
    assert {name for rule in RULES for name in rule.checks} <= CHECKS.keys()


def test_no_table_holds_a_whole_secret() -> None:
    for path in TABLES.glob("*.tsv"):
        for row in read_table(path.read_text("utf-8")):
            assert not re.search(r"[A-Za-z0-9+/]{28,}", row["sample"]), row["name"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\tb\n",
        "name\tp\tc\tabc\t[\t\tx\ts\td\n",
        "name\tp\tz\tabc\tabc\t\tx\ts\td\n",
        "name\tp\tc\t\tabc\t\tx\ts\td\n",
        "n\tp\tc\ta\ta\t\tx\ts\td\nn\tp\tc\ta\ta\t\tx\ts\td\n",
    ],
)
def test_a_broken_table_stops_the_redactor(tmp_path: Path, text: str) -> None:
    if text:
        (tmp_path / "x.tsv").write_text(text)
    with pytest.raises(RedactionError):
        load_rules(tmp_path)
