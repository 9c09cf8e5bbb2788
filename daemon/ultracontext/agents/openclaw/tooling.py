"""OpenClaw 2026.9.6: `mcp.servers` of `openclaw.json` (docs/cli/mcp of the package); managed skills
lie in `skills` beside it."""

from __future__ import annotations

from ultracontext.agents.openclaw.layout import roots
from ultracontext.formats import Tooling

TOOLING = Tooling(
    file=lambda env, home: (
        home.joinpath(env["OPENCLAW_CONFIG_PATH"])
        if env.get("OPENCLAW_CONFIG_PATH")
        else roots(env, home)[0] / "openclaw.json"
    ),
    keys=("mcp", "servers"),
    skills=lambda env, home: roots(env, home)[0] / "skills",
)
