"""Claude Code 2.1.332 (November 2026): `claude mcp add -s user` writes `.claude.json` in the
home folder, or in `CLAUDE_CONFIG_DIR`; skills lie in `skills` of the settings folder."""

from __future__ import annotations

from ultracontext.agents.claude.layout import roots
from ultracontext.formats import Tooling

TOOLING = Tooling(
    file=lambda env, home: (
        (home.joinpath(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else home)
        / ".claude.json"
    ),
    typed=True,
    skills=lambda env, home: roots(env, home)[0] / "skills",
)
