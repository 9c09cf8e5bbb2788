"""What a program opened and left is no session to a person."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from blackbox import Home
from talks import Talk

pytestmark = pytest.mark.timeout(120)


def test_a_shadow_of_gemini_is_not_listed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    folder = tmp_path / ".gemini" / "tmp" / "app" / "chats"
    folder.mkdir(parents=True)
    stamp = "2026-11-30T10:00:00.000Z"
    context = "<session_context>\nThis is the Gemini CLI.\n</session_context>"

    def user(text: str) -> dict[str, object]:
        return {"id": text[:3], "timestamp": stamp, "type": "user", "content": [{"text": text}]}

    for name, more in (("shadow", []), ("real", [user("a prompt")])):
        head = {"sessionId": name, "startTime": stamp, "kind": "main"}
        records = [head, {"$set": {"messages": [user(context)]}}, *more]
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"session-2026-11-30T10-00-{name}.jsonl").write_text(lines)
    talk = Talk(home, 6000)
    talk.write({"type": "summary", "summary": "of nothing", "leafUuid": "x"})
    home.once()
    assert [s["session_id"] for s in home.json("sessions", "--agent", "gemini")] == ["real"]
    every = home.json("sessions", "--agent", "gemini", "--all")
    assert {s["session_id"] for s in every} == {"real", "shadow"}
    hidden = home.json("sessions", "--hidden")
    assert "shadow" in [s["session_id"] for s in hidden]
    assert home.json("show", "shadow")["session_id"] == "shadow"
