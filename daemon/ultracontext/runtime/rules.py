"""The settings' rules on sessions and projects."""

from __future__ import annotations

from pathlib import Path

from ultracontext.capture.rules import Rules
from ultracontext.settings import Settings


def capture_rules(settings: Settings, home: Path) -> Rules:
    """What the settings say; ignore files and pauses are found by capture."""
    capture = settings.capture
    return Rules(
        include=capture.include,
        exclude=capture.exclude,
        sessions=frozenset(capture.exclude_sessions),
        home=str(home),
    )
