"""Drives the installed program from outside: a home, agents' folders, commands."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

KEPT = ("PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "PYTHONPATH", "ULTRACONTEXT_REDACTION_ENGINE")


class Home:
    """A person's home with `.claude`, `.codex` and an UltraContext home in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.uc = folder / "uc"
        self.claude = folder / ".claude"
        self.codex = folder / ".codex"
        folder.mkdir(parents=True, exist_ok=True)
        self.env = {
            **{k: v for k, v in os.environ.items() if k in KEPT},
            "HOME": str(folder),
            "ULTRACONTEXT_HOME": str(self.uc),
            "XDG_RUNTIME_DIR": str(folder),
            "NO_COLOR": "1",
        }

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "ultracontext.cli", *args]

    def run(self, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(*args), env={**self.env, **env}, cwd=self.folder, capture_output=True,
            text=True, timeout=120, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip

    def json(self, *args: str) -> Any:
        done = self.run(*args, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def once(self) -> Any:
        return self.json("daemon", "run", "--once")

    def start(self, *args: str, **env: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(*args), env={**self.env, **env}, cwd=self.folder, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def integrity(self) -> str:
        with sqlite3.connect(f"file:{self.uc / 'store.db'}?mode=ro", uri=True) as db:
            return str(db.execute("PRAGMA integrity_check").fetchone()[0])

    def node_count(self) -> int:
        path = self.uc / "store.db"
        if not path.exists():
            return 0
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as db:
            tables = db.execute("SELECT count(*) FROM sqlite_master WHERE name='nodes'").fetchone()[
                0
            ]
            return int(db.execute("SELECT count(*) FROM nodes").fetchone()[0]) if tables else 0

    def native_ids(self, session: str) -> list[str]:
        """Uuids of a Claude session's records as `show --raw` gives them, in order."""
        shown = self.json("show", session, "--raw")
        return [r["native"]["uuid"] for r in shown["records"] if "native" in r]


def kill(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to a process group that `Home.start` made, and wait."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(10)


class ClaudeSession:
    """Writes a Claude Code session as the program does: whole lines, appended."""

    def __init__(self, home: Home, project: str = "-w-app", session: str | None = None) -> None:
        self.session = session or str(uuid.uuid4())
        self.path = home.claude / "projects" / project / f"{self.session}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.ids: list[str] = []

    def line(self, text: str) -> bytes:
        name = str(uuid.uuid4())
        parent = self.ids[-1] if self.ids else None
        self.ids.append(name)
        role = "user" if len(self.ids) % 2 else "assistant"
        content: Any = text if role == "user" else [{"type": "text", "text": text}]
        message: dict[str, Any] = {"role": role, "content": content}
        if role == "assistant":
            message |= {"id": f"msg_{len(self.ids)}", "type": "message", "model": "claude-opus-5-5"}
        at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1_790_000_000 + len(self.ids)))
        record = {
            "type": role, "uuid": name, "parentUuid": parent, "sessionId": self.session,
            "timestamp": f"{at}.000Z", "cwd": "/w/app", "version": "2.1.332", "gitBranch": "main",
            "isSidechain": False, "userType": "external", "message": message,
        }  # fmt: skip
        return json.dumps(record).encode() + b"\n"

    def append(self, texts: Iterable[str]) -> None:
        data = b"".join(self.line(text) for text in texts)
        with self.path.open("ab") as out:
            out.write(data)


def check_sessions(home: Home, sessions: Sequence[ClaudeSession]) -> None:
    """Every record of every session is stored exactly once and in order."""
    assert home.integrity() == "ok"
    for session in sessions:
        stored = home.native_ids(session.session)
        assert stored == session.ids, (
            f"{session.session}: {len(session.ids)} written, {len(stored)} stored, "
            f"missing {len(set(session.ids) - set(stored))}, "
            f"twice {len(stored) - len(set(stored))}"
        )
