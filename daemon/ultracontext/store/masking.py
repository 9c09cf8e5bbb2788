"""Rows of lists, masked on read where they were stored under other rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ultracontext.model import RawRecord, SessionFacts
from ultracontext.redaction import Redactor
from ultracontext.store.base import ContextRow
from ultracontext.store.values import dump

SAID = (
    "title",
    "project_path",
    "git_branch",
    "git_remote",
    "model",
    "agent_version",
    "lineage_key",
    "files",
    "traits",
    "unknown",
)
"""Facts that repeat what records say. Ids, times and counts are not touched."""

CUT_CHARACTERS = 190
"""A title of this length may have been cut, in the middle of a secret."""


def masked_row(row: ContextRow, redactor: Redactor) -> ContextRow:
    """The row under today's rules; itself when it is."""
    if row.rule_set == redactor.rule_set:
        return row
    facts = masked_facts(row.facts, redactor, cut=True)
    return msgspec.structs.replace(row, facts=facts, rule_set=redactor.rule_set)


def masked_if_behind(
    row: ContextRow, rule_set: int, redactor: Callable[[], Redactor]
) -> ContextRow:
    """The same; `redactor` is asked for only when it is needed."""
    return row if row.rule_set == rule_set else masked_row(row, redactor())


def masked_facts(facts: SessionFacts, redactor: Redactor, *, cut: bool) -> SessionFacts:
    """With `cut`, the last word of a long title goes: it may be the head of a secret."""
    said: dict[str, Any] = {name: getattr(facts, name) for name in SAID}
    if cut and facts.title is not None and len(facts.title) >= CUT_CHARACTERS:
        said["title"] = facts.title.rpartition(" ")[0] or None
    data = dump(said)
    raw = RawRecord(agent="", source="", start=0, end=len(data), data=data)
    masked = redactor.redact(raw, whole=True).native
    if masked is None:  # never for what was just written; nothing passes then
        masked = dict.fromkeys(SAID[:7]) | {"files": [], "traits": {}, "unknown": {}}
    return msgspec.structs.replace(facts, **masked)
