"""Instants on the wire: ISO 8601 in UTC with milliseconds and `Z`.

Taken are ISO dates and date-times (without an offset: UTC), the space form of PostgreSQL, RFC 2822
and what `Date.prototype.toString` of JavaScript writes. Milliseconds as a number are refused, as
the original server does (API 0.7.2, run 2026-11).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_ISO = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,12}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?",
    re.ASCII | re.IGNORECASE,
)
_JS = re.compile(
    r"(?:[A-Z][a-z]{2,8},? )?([A-Z][a-z]{2,8}) (\d{1,2}),? (\d{4})"
    r"(?: (\d{2}):(\d{2})(?::(\d{2}))?(?: (?:GMT|UTC)?([+-]\d{4})?)?(?: ?\(.*\))?)?",
    re.ASCII,
)
_DAY_FIRST = re.compile(r"(?:[A-Z][a-z]{2,8},? )?(\d{1,2}) ([A-Z][a-z]{2,8}),? (\d{4})", re.ASCII)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def iso(milliseconds: int) -> str:
    """`2026-11-30T13:58:24.094Z`"""
    when = EPOCH + timedelta(milliseconds=milliseconds)
    return when.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_of(when: datetime) -> str:
    """The same of an aware datetime."""
    return when.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_instant(value: object) -> datetime | None:
    """The instant, cut to milliseconds; None for anything that is none."""
    if not isinstance(value, str) or len(value) > 100:
        return None
    text = value.strip()
    try:
        return _from_iso(text) or _from_english(text)
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _from_iso(text: str) -> datetime | None:
    found = _ISO.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second, fraction, offset = found.groups()
    if hour is not None and day is None:
        return None
    when = datetime(
        int(year), int(month or 1), int(day or 1), int(hour or 0), int(minute or 0),
        int(second or 0), int((fraction or "0").ljust(3, "0")[:3]) * 1000,
        tzinfo=_zone(offset),
    )  # fmt: skip
    return when.astimezone(UTC)


def _zone(offset: str | None) -> timezone:
    if offset is None or offset in "Zz":
        return UTC
    digits = offset[1:].replace(":", "").ljust(4, "0")
    away = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-away if offset[0] == "-" else away)


def _from_english(text: str) -> datetime | None:
    found = _JS.fullmatch(_DAY_FIRST.sub(r"\2 \1 \3", text))
    if found is None:
        when = parsedate_to_datetime(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).astimezone(UTC)
    month, day, year, hour, minute, second, offset = found.groups()
    return datetime(
        int(year), _MONTHS.index(month[:3].lower()) + 1, int(day), int(hour or 0),
        int(minute or 0), int(second or 0), tzinfo=_zone(offset),
    ).astimezone(UTC)  # fmt: skip
