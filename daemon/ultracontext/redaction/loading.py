"""A redactor with our rules, less those that are switched off, and a person's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ultracontext.errors import SettingsError
from ultracontext.redaction.boundary import Redactor
from ultracontext.redaction.checks import FIELD_KINDS
from ultracontext.redaction.custom import Custom
from ultracontext.redaction.engine import open_engine
from ultracontext.redaction.fingerprint import Fingerprinter
from ultracontext.redaction.rules import Rule, custom_version, load_rules, rule_set_version
from ultracontext.redaction.scan import Scanner
from ultracontext.settings.custom import CustomRules


def load_redactor(
    secret: bytes,
    *,
    cache_dir: Path | None = None,
    engine: str | None = None,
    custom: CustomRules | None = None,
) -> Redactor:
    """A redactor with all rules, and a person's own.

    RedactionError when it cannot be had, SettingsError when that is for the person's rules: nothing
    passes then.
    """
    rules = load_rules()
    own = Custom(custom) if custom else None
    if own is not None and custom is not None:
        _check_names(rules, custom)
        rules = tuple(rule for rule in rules if rule.name not in own.off)
    version = rule_set_version(rules)
    opened = open_engine(rules, name=engine, cache_dir=cache_dir)
    if custom:
        version = custom_version(version, custom.packed())
    scanner = Scanner(rules, opened, Fingerprinter(secret), own)
    return Redactor(scanner, version, secret, cache_dir)


def redactor_of(order: Mapping[str, Any], secret: bytes) -> Redactor | None:
    """What a process of ours masks with, by its order; None when its rules are others."""
    cache, custom = order["cache_dir"], order["custom"]
    redactor = load_redactor(
        secret,
        engine=order["engine"],
        cache_dir=Path(cache) if cache else None,
        custom=CustomRules.unpacked(custom) if custom else None,
    )
    return redactor if redactor.rule_set == order["rule_set"] else None


def _check_names(rules: Sequence[Rule], custom: CustomRules) -> None:
    """A rule that is switched off must be one, and two must not share a name."""
    ours = {rule.name for rule in rules} | set(FIELD_KINDS)
    own = {rule.name for rule in custom.rules}
    for name in sorted(own & ours):
        raise SettingsError(
            f"the redaction rule {name!r} has the name of one of ours", hint="Give it another name"
        )
    for name in custom.allow_rules:
        if name not in ours | own:
            close = get_close_matches(name, ours | own, n=1)
            hint = f"Did you mean {close[0]}?" if close else "A mask names its rule"
            raise SettingsError(f"redaction.allow.rules: no rule {name!r}", hint=hint)
