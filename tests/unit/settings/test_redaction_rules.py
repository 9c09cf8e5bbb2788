"""`[[redaction.rules]]`, `[redaction.allow]` and `redaction.keys`."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ultracontext.errors import SettingsError
from ultracontext.settings import CustomRule, CustomRules, load_settings
from ultracontext.settings.patterns import compiled

WHOLE = r"""
[redaction]
keys = ["door_code"]

[[redaction.rules]]
name = "acme-key"
pattern = 'acme_([a-z0-9]{32})'
keywords = ["acme_"]
group = 1
ignore_case = true

[[redaction.rules]]
name = "ticket"
pattern = '\bT-\d+'

[redaction.allow]
values = ["AKIAIOSFODNN7"]
paths = ["/home/me/.claude/projects/demo/**"]
rules = ["jwt"]
"""


def load(tmp_path: Path, text: str, **env: str) -> CustomRules | None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    return load_settings(path, env).redaction.custom


def test_all_of_it(tmp_path: Path) -> None:
    custom = load(tmp_path, WHOLE)
    assert custom == CustomRules(
        rules=(
            CustomRule(
                name="acme-key",
                pattern="acme_([a-z0-9]{32})",
                keywords=("acme_",),
                group=1,
                ignore_case=True,
            ),
            CustomRule(name="ticket", pattern=r"\bT-\d+"),
        ),
        keys=("door_code",),
        allow_values=("AKIAIOSFODNN7",),
        allow_paths=("/home/me/.claude/projects/demo/**",),
        allow_rules=("jwt",),
    )
    assert CustomRules.unpacked(custom.packed()) == custom


def test_nothing_is_none(tmp_path: Path) -> None:
    assert load(tmp_path, "[redaction]\nengine = 'aho'\n") is None


def test_lists_from_the_environment(tmp_path: Path) -> None:
    custom = load(
        tmp_path, "", ULTRACONTEXT_REDACTION_KEYS="pin_a,pin_b",
        ULTRACONTEXT_REDACTION_ALLOW_VALUES="value one",
    )  # fmt: skip
    assert custom == CustomRules(keys=("pin_a", "pin_b"), allow_values=("value one",))


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("pattern = 'x1'", "name None"),
        ("name = 'Acme Key'\npattern = 'x1'", "'Acme Key'"),
        ("name = 'acme'", "'acme' has no pattern"),
        ("name = 'acme'\npattern = '['", "'acme' is no regular expression"),
        ("name = 'acme'\npattern = '(a+)+b'", "'acme' repeats something that repeats"),
        ("name = 'acme'\npattern = 'x*'", "'acme' matches the empty text"),
        ("name = 'acme'\npattern = 'x1'\ngroup = 2", "'acme' has no such group"),
        ("name = 'acme'\npattern = 'x1'\ngroup = 'v'", "'acme' has no such group"),
        ("name = 'acme'\npattern = 'x1'\nkeyword = ['x']", "unknown key keyword"),
        ("name = 'acme'\npattern = 'x1'\nkeywords = 'x1'", "keywords is a list"),
        ("name = 'acme'\npattern = 'x1'\nignore_case = 1", "of another type"),
        ("name = 'acme'\npattern = 'x1'\n[[redaction.rules]]\nname = 'acme'\npattern = 'y'", "one"),
    ],
)
def test_a_wrong_rule_is_named(tmp_path: Path, rule: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, f"[[redaction.rules]]\n{rule}\n")
    assert said in caught.value.message
    assert caught.value.exit_code == 2
    assert str(tmp_path) in caught.value.message


@pytest.mark.parametrize(
    "text",
    [
        "redaction.rules = ['x']",
        "redaction.rules = 'x'",
        "redaction.rules = [1]",
        "redaction.allow = 1",
        "[redaction.allow]\nvalue = ['long enough']",
        "[redaction.allow]\nvalues = ['x']",
        "[redaction.allow]\npaths = ['**']",
        "[redaction.allow]\npaths = ['demo']",
        "redaction.keys = ['x']",
    ],
)
def test_other_faults_are_errors_of_settings(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError):
        load(tmp_path, text)


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b", r"(a|a)*b", r"(?:a|ab|b)*c", r"(?:x+x+)+y", r"(?:[a-z]+|[a-z0-9]+)*!",
        r"a*a*a*b",
        r"(?:(?:a{0,3}){0,3}){0,3}z", r"(?:a?){20}a{20}", r"(a)\1", r"(?P<q>['x])a(?P=q)",
        r".*x.*y.*z", r"(?:\s*\w*)*;", r"(?=(a+)+b)x", r"(?u)\w+", r"([a-z]+)*x", r"(?>(a+)+)b",
        r"(?:(a+)+)++b",
    ],
)  # fmt: skip
def test_patterns_that_could_run_away_are_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"run|repeat|flag|refers|incompatible"):
        compiled(pattern, ignore_case=False)


SOUND = [
    r"acme_[a-z0-9]{32}", r"(?:[a-z]+\.)+internal", r"(a|b)*c", r"(a|ab)*c",
    r"(\w+)\s*=\s*\"([^\"]+)\"",
    r"-----BEGIN X-----[\s\S]*?-----END X-----", r"\b\d{3}-\d{2}-\d{4}\b", r"(?:ab?)*c",
    r"(?:[a-z]++\.)+internal", r"(foo|foob|fob){1,3}x", r"(?>a+)+b", r"https?://[^\s:]+:[^\s@]+@c",
    r"[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}", r"(?i)token=\S+", r"a{0,64}a{0,64}b",
    r"[0-9A-F]{2}(?::[0-9A-F]{2}){5}", r"(?:[a-z0-9]{1,20}-){3,5}[a-z]{2}", r"key=.*;",
    r"(?:(?:[a-z]{2}[0-9])+-)+!", r"(?:x|y)+?z", r"(?<![a-z])secret:[^\n]{4,}",
]  # fmt: skip
EVIL = [
    piece * (4096 // len(piece))
    for piece in (
        "a", "a.", "key=", "key=;", "-", "-----BEGIN X-----", "ab", 'a="', "1-", "aa1-", "foo",
        " ", "a = ", "x", "a@a.", "https://a:", "foobfob", "aa1",
    )
]  # fmt: skip


@pytest.mark.parametrize("pattern", SOUND)
def test_sound_patterns_are_taken_and_are_quick_on_the_worst_text(pattern: str) -> None:
    made = compiled(pattern, ignore_case=False)
    for text in EVIL:
        begun = time.process_time()
        list(made.finditer(text))
        assert time.process_time() - begun < 3, text[:20]


def test_classes_and_case_are_those_of_ascii() -> None:
    assert compiled(r"\w+x", ignore_case=False).search("éx") is None
    assert compiled("key", ignore_case=True).search("\N{KELVIN SIGN}ey") is None
