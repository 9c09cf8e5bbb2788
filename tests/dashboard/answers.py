"""What `ultracontext` answered to the dialogs' commands, recorded on 2026-11-30 and shortened, and
a program that answers so: the dialogs are tested apart from what is installed here."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

NATIVE = "9d6324ee-1ec0-4fbc-b645-08d34a9e52b0"


def _agent(slug: str, name: str, version: str | None, verdict: str, reason: str = "") -> Any:
    said = {"claude": {"verdict": verdict, "reason": reason}}
    return {"agent": slug, "name": name, "installed": version, "from": said}


def _pair(target: str, verdict: str, versions: list[str], reason: str = "") -> dict[str, Any]:
    evidence = [
        {"program": target, "version": version, "date": "2026-11-30", "local": False}
        for version in versions
    ]
    return {"source": "claude", "target": target, "target_versions": versions,
            "verdict": verdict, "evidence": evidence, "reason": reason}  # fmt: skip


COMPAT: dict[str, Any] = {
    "agents": [
        _agent("claude", "Claude Code", "2.1.332", "tested"),
        _agent("codex", "Codex", "0.171.0", "tested"),
        _agent("cursor", "Cursor", None, "handoff"),
        _agent("gemini", "Gemini CLI", "0.61.0", "untested", "no version of it was run"),
        _agent("openclaw", "OpenClaw", None, "refused", "no installed version was found"),
    ],
    "pairs": [
        _pair("claude", "tested", ["2.0.77", "2.1.332"]),
        _pair("codex", "tested", ["0.125.0", "0.171.0"]),
        _pair("cursor", "handoff", [], "no native way into Cursor is proven"),
        _pair("gemini", "untested", [], "no version of it was run with this source"),
        _pair("openclaw", "expected", ["2026.9.6"]),
    ],
}  # fmt: skip
PLAN: dict[str, Any] = {
    "session_id": NATIVE, "agent": "codex",
    "path": f"/home/dev/.codex/sessions/2026/11/30/rollout-2026-11-30T20-19-35-{NATIVE}.jsonl",
    "command": f"cd /home/dev/acme-api && codex resume {NATIVE}", "cwd": "/home/dev/acme-api",
    "verdict": "tested", "messages": 11, "tool_calls": 3,
    "losses": [{"kind": "mask", "count": 3}, {"kind": "thinking", "count": 2}], "undo": None,
    "turns": 1, "tokens": 1246, "target_version": "0.171.0", "dry_run": True,
    "notes": ["nothing was written (--dry-run)"],
}  # fmt: skip
HANDOFF: dict[str, Any] = {
    **PLAN, "session_id": None, "agent": "cursor", "path": "/home/dev/uc/state/switch/handoff.md",
    "command": "cd /home/dev/acme-api && cursor-agent \"$(cat handoff.md)\"", "verdict": "handoff",
    "messages": 0, "tool_calls": 0, "losses": [], "tokens": 551, "notes": [],
}  # fmt: skip
REFUSED = {
    "error": {
        "code": "untested",
        "message": "Gemini CLI 0.61.0 was not tried",
        "hint": "Use --force",
    }
}
LOG = [
    {"version": 0, "operation": "create", "at": "2026-11-30T18:00:00Z", "messages": 0},
    {"version": 1, "operation": "update", "at": "2026-11-30T18:30:00Z", "affected": 1,
     "messages": 6},
]  # fmt: skip
DIFF: dict[str, Any] = {
    "a": 0, "b": 1, "removed": [{"index": 2, "role": "user", "content": "take this [out]"}],
    "changed": [{"before": {"role": "assistant", "content": "before"},
                 "after": {"role": "assistant", "content": {"text": "after"}}}],
    "added": [{"role": "user", "content": "one\ntwo"}],
}  # fmt: skip
SEARCH = [
    {"context_id": "ctx_0", "agent": "claude", "project_path": "/home/dev/acme-api",
     "role": "assistant", "timestamp": "2026-11-30T19:50:00Z",
     "snippet": "the [retry] test fails because the clock is not pinned"},
    {"context_id": "ctx_1", "agent": "codex", "project_path": "/home/dev/shop", "role": "user",
     "timestamp": "2026-11-28T10:00:00Z", "snippet": "please retry the payment once"},
]  # fmt: skip
CONFIG = {
    "capture.backfill": "all", "capture.watch": True, "capture.sweep": "30s", "remote.url": "",
    "retention.days": 0, "redaction.enabled": True, "redaction.allow_paths": [],
}  # fmt: skip

SCRIPT = """
import json, sys
from pathlib import Path
here = Path(__file__).parent
answers = json.loads((here / "answers.json").read_text())
words = sys.argv[1:]
with (here / "calls").open("a") as file:
    file.write(json.dumps(words) + "\\n")
def answer():
    if words[:2] == ["switch", "undo"]:
        return {"undone": words[2]}
    if words[0] == "switch":
        if "gemini" in words and "--force" not in words:
            sys.stderr.write(json.dumps(answers["refused"]) + "\\n")
            sys.exit(3)
        found = answers["handoff" if "--handoff" in words else "plan"]
        return found if "--dry-run" in words else {**found, "undo": "sw_1", "dry_run": False}
    return answers[" ".join(words[:2]) if words[0] == "context" else words[0]]
print(json.dumps(answer()))
"""


class Answering:
    """The program, and what it was asked."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self._calls = folder / "calls"
        script = folder / "program.py"
        script.write_text(SCRIPT)
        answers = {"compat": COMPAT, "plan": PLAN, "handoff": HANDOFF, "refused": REFUSED,
                   "context log": LOG, "search": SEARCH, "config": CONFIG,
                   "context diff": DIFF}  # fmt: skip
        (folder / "answers.json").write_text(json.dumps(answers))
        self.program = (sys.executable, "-I", str(script))

    @property
    def calls(self) -> list[list[str]]:
        if not self._calls.exists():
            return []
        return [json.loads(line) for line in self._calls.read_text().splitlines()]
