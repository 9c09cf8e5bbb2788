"""Codex, headless: `codex exec`."""

from __future__ import annotations

import json

from real_agents.conversation import Call
from real_agents.dialects.openai import OpenAI
from real_agents.driver import Driver, Result

MODEL = "gpt-5.5"
"""With it both generations declare the tool `exec_command`."""


class Codex(Driver):
    dialect = OpenAI()

    def configure(self) -> None:
        folder = self.home / ".codex"
        folder.mkdir(exist_ok=True)
        (folder / "config.toml").write_text(
            f"""
model = "{MODEL}"
model_provider = "mock"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.mock]
name = "Mock"
base_url = "{self.model.url}/v1"
env_key = "MOCK_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[projects.{json.dumps(str(self.project))}]
trust_level = "trusted"
""",
            encoding="utf-8",
        )

    def variables(self) -> dict[str, str]:
        return {"MOCK_API_KEY": "dummy"}

    def command(self, prompt: str, resume: str | None) -> list[str]:
        words = [str(self.program.executable), "exec", "--skip-git-repo-check", "--json"]
        return [*words, *(["resume", resume] if resume else []), prompt]

    def shell_call(self, id: str, command: str) -> Call:
        return Call(
            id=f"call_{id}", name="exec_command", input={"cmd": command, "yield_time_ms": 5000}
        )

    def session_id(self, result: Result) -> str:
        for line in result.out.splitlines():
            if line.startswith("{") and "thread_id" in (event := json.loads(line)):
                found: str = event["thread_id"]
                return found
        raise AssertionError(f"no thread id in {result.out!r}")
