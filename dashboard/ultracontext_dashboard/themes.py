"""Two themes: calm, colour only for state."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

THEME = "ULTRACONTEXT_THEME"
"""`light` or `dark`; without it, what the terminal tells by `COLORFGBG`."""
WHITES = ("7", "15")

DARK = Theme(
    name="ultracontext-dark",
    primary="#6cb6ff",
    secondary="#a5a1e0",
    accent="#e0b35a",
    warning="#e0b35a",
    error="#f47067",
    success="#7bc96f",
    foreground="#d5d9e0",
    background="#14161a",
    surface="#14161a",
    panel="#1d2026",
    dark=True,
    variables={"muted": "#8a919c", "row": "#22303f", "row-focus": "#2b4056"},
)
LIGHT = Theme(
    name="ultracontext-light",
    primary="#0b5cad",
    secondary="#5b50b0",
    accent="#8a5a00",
    warning="#8a5a00",
    error="#b3261e",
    success="#1f7a2e",
    foreground="#20242a",
    background="#fafafa",
    surface="#fafafa",
    panel="#eceef1",
    dark=False,
    variables={"muted": "#5d6570", "row": "#dfe7f0", "row-focus": "#cbdcee"},
)


def chosen(env: Mapping[str, str]) -> str:
    """The theme to begin with: as set, or as the terminal says; dark where nothing is known."""
    wanted = env.get(THEME, "").strip().lower()
    if wanted in ("light", "dark"):
        return f"ultracontext-{wanted}"
    background = env.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in WHITES else DARK.name
