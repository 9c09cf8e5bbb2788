"""Claude Code, headless: `claude -p`."""

from __future__ import annotations

import json

from real_agents.conversation import Call
from real_agents.dialects.anthropic import Anthropic
from real_agents.dialogue import Dialogue
from real_agents.driver import Driver, Result


class Claude(Driver):
    dialect = Anthropic()

    @property
    def prompt_waits(self) -> bool:  # type: ignore[override]
        """2.0.77 does, headless; 2.1.332 does not."""
        return self.program.version.startswith("2.0.")

    def variables(self) -> dict[str, str]:
        return {
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_AUTO_COMPACT": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "DISABLE_TELEMETRY": "1",
        }

    def command(self, prompt: str, resume: str | None) -> list[str]:
        words = [str(self.program.executable), "-p", prompt, "--output-format", "json"]
        words += ["--allowedTools", "Bash"]
        return words + (["--resume", resume] if resume else [])

    def dialogue(self) -> Dialogue:
        words = [str(self.program.executable), "-p", "--verbose", "--allowedTools", "Bash"]
        words += ["--input-format", "stream-json", "--output-format", "stream-json"]
        return Streamed(words, self.project, self.env(), self.identity())

    def shell_call(self, id: str, command: str) -> Call:
        return Call(
            id=f"toolu_{id}", name="Bash", input={"command": command, "description": "Look"}
        )

    def session_id(self, result: Result) -> str:
        found: str = json.loads(result.out)["session_id"]
        return found


class Streamed(Dialogue):
    """`claude -p --input-format stream-json`."""

    def begin(self) -> None:
        """The first prompt is the first word."""

    def ask(self, prompt: str) -> None:
        self.send({"type": "user", "message": {"role": "user", "content": prompt}})
        ended = self.wait_for(lambda line: line["type"] == "result")
        assert not ended["is_error"], ended
