"""What a tool call would change in files, as a diff, whatever agent made the call.

Known by the shape of the input: `old_string` and `new_string`, `edits: [{oldText, newText}]`, a
whole `content`, or a patch between `*** Begin Patch` and `*** End Patch` (recordings of all agents
that we know, November 2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

MOST_LINES = 4000
"""Of one text; beyond it, no line-by-line comparison is made."""

_PATHS = ("file_path", "path", "absolute_path", "filePath", "target_file")
_OLD = ("old_string", "oldText", "old_str")
_NEW = ("new_string", "newText", "new_str")
_WHOLE = ("content", "contents", "file_text")
_FILE = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+?)[ \t\r]*$", re.MULTILINE)
_END = "*** End Patch"


def changes_of(given: Any) -> list[tuple[str, str]]:
    """(path as the call names it, lines with `+`, `-`, ` ` or `@@` before them) of one call."""
    found = list(_patches(given))
    if found or type(given) is not dict:
        return found
    path = next((given[k] for k in _PATHS if type(given.get(k)) is str and given[k]), None)
    return [] if path is None else [(path, text) for text in _edits(given) if text]


def _edits(given: dict[str, Any]) -> Iterator[str]:
    listed = given.get("edits")
    for edit in listed if type(listed) is list else [given]:
        if type(edit) is not dict:
            continue
        old, new = _first(edit, _OLD), _first(edit, _NEW)
        if new is not None:
            yield _diff(old or "", new)
    whole = _first(given, _WHOLE)
    if whole is not None and _first(given, _NEW) is None:
        yield _diff("", whole)


def _first(given: dict[str, Any], names: tuple[str, ...]) -> str | None:
    return next((given[name] for name in names if type(given.get(name)) is str), None)


def _diff(old: str, new: str) -> str:
    before, after = old.split("\n"), new.split("\n")
    if not old:
        return "\n".join(f"+{line}" for line in after)
    if max(len(before), len(after)) > MOST_LINES:
        return "\n".join([*(f"-{line}" for line in before), *(f"+{line}" for line in after)])
    lines = list(unified_diff(before, after, lineterm="", n=2))[2:]
    return "\n".join(lines)


def _patches(given: Any) -> Iterator[tuple[str, str]]:
    for text in _texts(given):
        if "*** Begin Patch" not in text:
            continue
        body = text.partition(_END)[0]
        heads = list(_FILE.finditer(body))
        for head, after in zip(heads, [*heads[1:], None], strict=True):
            end = after.start() if after is not None else len(body)
            yield head[1], body[head.end() : end].strip("\r\n")


def _texts(given: Any, depth: int = 0) -> Iterator[str]:
    """The strings in an input, not deep."""
    if type(given) is str:
        yield given
    elif depth < 3 and type(given) in (dict, list):
        for value in given.values() if type(given) is dict else given:
            yield from _texts(value, depth + 1)
