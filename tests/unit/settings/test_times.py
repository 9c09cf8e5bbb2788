from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ultracontext.errors import SettingsError
from ultracontext.settings import parse_duration, parse_time

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30), ("2h", 7200), ("1d", 86400), ("1w", 604800), ("1h30m", 5400), ("500ms", 0.5),
        ("90", 90), (" 1 d ", 86400), ("0s", 0), ("1.5h", 5400),
    ],
)  # fmt: skip
def test_duration(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "d", "1x", "-1d", "1d!", "1y", "9" * 40, "\u0661d"])
def test_no_duration(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("1d", NOW - timedelta(days=1)),
        ("2026-11-30T10:00:00Z", datetime(2026, 11, 30, 10, tzinfo=UTC)),
        ("2026-11-30T10:00:00+02:00", datetime(2026, 11, 30, 8, tzinfo=UTC)),
        ("20261130", datetime(2026, 11, 30).astimezone(UTC)),
    ],
)
def test_time(text: str, moment: datetime) -> None:
    assert parse_time(text, now=NOW) == moment


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01", "900000d"])
def test_no_time(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_time(text, now=NOW)
