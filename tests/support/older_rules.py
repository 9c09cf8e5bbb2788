"""Redactors with a part of the rules: what an older program masked with."""

from __future__ import annotations

from collections.abc import Callable

from ultracontext.redaction import Redactor
from ultracontext.redaction.engine import open_engine
from ultracontext.redaction.fingerprint import Fingerprinter
from ultracontext.redaction.rules import Rule, load_rules, rule_set_version
from ultracontext.redaction.scan import Scanner


def older_redactor(secret: bytes, keep: Callable[[Rule], bool] = lambda rule: False) -> Redactor:
    """One that knows only the rules that `keep` takes; by default it knows one that never is."""
    every = load_rules()
    rules = tuple(rule for rule in every if keep(rule)) or every[:1]
    version = rule_set_version(rules)
    engine = open_engine(rules, name="aho")
    return Redactor(Scanner(rules, engine, Fingerprinter(secret)), version, secret)
