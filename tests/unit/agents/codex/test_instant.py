from __future__ import annotations

import pytest

from ultracontext.agents.codex.instant import utc


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("2026-11-30T14:02:50.123Z", "2026-11-30T14:02:50.123Z"),
        ("2026-11-30T14:02:50Z", "2026-11-30T14:02:50.000Z"),
        ("2026-11-30T14:02:50.123456789Z", "2026-11-30T14:02:50.123Z"),
        ("2026-11-30T16:02:50.123+02:00", "2026-11-30T14:02:50.123Z"),
        ("2026-11-30T14:02:50.123", "2026-11-30T14:02:50.123Z"),
        ("2100-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"),
        (1796048590, "2026-11-30T14:23:10.000Z"),
        (1796048590123, "2026-11-30T14:23:10.123Z"),
        (1796048590.5, "2026-11-30T14:23:10.500Z"),
    ],
)
def test_times_become_utc_with_milliseconds(given: object, expected: str) -> None:
    assert utc(given) == expected


@pytest.mark.parametrize(
    "given",
    [
        None,
        True,
        "",
        "yesterday",
        "2026-13-01T00:00:00.000Z",
        10**30,
        -(10**30),
        float("inf"),
        float("nan"),
        [],
        {},
        "0001-01-01T00:00:00.000+14:00",
        "2026-11-30T14:02:50.12é",
    ],
)
def test_what_is_no_time_is_none(given: object) -> None:
    assert utc(given) is None
