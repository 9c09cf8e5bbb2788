"""One headless turn of OpenClaw (runs of 2026.7.35 and 2026.9.6, November 2026)."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ultracontext.formats import Proof


def _files(url: str, project: str) -> Mapping[str, str]:
    model = {
        "id": "proof-1", "name": "Proof", "reasoning": True, "input": ["text"],
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
        "contextWindow": 1000000, "maxTokens": 8000,
    }  # fmt: skip
    provider = {"baseUrl": url, "apiKey": "none", "api": "anthropic-messages", "models": [model]}
    agent = {"model": {"primary": "proof/proof-1"}, "workspace": project, "skipBootstrap": True}
    settings = {
        "agents": {"defaults": agent},
        "models": {"mode": "replace", "providers": {"proof": provider}},
    }
    return {"openclaw.json": json.dumps(settings)}


PROOF = Proof(
    argv=lambda session, prompt: (
        "agent", "--local", "--agent", "main", "--json", "--session-id", session, "--message",
        prompt,
    ),
    environment=lambda _url: {"TZ": "UTC"},
    files=_files,
)  # fmt: skip
