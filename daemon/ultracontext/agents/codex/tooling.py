"""Codex 0.171.0 (November 2026): `codex mcp add` writes `[mcp_servers.<name>]` of `config.toml`;
skills lie in `skills` beside it."""

from __future__ import annotations

from ultracontext.agents.codex.layout import roots
from ultracontext.formats import Tooling

TOOLING = Tooling(
    file=lambda env, home: roots(env, home)[0] / "config.toml",
    form="toml",
    keys=("mcp_servers",),
    skills=lambda env, home: roots(env, home)[0] / "skills",
)
