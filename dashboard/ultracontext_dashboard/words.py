"""How numbers, times and states read on screen. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ultracontext_dashboard.library import Doing

SIGNS = {"running": "●", "turn": "◐", "idle": "○", "ended": "✓", "trouble": "!", "expires": "⏳"}
SHORT = {"running": "run", "turn": "turn", "idle": "idle", "ended": "ended", "trouble": "!"}
BARS = "▁▂▃▄▅▆▇"
ASKS_AFTER_SECONDS = 60.0


def age(when: datetime | None, now: datetime) -> str:
    """`now`, `2 m`, `3 h`, `yesterday`, `5 d`, `2026-11-02`; at most 10 cells."""
    if when is None:
        return ""
    seconds = (now - when).total_seconds()
    if seconds < 60:
        return "now" if seconds > -60 else when.astimezone().strftime("%Y-%m-%d")
    if seconds < 3600:
        return f"{int(seconds // 60)} m"
    if seconds < 86400:
        return f"{int(seconds // 3600)} h"
    if seconds < 2 * 86400:
        return "yesterday"
    if seconds < 30 * 86400:
        return f"{int(seconds // 86400)} d"
    return when.astimezone().strftime("%Y-%m-%d")


def span(seconds: float) -> str:
    """A length of time: `4 s`, `2 m`, `1 h 5 m`."""
    if seconds < 1:
        return f"{seconds:.1f} s" if seconds >= 0.05 else "0 s"
    if seconds < 60:
        return f"{int(seconds)} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} m"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60)} m"


def bytes_text(count: float) -> str:
    """`0 B`, `12 kB`, `3.4 MB`."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(count) < 1000 or unit == "TB":
            return f"{count:.0f} {unit}" if unit == "B" or count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    return ""


def count_text(count: float) -> str:
    """`950`, `12.3k`, `4.1M`: never more than 5 cells."""
    if count < 1000:
        return str(int(count))
    if count < 999_500:
        return f"{count / 1000:.1f}k" if count < 99_950 else f"{count / 1000:.0f}k"
    return f"{count / 1e6:.1f}M"


def spark(bars: Sequence[int]) -> str:
    """One cell a bar; blank when nothing happened."""
    most = max(bars, default=0)
    if not most:
        return " " * len(bars)
    return "".join(BARS[0 if not bar else 1 + (len(BARS) - 2) * bar // most] for bar in bars)


def state_words(doing: Doing, now: datetime) -> str:
    """The state in full: `running or asks, 1 m` where the records do not tell which."""
    if doing.state == "turn":
        return "your turn"
    if doing.state != "running" or doing.tool_since is None:
        return doing.state
    seconds = (now - doing.tool_since).total_seconds()
    if seconds >= ASKS_AFTER_SECONDS:
        return f"running or asks, {span(seconds)}"
    return f"running {span(max(0.0, seconds))}"
