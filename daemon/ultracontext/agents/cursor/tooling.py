"""Cursor, as its public documentation describes it (November 2026; not run):
`~/.cursor/mcp.json`, and skills in `~/.cursor/skills`."""

from __future__ import annotations

from ultracontext.formats import Tooling

TOOLING = Tooling(
    file=lambda env, home: home / ".cursor" / "mcp.json",
    skills=lambda env, home: home / ".cursor" / "skills",
)
