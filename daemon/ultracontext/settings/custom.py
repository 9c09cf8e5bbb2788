"""What a person adds to the rules of masking, or takes from them: `[redaction]` of config.toml."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ultracontext.errors import SettingsError
from ultracontext.settings.patterns import compiled

_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_FIELDS = ("name", "pattern", "keywords", "group", "ignore_case")
_EXAMPLE = (
    "Write it like [[redaction.rules]] with name = \"acme-key\" and pattern = 'acme_[a-z]{32}'"
)
MOST_RULES = 200
LONGEST_PATTERN = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomRule:
    """One `[[redaction.rules]]`."""

    name: str
    """Stands in the mask."""
    pattern: str
    keywords: tuple[str, ...] = ()
    """One of them is near every match, in any case; none: the whole text is searched."""
    group: int | str = 0
    """What of a match is masked."""
    ignore_case: bool = False

    def compiled(self) -> re.Pattern[str]:
        """SettingsError when it is no pattern that can be run."""
        try:
            made = compiled(self.pattern, ignore_case=self.ignore_case)
        except ValueError as error:
            raise SettingsError(
                f"the pattern of redaction rule {self.name!r} {error}",
                hint="Mend it in [[redaction.rules]] of config.toml",
            ) from None
        known = made.groupindex if isinstance(self.group, str) else range(made.groups + 1)
        if self.group not in known:
            raise SettingsError(f"the pattern of redaction rule {self.name!r} has no such group")
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomRules:
    """All that a person says about masking. Empty: our rules as they are."""

    rules: tuple[CustomRule, ...] = ()
    keys: tuple[str, ...] = ()
    """Names whose values are secrets, besides those that we know."""
    allow_values: tuple[str, ...] = ()
    """Texts that are no secrets."""
    allow_paths: tuple[str, ...] = ()
    """Globs on the path of a source whose records are not masked."""
    allow_rules: tuple[str, ...] = ()
    """Names of rules that are not applied."""

    def __bool__(self) -> bool:
        return self != CustomRules()

    def packed(self) -> str:
        """The same as text, for a process of ours and for the number of the rule set."""
        rows = [{f: getattr(rule, f) for f in _FIELDS} for rule in self.rules]
        lists = {f: getattr(self, f) for f in _LISTS}
        return json.dumps({"rules": rows, **lists}, sort_keys=True)

    @classmethod
    def unpacked(cls, text: str) -> CustomRules:
        found = json.loads(text)
        lists = {f: tuple(found[f]) for f in _LISTS}
        return cls(rules=tuple(rule_of(row) for row in found["rules"]), **lists)


_LISTS = ("keys", "allow_values", "allow_paths", "allow_rules")


def rule_of(row: Any) -> CustomRule:
    """A rule from its table; SettingsError says what is wrong with it."""
    if not isinstance(row, Mapping):
        raise SettingsError("redaction.rules is no list of tables", hint=_EXAMPLE)
    name = row.get("name")
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise SettingsError(
            f"a redaction rule has the name {name!r}",
            hint="Take up to 40 lower-case letters, digits and hyphens",
        )
    for key in row:
        if key not in _FIELDS:
            raise SettingsError(
                f"redaction rule {name!r}: unknown key {key}", hint=f"It may have {_listed()}"
            )
    pattern, keywords = row.get("pattern"), row.get("keywords", ())
    if not isinstance(pattern, str) or not 0 < len(pattern) <= LONGEST_PATTERN:
        raise SettingsError(f"redaction rule {name!r} has no pattern", hint=_EXAMPLE)
    group, folded = row.get("group", 0), row.get("ignore_case", False)
    if not isinstance(folded, bool) or not isinstance(group, (int, str)) or group is True:
        raise SettingsError(f"redaction rule {name!r}: group or ignore_case is of another type")
    if not isinstance(keywords, (list, tuple)) or not all(
        isinstance(word, str) and len(word) > 1 for word in keywords
    ):
        raise SettingsError(f"redaction rule {name!r}: keywords is a list of texts of 2 letters up")
    return CustomRule(
        name=name, pattern=pattern, keywords=tuple(keywords), group=group, ignore_case=folded
    )


def checked_rules(texts: Sequence[str]) -> tuple[CustomRule, ...]:
    """Rules from their tables, each written as JSON."""
    rules: list[CustomRule] = []
    for text in texts:
        try:
            rules.append(rule_of(json.loads(text)))
        except ValueError:
            raise SettingsError(
                "redaction.rules is written as tables in config.toml only", hint=_EXAMPLE
            ) from None
        rules[-1].compiled()
    names = [rule.name for rule in rules]
    if len(set(names)) != len(names):
        raise SettingsError("two redaction rules have one name", hint="Rename one of them")
    if len(rules) > MOST_RULES:
        raise SettingsError(f"there are more than {MOST_RULES} redaction rules")
    return tuple(rules)


def checked_keys(keys: Sequence[str]) -> None:
    for key in keys:
        if len(key) < 2 or len(key) > 60 or not key.isprintable():
            raise SettingsError(
                f"redaction.keys: {key!r} is no name of a key", hint="Take 2 to 60 letters"
            )


def checked_allow(values: Sequence[str], paths: Sequence[str]) -> None:
    """What would allow nearly everything is refused."""
    for value in values:
        if len(value) < 4:
            raise SettingsError(
                f"redaction.allow.values: {value!r} is too short", hint="Write the whole value"
            )
    for glob in paths:
        if not glob.strip("/*? ") or not glob.startswith(("/", "*")):
            raise SettingsError(
                f"redaction.allow.paths: {glob!r} is no path of files",
                hint="Write it like /home/me/sessions/demo/**",
            )


def _listed() -> str:
    return ", ".join(_FIELDS)
