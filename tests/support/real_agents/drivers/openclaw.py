"""OpenClaw, headless: `openclaw agent --local`."""

from __future__ import annotations

import json
import uuid

from real_agents.conversation import Call
from real_agents.dialects.anthropic import Anthropic
from real_agents.driver import Driver, Result


class OpenClaw(Driver):
    """Its project is the workspace of its agent `main`."""

    dialect = Anthropic()
    stays_open = False

    def configure(self) -> None:
        folder = self.home / ".openclaw"
        folder.mkdir(exist_ok=True)
        model = {
            "id": "mock-1", "name": "Mock", "reasoning": True, "input": ["text", "image"],
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
            "contextWindow": 1000000, "maxTokens": 8000,
        }  # fmt: skip
        provider = {
            "baseUrl": self.model.url, "apiKey": "dummy", "api": "anthropic-messages",
            "models": [model],
        }  # fmt: skip
        agent = {
            "model": {"primary": "mock/mock-1"},
            "workspace": str(self.project),
            "skipBootstrap": True,
        }
        settings = {
            "agents": {"defaults": agent},
            "models": {"mode": "replace", "providers": {"mock": provider}},
        }
        (folder / "openclaw.json").write_text(json.dumps(settings), encoding="utf-8")

    def variables(self) -> dict[str, str]:
        return {"TZ": "UTC"}

    def command(self, prompt: str, resume: str | None) -> list[str]:
        session = resume or str(uuid.uuid4())
        words = [str(self.program.executable), "agent", "--local", "--agent", "main", "--json"]
        return [*words, "--session-id", session, "--message", prompt]

    def shell_call(self, id: str, command: str) -> Call:
        return Call(id=f"toolu{id}", name="exec", input={"command": command})

    def session_id(self, result: Result) -> str:
        found: str = json.loads(result.out)["meta"]["agentMeta"]["sessionId"]
        return found
