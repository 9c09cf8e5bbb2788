"""Durations and points in time as people write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from ultracontext.errors import SettingsError

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|[smhdw])", re.ASCII)
_WHOLE = re.compile(rf"(?:{_PART.pattern}\s*)+", re.ASCII)
_LONGEST_SECONDS = 1000 * 365 * 86400.0
_HINT = "Write it like 30s, 2h, 1d or 1h30m"


def parse_duration(text: str) -> float:
    """Seconds of `30s`, `2h`, `1d`, `1h30m`; a bare number is seconds. Raises SettingsError."""
    cleaned = text.strip().lower()
    if re.fullmatch(r"\d+(\.\d+)?", cleaned, re.ASCII):
        seconds = float(cleaned)
    elif _WHOLE.fullmatch(cleaned):
        seconds = sum(float(n) * _UNITS[unit] for n, unit in _PART.findall(cleaned))
    else:
        raise SettingsError(f"{text!r} is no duration", hint=_HINT)
    if seconds > _LONGEST_SECONDS:
        raise SettingsError(f"{text!r} is longer than 1000 years", hint=_HINT)
    return seconds


def parse_time(text: str, *, now: datetime) -> datetime:
    """A point in time: a duration before `now`, or ISO 8601 (without a zone: local time)."""
    cleaned = text.strip()
    try:
        found = datetime.fromisoformat(cleaned)
    except ValueError:
        found = None
    bare_number = cleaned.isdecimal() and len(cleaned) != len("20261130")
    if bare_number:
        number = cleaned[:6]
        raise SettingsError(f"{text!r} has no unit", hint=f"Write it like {number}h or {number}d")
    if found is None:
        try:
            return now - timedelta(seconds=parse_duration(cleaned))
        except (SettingsError, OverflowError) as error:
            raise SettingsError(
                f"{text!r} is no time", hint="Write it like 2h, 1d or 2026-11-30T14:00:00Z"
            ) from error
    try:
        return found.astimezone(UTC)
    except (OverflowError, ValueError) as error:
        raise SettingsError(f"{text!r} lies outside the calendar") from error
