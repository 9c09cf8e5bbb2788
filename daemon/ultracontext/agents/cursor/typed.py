"""What a person typed, out of what Cursor stored for it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from ultracontext.agents.cursor.values import from_json, listing, mapping, moment

REDACTED = "[REDACTED]"
"""Cursor's own mark for thinking that it hides."""

_QUERY = re.compile(r"<user_query>\n?(.*?)\n?</user_query>", re.DOTALL)
_STAMP = re.compile(
    r"<timestamp>\s*(?:\w+,\s*)?([A-Z][a-z]{2})[a-z]* (\d{1,2}), (\d{4}), (\d{1,2}):(\d\d) ([AP]M)"
    r" \(UTC(?:([+-])(\d{1,2})(?::?(\d\d))?)?\)\s*</timestamp>"
)
_INJECTED = re.compile(
    r"\s*<(?:user_info|system_reminder|system-reminder|environment_context|project_layout|rules"
    r"|git_status|agent_skills|attached_files|additional_data|open_and_recently_viewed_files)>"
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def typed(text: str) -> str | None:
    """The words inside `<user_query>`; None when there is no such tag."""
    found = _QUERY.findall(text)
    return "\n".join(found) if found else None


def injected(text: str) -> bool:
    """Whether text without the tag was put in by the program."""
    return _INJECTED.match(text) is not None


def stamped(text: str) -> str | None:
    """The time in a `<timestamp>` tag as ISO 8601 in UTC; None where its zone is not told."""
    found = _STAMP.search(text)
    if found is None or found[1] not in _MONTHS:
        return None
    hour = int(found[4]) % 12 + (12 if found[6] == "PM" else 0)
    away = timedelta(hours=int(found[8] or 0), minutes=int(found[9] or 0))
    try:
        zone = timezone(-away if found[7] == "-" else away)
        month = _MONTHS.index(found[1]) + 1
        local = datetime(int(found[3]), month, int(found[2]), hour, int(found[5]), tzinfo=zone)
        return moment(local.astimezone(UTC).isoformat())
    except (ValueError, OverflowError):
        return None


def said(text: str) -> str:
    """An answer without the marks of hidden thinking."""
    return text.replace(REDACTED, "").strip() if REDACTED in text else text


def rich_text(value: Any) -> str:
    """The words in a Lexical document, which is JSON in a string."""
    words: list[str] = []
    waiting = [mapping(mapping(from_json(value)).get("root"))]
    while waiting and len(words) < 10_000:
        node = waiting.pop()
        if type(node.get("text")) is str:
            words.append(node["text"])
        waiting.extend(mapping(child) for child in reversed(listing(node.get("children"))))
    return "".join(words)


def squashed(text: str) -> str:
    """Text without white space, for comparing what two stores hold of one message."""
    return "".join(text.split())
