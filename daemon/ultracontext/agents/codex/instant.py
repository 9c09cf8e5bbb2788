"""Times of records as text. There is no clock here."""

from __future__ import annotations

from datetime import UTC, datetime

_MILLISECONDS_FROM = 100_000_000_000
"""Numbers above are milliseconds since 1970, below seconds (100e9 s is the year 5138)."""


def utc(value: object) -> str | None:
    """A record's time as `2026-11-30T14:02:50.123Z`, None when it is none.

    Codex writes exactly this form; other ISO forms, offsets and epoch numbers are converted.
    """
    try:
        if type(value) is str:
            time = datetime.fromisoformat(value)
            if len(value) == 24 and value[23] == "Z" and value[10] == "T" and value[4] == "-":
                return value
        elif type(value) is int or type(value) is float:
            seconds = value / 1000 if value > _MILLISECONDS_FROM else value
            time = datetime.fromtimestamp(seconds, UTC)
        else:
            return None
        time = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
        return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (ValueError, OverflowError, OSError):
        return None
