"""Codex, headless: `codex exec`."""

from __future__ import annotations

import json

from real_agents.conversation import Call
from real_agents.dialects.openai import OpenAI
from real_agents.dialogue import Dialogue, Rpc
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

    def dialogue(self) -> Dialogue:
        words = [str(self.program.executable), "app-server"]
        return AppServer(words, self.project, self.env(), self.identity())

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


class AppServer(Rpc):
    """`codex app-server`, which editors start."""

    def begin(self) -> None:
        client = {"name": "tests", "title": "Tests", "version": "1"}
        self.call("initialize", {"clientInfo": client})
        self.notify("initialized")
        begun = self.call("thread/start", {"cwd": str(self.project)})
        self.thread: str = begun["thread"]["id"]

    def ask(self, prompt: str) -> None:
        said = [{"type": "text", "text": prompt}]
        self.call("turn/start", {"threadId": self.thread, "input": said})
        ended = self.wait_for(lambda line: line.get("method") == "turn/completed")
        assert ended["params"]["turn"]["status"] == "completed", ended
