"""Gemini CLI 0.61.0 (November 2026): `gemini mcp add -s user` writes `settings.json`; skills lie in
`skills` beside it (docs/cli/skills.md of the package)."""

from __future__ import annotations

from ultracontext.agents.gemini.layout import roots
from ultracontext.formats import Tooling

TOOLING = Tooling(
    file=lambda env, home: roots(env, home)[0] / "settings.json",
    skills=lambda env, home: roots(env, home)[0] / "skills",
)
