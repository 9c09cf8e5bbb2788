"""Session files by hand: records of three agents, short to write, in a `blackbox.Home`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from blackbox import Home


def claude_id(number: int) -> str:
    return f"c1a0de00-0000-4000-8000-{number:012}"


class Talk:
    """A Claude Code session: each record below the one before."""

    def __init__(self, home: Home, number: int, *, cwd: str = "/w/app", slug: str = "-w-app"):
        self.home = home
        self.session = claude_id(number)
        self.cwd = cwd
        self.path = home.claude / "projects" / slug / f"{self.session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.count = 0

    def record(self, kind: str, message: Any, **more: Any) -> dict[str, Any]:
        self.count += 1
        uuid = f"{self.session[:24]}{self.session[-4:]}{self.count:08}"
        before = f"{uuid[:-8]}{self.count - 1:08}"
        return {
            "parentUuid": before if self.count > 1 else None, "isSidechain": False,
            "type": kind, "message": message, "uuid": uuid, "sessionId": self.session,
            "timestamp": at(self.count),
            "cwd": self.cwd, "version": "2.1.332", "gitBranch": "main", "userType": "external",
            **more,
        }  # fmt: skip

    def prompt(self, content: Any, **more: Any) -> dict[str, Any]:
        return self.record("user", {"role": "user", "content": content}, **more)

    def answer(self, *blocks: Any, name: str | None = None, **more: Any) -> dict[str, Any]:
        content = [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]
        message = {
            "id": name or f"msg_{self.count}", "type": "message", "role": "assistant",
            "model": "claude-opus-5-5", "content": content,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }  # fmt: skip
        return self.record("assistant", message, **more)

    def call(self, call_id: str, tool: str = "Bash", **given: Any) -> dict[str, Any]:
        return self.answer({"type": "tool_use", "id": call_id, "name": tool, "input": given})

    def result(self, call_id: str, content: Any, **more: Any) -> dict[str, Any]:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        return self.prompt([block], **more)

    def turns(self, number: int, text: str = "text") -> list[dict[str, Any]]:
        """So many records, prompts and answers in turn."""
        made = []
        for _ in range(number):
            said = f"{text} {self.count + 1}"
            made.append(self.prompt(said) if self.count % 2 == 0 else self.answer(said))
        return made

    def write(self, *items: Any) -> Talk:
        """Appends records as lines; bytes as they are."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as out:
            for item in items:
                out.write(item if isinstance(item, bytes) else line(item))
        return self


def line(record: Any) -> bytes:
    return json.dumps(record).encode() + b"\n"


def rollout(home: Home, number: int, records: Iterable[dict[str, Any]], **meta: Any) -> str:
    """A Codex session of these `response_item` and other lines; gives its id."""
    session = f"0c0dec00-0000-7000-8000-{number:012}"
    path = home.codex / f"sessions/2026/11/30/rollout-2026-11-30T10-00-00-{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"id": session, "timestamp": at(0), "cwd": "/w/app", "cli_version": "0.125.0", **meta}
    lines = [{"timestamp": at(0), "type": "session_meta", "payload": head}, *records]
    path.write_bytes(b"".join(map(line, lines)))
    return session


def at(second: int) -> str:
    return f"2026-11-30T10:{second // 60 % 60:02}:{second % 60:02}.000Z"


def codex_turn(second: int, prompt: str, answer: str) -> list[dict[str, Any]]:
    """A typed prompt and its answer, each in both streams."""

    def item(role: str, kind: str, text: str) -> dict[str, Any]:
        content = [{"type": kind, "text": text}]
        payload = {"type": "message", "role": role, "content": content}
        return {"timestamp": at(second), "type": "response_item", "payload": payload}

    def event(kind: str, text: str) -> dict[str, Any]:
        payload = {"type": kind, "message": text}
        return {"timestamp": at(second), "type": "event_msg", "payload": payload}

    return [
        item("user", "input_text", prompt), event("user_message", prompt),
        event("agent_message", answer), item("assistant", "output_text", answer),
    ]  # fmt: skip


def gemini(home: Home, name: str, content: bytes, project: str = "app") -> Path:
    """A file in Gemini CLI's chats folder."""
    path = home.folder / ".gemini/tmp" / project / "chats" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def openclaw(home: Home, name: str, records: Iterable[dict[str, Any]]) -> Path:
    """A session file of OpenClaw's file generation."""
    path = home.folder / ".openclaw/agents/main/sessions" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(map(line, records)))
    return path


def claw_records(session: str, *texts: str, start: int = 0) -> list[dict[str, Any]]:
    """A header and turns of OpenClaw."""
    made: list[dict[str, Any]] = [
        {"type": "session", "version": 3, "id": session, "timestamp": at(start), "cwd": "/w/app"}
    ]
    for n, text in enumerate(texts):
        role = "assistant" if n % 2 else "user"
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        made.append(
            {
                "type": "message", "id": f"{session[:4]}{n:04}", "timestamp": at(start + n + 1),
                "parentId": f"{session[:4]}{n - 1:04}" if n else None, "message": message,
            }
        )  # fmt: skip
    return made


def said(home: Home, session: str, *kinds: str) -> list[str]:
    """Texts that `show` gives, `meta` left out; only of the given kinds, if any."""
    shown = home.json("show", session)["messages"]
    wanted = kinds or ("user", "assistant", "reasoning", "tool_call", "tool_result", "system")
    return [m["text"] for m in shown if m["kind"] in wanted]


def natives(home: Home, session: str) -> list[Any]:
    """The records as stored: JSON, or the text of an opaque one."""
    found = home.json("show", session, "--raw")["records"]
    return [r["native"] if "native" in r else r["text"] for r in found]
