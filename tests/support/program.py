"""The program as a person runs it: a subprocess in a home of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PROGRAM = (sys.executable, "-P", "-m", "ultracontext.cli")
PASSED_ON = (
    "PATH",
    "PYTHONPATH",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "ULTRACONTEXT_REDACTION_ENGINE",
)


@dataclass(kw_only=True)
class Result:
    code: int
    out: str
    err: str
    seconds: float

    @property
    def data(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        found: dict[str, str] = json.loads(self.err)["error"]
        return found


@dataclass(kw_only=True)
class Person:
    """One home folder, its agents' folders and our home in it."""

    path: Path
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def home(self) -> Path:
        return self.path / "uc"

    @property
    def env(self) -> dict[str, str]:
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        return kept | {"HOME": str(self.path), "ULTRACONTEXT_HOME": str(self.home)}

    def run(
        self, *arguments: str, env: Mapping[str, str] | None = None, timeout: float = 60
    ) -> Result:
        before = time.monotonic()
        done = subprocess.run(
            [*PROGRAM, *arguments], env=self.env | dict(env or {}), cwd=self.path,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout, check=False,
        )  # fmt: skip
        seconds = time.monotonic() - before
        out, err = done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        assert "Traceback" not in err + out
        return Result(code=done.returncode, out=out, err=err, seconds=seconds)

    def start(
        self, *arguments: str, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Runs in the background until the test ends."""
        process = subprocess.Popen(
            [*PROGRAM, *arguments], env=self.env | dict(env or {}), cwd=self.path,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.started.append(process)
        return process

    def daemon(self) -> subprocess.Popen[bytes]:
        """A daemon in the foreground of its own process, answering."""
        process = self.start("daemon", "run")
        wait_for(lambda: "uptime_seconds" in self.status()["daemon"], process)
        return process

    def status(self) -> dict[str, Any]:
        found: dict[str, Any] = self.run("status", "--json").data
        return found

    def sessions(self, *more: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.run("sessions", "--all", "--json", *more).data
        return found

    def write(self, name: str, text: str) -> Path:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            out.write(text)
        return file

    def chat(self, name: str = "a", *, turns: int = 1, text: str = "hello") -> Path:
        """A session of Claude Code, grown by so many prompts and answers."""
        session = f"00000000-0000-4000-8000-{name.encode().hex():0>12}"[:36]
        file = self.path / f".claude/projects/-w-app/{session}.jsonl"
        begun = file.read_bytes().count(b"\n") if file.exists() else 0
        records = (_record(session, n, f"{text} {n}") for n in range(begun, begun + 2 * turns))
        lines = (json.dumps(record) + "\n" for record in records)
        return self.write(str(file.relative_to(self.path)), "".join(lines))

    def end(self) -> None:
        self.run("daemon", "stop")
        for process in self.started:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.communicate()


def _record(session: str, turn: int, text: str) -> dict[str, Any]:
    kind = "assistant" if turn % 2 else "user"
    message: dict[str, Any] = {"role": kind, "content": text}
    if kind == "assistant":
        usage = {"input_tokens": 1, "output_tokens": 1}
        message |= {
            "id": f"msg_{turn}", "type": "message", "model": "claude-opus-5-5", "usage": usage,
            "content": [{"type": "text", "text": text}],
        }  # fmt: skip
    return {
        "type": kind, "uuid": f"{session[:-4]}{turn:04}",
        "parentUuid": f"{session[:-4]}{turn - 1:04}" if turn else None, "sessionId": session,
        "timestamp": f"2026-11-30T10:{turn // 60 % 60:02}:{turn % 60:02}.000Z", "cwd": "/w/app",
        "isSidechain": False, "version": "2.1.332", "message": message,
    }  # fmt: skip


def wait_for(
    true: Callable[[], bool], process: subprocess.Popen[bytes] | None = None, *, seconds: float = 40
) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert process is None or process.poll() is None, "the daemon ended"
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)
