"""Gemini CLI, headless: `gemini -p`."""

from __future__ import annotations

import json

from real_agents.conversation import Call
from real_agents.dialects.gemini import Gemini
from real_agents.dialogue import Dialogue, Line, Rpc
from real_agents.driver import Driver, Result

SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
    "general": {
        "disableAutoUpdate": True, "disableUpdateNag": True, "enableAutoUpdate": False,
        "enableAutoUpdateNotification": False, "sessionRetention": {"enabled": False},
    },
}  # fmt: skip


class GeminiCli(Driver):
    dialect = Gemini()
    walled = False

    def configure(self) -> None:
        folder = self.home / ".gemini"
        folder.mkdir(exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(SETTINGS), encoding="utf-8")

    def variables(self) -> dict[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": self.model.url, "GEMINI_API_KEY": "dummy"}

    def command(self, prompt: str, resume: str | None) -> list[str]:
        words = [str(self.program.executable), "--yolo", "--output-format", "json"]
        return [*words, *(["--resume", resume] if resume else []), "-p", prompt]

    def dialogue(self) -> Dialogue:
        words = [str(self.program.executable), "--yolo", "--experimental-acp"]
        return Acp(words, self.project, self.env(), self.identity())

    def shell_call(self, id: str, command: str) -> Call:
        return Call(
            id=id, name="run_shell_command", input={"command": command, "description": "Look"}
        )

    def session_id(self, result: Result) -> str:
        found: str = json.loads(result.out[result.out.index("{") :])["session_id"]
        return found


class Acp(Rpc):
    """The agent client protocol, which editors speak."""

    def begin(self) -> None:
        self.call("initialize", {"protocolVersion": 1, "clientCapabilities": {}})
        begun = self.call("session/new", {"cwd": str(self.project), "mcpServers": []})
        self.session: str = begun["sessionId"]

    def ask(self, prompt: str) -> None:
        said = [{"type": "text", "text": prompt}]
        ended = self.call("session/prompt", {"sessionId": self.session, "prompt": said})
        assert ended["stopReason"] == "end_turn", ended

    def meanwhile(self, line: Line) -> None:
        """Asked whether a tool may run, it may."""
        if line.get("method") != "session/request_permission":
            return
        option = next(o for o in line["params"]["options"] if o["kind"] == "allow_once")
        outcome = {"outcome": "selected", "optionId": option["optionId"]}
        self.send({"jsonrpc": "2.0", "id": line["id"], "result": {"outcome": outcome}})
