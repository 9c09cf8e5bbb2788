"""Writes sessions that OpenClaw goes on with.

Both generations read the same records (runs of 2026.7.35 and 2026.9.6): a header, then a chain of
records each naming the one before. Until 2026.7 they lie in files and `sessions.json` lists them;
since 2026.8 they lie in SQLite, and the program's own `doctor` takes them in from such files. Rows
are never written here: its triggers would lock the whole store.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from ultracontext.agents.openclaw.compat import MARK, in_sqlite
from ultracontext.agents.openclaw.layout import DATABASE, IMPORTED
from ultracontext.agents.openclaw.tools import KEPT
from ultracontext.errors import WriteRefusedError
from ultracontext.formats import (
    Command,
    Conversation,
    Entry,
    FileWrite,
    Image,
    Limits,
    Lookup,
    Probe,
    PutKey,
    RunProgram,
    Step,
    Target,
    WritePlan,
)
from ultracontext.formats.gate import Permit
from ultracontext.formats.versions import parse

AGENT = "main"
FOLDER = f"agents/{AGENT}/sessions"
INDEX = f"{FOLDER}/sessions.json"
LOCK = f"{INDEX}.lock"
STORE = f"agents/{AGENT}/agent/{DATABASE}"
STATE = "state/openclaw.sqlite"
QUARANTINE = "state/openclaw-quarantine.sqlite"
GATEWAY_PORT = 18789
IMPORT_SECONDS = 180.0

LONGEST_OUTPUT = 64_000
"""Characters of a tool's result that reach the model; the rest is cut off (both, 480 KB given)."""

FILES = Limits(
    call_id=r"[A-Za-z0-9]+", call_id_length=40, tool_names=KEPT, output_chars=LONGEST_OUTPUT,
    images=16, result_images=True,
)  # fmt: skip
ROWS = Limits(
    call_id=r"[A-Za-z0-9]+", call_id_length=40, tool_name=r"[A-Za-z0-9_.-]{1,64}",
    output_chars=LONGEST_OUTPUT, images=16, result_images=True,
)  # fmt: skip


class OpenClawWriter:
    """For one version."""

    probes: Sequence[Probe]

    def __init__(self, permit: Permit) -> None:
        version = parse(permit.version)
        self._rows = version is None or in_sqlite(version)
        self.limits = ROWS if self._rows else FILES
        self.format = "sqlite" if self._rows else "files"
        self.lookups: Sequence[Lookup] = (Lookup(name="index", path=INDEX),)
        self.probes = (Probe(name="gateway", kind="port", port=GATEWAY_PORT),)

    def plan(self, conversation: Conversation, target: Target) -> WritePlan:
        if self._rows:
            _refuse(target)
        entries = [entry for entry in conversation.entries() if entry.kind != "reasoning"]
        key = f"agent:{AGENT}:explicit:{target.session_id}"
        path = f"{FOLDER}/{target.session_id}.jsonl"
        steps: list[Step] = [
            PutKey(
                path=INDEX,
                keys=(key,),
                value=_entry(conversation, target),
                lock="sessions.json.lock",
            )
        ]
        if self._rows:
            steps.append(_import(target, key))
        return WritePlan(
            session_id=target.session_id,
            files=(FileWrite(path=path, data=_lines(conversation, target, entries)),),
            steps=tuple(steps),
            source=STORE if self._rows else path,
            command=_command(conversation, key),
            expected=tuple(entry for entry in entries if not entry.note),
            notes=_notes(self._rows),
        )


def _refuse(target: Target) -> None:
    """While the gateway runs, or where the import would take more in than ours."""
    if target.found.get("gateway"):
        raise WriteRefusedError(
            f"OpenClaw's gateway runs (port {GATEWAY_PORT} answers) and owns its database",
            hint="Stop it with `openclaw gateway stop`, switch, and start it again",
            code="gateway",
        )
    if _indexed(target.found.get("index")):
        raise WriteRefusedError(
            f"{INDEX} lists sessions of an older OpenClaw that were not taken into its database",
            hint="Run `openclaw doctor --fix` first",
            code="not-imported",
        )


def _indexed(text: Any) -> bool:
    try:
        return bool(json.loads(text)) if type(text) is str and text.strip() else False
    except (ValueError, RecursionError):
        return True


def _import(target: Target, key: str) -> RunProgram:
    program = target.program or "openclaw"
    words = ("doctor", "--session-sqlite", "import", "--session-sqlite-agent", AGENT, "--json")
    return RunProgram(
        argv=(program, *words),
        environment={"OPENCLAW_STATE_DIR": str(target.root)},
        timeout_seconds=IMPORT_SECONDS,
        hint="Stop its gateway (`openclaw gateway stop`) and what else of it runs, and try again",
        undo=(program, "sessions", "delete", key, "--agent", AGENT, "--yes"),
        backup=(STORE, STATE, QUARANTINE),
        makes=(f"agents/{AGENT}/{IMPORTED}", "session-sqlite-migration-runs"),
    )


