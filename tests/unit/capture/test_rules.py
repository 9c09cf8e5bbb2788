"""Rules on projects and sessions, as values."""

from __future__ import annotations

import pytest

from ultracontext.capture.rules import Rules, Verdict

TAKE, IGNORE, WAIT = Verdict.TAKE, Verdict.IGNORE, Verdict.WAIT


@pytest.mark.parametrize(
    ("glob", "folder", "matches"),
    [
        ("/w/app", "/w/app", True),
        ("/w/app", "/w/app/src", True),
        ("/w/app", "/w/app2", False),
        ("/w/app/", "/w/app", True),
        ("/w/app/**", "/w/app", True),
        ("/w/app/**", "/w/app/a/b", True),
        ("/w/*", "/w/app", True),
        ("/w/*/src", "/w/app/src/x", True),
        ("/w/*/src", "/w/a/b/src", False),
        ("/w/**/src", "/w/a/b/src", True),
        ("/w/**/src", "/w/src", True),
        ("**/secret", "/a/b/secret/c", True),
        ("client-*", "/home/x/client-acme/web", True),
        ("client-*", "/home/x/my-client-acme", False),
        ("~/private", "/home/x/private/a", True),
        ("~", "/home/x/a", True),
        ("~/private", "/private", False),
        ("**", "/anything", True),
        ("/w/a.b", "/w/aXb", False),
        ("/w/?", "/w/a", True),
        ("/W/app", "/w/app", False),
    ],
)
def test_a_glob_matches_a_folder_and_what_is_below(glob: str, folder: str, matches: bool) -> None:
    assert Rules(exclude=(glob,), home="/home/x").excludes(folder) is matches


def test_without_rules_everything_is_taken() -> None:
    rules = Rules()
    assert not rules
    assert rules.verdict("s", None) is TAKE
    assert rules.verdict("s", "/w") is TAKE


def test_a_session_of_an_unknown_project_waits_while_a_rule_names_one() -> None:
    for rules in (
        Rules(include=("/w",)),
        Rules(exclude=("/w",)),
        Rules(ignored=frozenset({"/w"})),
        Rules(paused=frozenset({"/w"})),
    ):
        assert rules.verdict("s", None) is WAIT
    assert Rules(sessions=frozenset({"x"})).verdict("s", None) is TAKE


def test_exclude_wins_over_include_and_sessions_over_all() -> None:
    rules = Rules(include=("/w",), exclude=("/w/secret",), sessions=frozenset({"gone"}))
    assert rules.verdict("s", "/w/app") is TAKE
    assert rules.verdict("s", "/w/secret/x") is IGNORE
    assert rules.verdict("s", "/elsewhere") is IGNORE
    assert rules.verdict("gone", "/w/app") is IGNORE
    assert rules.verdict("gone", None) is IGNORE


def test_a_paused_project_waits_and_an_ignored_one_does_not() -> None:
    rules = Rules(paused=frozenset({"/w"}), ignored=frozenset({"/w/x"}))
    assert rules.verdict("s", "/w/app") is WAIT
    assert rules.verdict("s", "/w/x/y") is IGNORE
    assert rules.verdict("s", "/w2") is TAKE


def test_the_root_folder_as_a_rule_covers_everything() -> None:
    assert Rules(ignored=frozenset({"/"})).excludes("/w")
    assert Rules(exclude=("/",)).excludes("/w")