def _command(conversation: Conversation, key: str) -> Command:
    words = ["openclaw", "tui", "--local", "--session", key]
    if conversation.pending is not None:
        words.append(f"--message={conversation.pending}")
    return Command(argv=tuple(words), cwd=conversation.cwd)


def opening(prompt: str) -> tuple[str, ...]:
    """A terminal chat that begins with a message."""
    return ("openclaw", "tui", "--local", f"--message={prompt}")


def _notes(rows: bool) -> tuple[str, ...]:
    if rows:
        return ()
    return ("OpenClaw 2026.7 begins sessions anew at 04:00; go on with this one before that.",)


# ---- what stands in the file ---------------------------------------------------------------------
def _entry(conversation: Conversation, target: Target) -> dict[str, Any]:
    """The session in the list. Times of now: an old one would be put away at the next start."""
    now = _milliseconds(target.now)
    entry: dict[str, Any] = {
        "sessionId": target.session_id, "updatedAt": now, "sessionStartedAt": now,
        "lastInteractionAt": now,
    }  # fmt: skip
    if conversation.title:
        entry["displayName"] = conversation.title
    return entry


def _lines(conversation: Conversation, target: Target, entries: Sequence[Entry]) -> bytes:
    origin = conversation.origin
    header = {
        "type": "session", "version": 3, "id": target.session_id,
        "timestamp": _iso(entries[0].timestamp), "cwd": conversation.cwd,
    }  # fmt: skip
    mark = {
        "type": "custom", "customType": MARK,
        "data": {
            "from": origin.agent, "session_id": origin.session_id,
            "context_id": origin.context_id, "masked": origin.masked,
        },
    }  # fmt: skip
    records = [mark]
    if conversation.title and conversation.title_given:
        records.append({"type": "session_info", "name": conversation.title})
    chain = [*((entries[0].timestamp, r) for r in records), *_messages(conversation, entries)]
    lines: list[dict[str, Any]] = [header]
    for number, (time, record) in enumerate(chain):
        names = {"id": _id(number), "parentId": _id(number - 1) if number else None}
        lines.append({"type": record["type"], **names, "timestamp": _iso(time), **record})
    return b"".join(_json(line) + b"\n" for line in lines)


def _id(number: int) -> str:
    """8 hex digits, as 2026.7 has them."""
    return f"{0xA0000001 + number:08x}"


def _messages(
    conversation: Conversation, entries: Sequence[Entry]
) -> Iterator[tuple[datetime, dict[str, Any]]]:
    """An answer and the calls that follow it are one record; each result is one."""
    blocks: list[dict[str, Any]] = []
    time = entries[0].timestamp
    for entry in entries:
        if blocks and (entry.kind != "tool_call"):
            yield time, _answer(conversation, blocks, time)
            blocks = []
        if not blocks:
            time = entry.timestamp
        if entry.kind == "assistant":
            blocks.append({"type": "text", "text": entry.text})
        elif entry.kind == "tool_call":
            call = {"id": entry.call_id, "name": entry.name, "arguments": dict(entry.input)}
            blocks.append({"type": "toolCall", **call})
        else:
            yield time, _told(entry)
    if blocks:
        yield time, _answer(conversation, blocks, time)


def _answer(
    conversation: Conversation, blocks: Sequence[dict[str, Any]], time: datetime
) -> dict[str, Any]:
    """With all that the program writes itself; `ultracontext` is a provider that it does not know,
    so it trusts nothing that only the same provider could verify."""
    counts = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
    cost = dict.fromkeys((*counts, "total"), 0)
    called = blocks[-1]["type"] == "toolCall"
    message = {
        "role": "assistant", "content": list(blocks), "api": "openai-completions",
        "provider": "ultracontext", "model": conversation.model or "unknown",
        "usage": {**counts, "totalTokens": 0, "cost": cost},
        "stopReason": "toolUse" if called else "stop", "timestamp": _milliseconds(time),
    }  # fmt: skip
    return {"type": "message", "message": message}


def _told(entry: Entry) -> dict[str, Any]:
    """What was typed, or a result."""
    time = _milliseconds(entry.timestamp)
    images = [_image(image) for image in entry.images]
    text = [{"type": "text", "text": entry.text}] if entry.text or not images else []
    if entry.kind == "user":
        content = [*text, *images] if images else entry.text
        return {
            "type": "message",
            "message": {"role": "user", "content": content, "timestamp": time},
        }
    message = {
        "role": "toolResult", "toolCallId": entry.call_id, "toolName": entry.name,
        "content": [*text, *images], "isError": entry.is_error, "timestamp": time,
    }  # fmt: skip
    return {"type": "message", "message": message}


def _image(image: Image) -> dict[str, Any]:
    return {"type": "image", "data": image.data, "mimeType": image.media_type}


def _json(value: Any) -> bytes:
    """As `JSON.stringify` writes it: 2026.7 rewrites a file that looks otherwise."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _iso(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"


def _milliseconds(time: datetime) -> int:
    return int(time.timestamp()) * 1000 + time.microsecond // 1000
