"""Writes sessions that Gemini CLI resumes with `--resume ID`.

Two formats: JSON Lines for 0.39 and later, one document before (runs of 0.29.0 and 0.61.0 with
their own files and with ours). In both a tool's result stands in its call, once: the CLI makes the
functionResponse of it. `lastUpdated` is now, or the CLI would delete an old session at its start.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from ultracontext.agents.gemini.compat import MARK
from ultracontext.agents.gemini.folder import LOOKUPS, folder_for, hashed
from ultracontext.agents.gemini.guard import endangered, guarded
from ultracontext.formats import (
    Command,
    Conversation,
    Entry,
    FileWrite,
    Image,
    Limits,
    Lookup,
    Loss,
    Probe,
    Target,
    WritePlan,
)
from ultracontext.formats.gate import Permit
from ultracontext.formats.versions import parse

LINES_SINCE = (0, 39)
SLUGS_SINCE = (0, 29)

LIMITS = Limits(
    tool_name=r"[A-Za-z_][A-Za-z0-9_.:-]{0,62}",
    images=16,
    window_tokens=524_288,
    history_bytes=2_000_000,
)
"""Above half of its window of 1,048,576 tokens, or about 2 MB, the CLI compresses a history before
it sends it (run of 0.61.0: of one message of 8 MB the model got a summary). The names are those
that the service takes; the CLI itself keeps any."""


class GeminiWriter:
    """For one version."""

    limits = LIMITS
    lookups: Sequence[Lookup] = LOOKUPS
    probes: Sequence[Probe] = ()

    def __init__(self, permit: Permit) -> None:
        version = parse(permit.version)
        numbers = version.numbers if version is not None else LINES_SINCE
        self._lines = numbers >= LINES_SINCE
        self._slugs = numbers >= SLUGS_SINCE
        self.format = "jsonl" if self._lines else "json"

    def plan(self, conversation: Conversation, target: Target) -> WritePlan:
        name = UUID(target.session_id)
        entries = _named(conversation)
        messages = [
            {"id": str(uuid5(name, str(number))), **message}
            for number, message in enumerate(_messages(entries))
        ]
        head = _head(conversation, target, entries)
        data = _lines(head, messages) if self._lines else _document(head, messages)
        path, files = self._place(conversation, target, entries[0].timestamp)
        saved = sum(e.kind == "user" and endangered(e.text) for e in entries)
        return WritePlan(
            session_id=target.session_id,
            files=(*files, FileWrite(path=path, data=data)),
            source=path,
            command=_command(conversation, target),
            expected=tuple(_as_read(entries)),
            losses=(Loss(kind="text_safety", count=saved),) if saved else (),
        )

    def _place(
        self, conversation: Conversation, target: Target, started: datetime
    ) -> tuple[str, list[FileWrite]]:
        """The session's path, and the marker of its folder where that is missing."""
        suffix = "jsonl" if self._lines else "json"
        file = f"chats/session-{_minute(started, target.now)}-{target.session_id[:8]}.{suffix}"
        if not self._slugs:
            return f"tmp/{hashed(conversation.cwd)}/{file}", []
        folder = folder_for(conversation.cwd, target.found)
        marker = f"tmp/{folder.name}/.project_root"
        made = [FileWrite(path=marker, data=folder.marker.encode())] if folder.marker else []
        return f"tmp/{folder.name}/{file}", made


def _minute(started: datetime, now: datetime) -> str:
    """Never the present minute: in it the CLI would open its own new file under the same name."""
    return min(started, now - timedelta(minutes=2)).strftime("%Y-%m-%dT%H-%M")


def _command(conversation: Conversation, target: Target) -> Command:
    words = ["gemini", "--resume", target.session_id]
    if conversation.pending is not None:
        words.append(f"--prompt-interactive={guarded(conversation.pending)}")
    return Command(argv=tuple(words), cwd=conversation.cwd)


def opening(prompt: str) -> tuple[str, ...]:
    """`gemini -i`: a first prompt, then the person's turn."""
    return ("gemini", f"--prompt-interactive={guarded(prompt)}")


# ---- what stands in the file ---------------------------------------------------------------------
def _head(conversation: Conversation, target: Target, entries: Sequence[Entry]) -> dict[str, Any]:
    origin = conversation.origin
    head: dict[str, Any] = {
        "sessionId": target.session_id,
        "projectHash": hashed(conversation.cwd),
        "startTime": _iso(entries[0].timestamp),
        "lastUpdated": _iso(target.now),
        "kind": "main",
    }
    if conversation.title:
        head["summary"] = conversation.title
    head[MARK] = {
        "from": origin.agent, "session_id": origin.session_id, "context_id": origin.context_id,
        "masked": origin.masked,
    }  # fmt: skip
    return head


def _lines(head: dict[str, Any], messages: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(_json(line) + b"\n" for line in (head, *messages))


def _document(head: dict[str, Any], messages: Sequence[dict[str, Any]]) -> bytes:
    whole = {**head, "messages": messages}
    return json.dumps(whole, ensure_ascii=False, indent=2).encode()


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def _iso(time: datetime) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.") + f"{time.microsecond // 1000:03d}Z"


def _messages(entries: Sequence[Entry]) -> Iterator[dict[str, Any]]:
    """An answer and the calls that follow it are one message, with the calls' results."""
    results = {entry.call_id: entry for entry in entries if entry.kind == "tool_result"}
    waiting: dict[str, Any] | None = None
    for entry in entries:
        if entry.kind == "tool_call":
            waiting = waiting or _message(entry, "gemini", "")
            waiting.setdefault("toolCalls", []).append(_call(entry, results.get(entry.call_id)))
        elif entry.kind != "tool_result":
            if waiting is not None:
                yield waiting
            waiting = _message(entry, "gemini", entry.text) if entry.kind == "assistant" else None
            if entry.kind == "user":
                yield _message(entry, "user", _parts(entry))
        elif waiting is not None and "toolCalls" in waiting:
            yield waiting
            waiting = None
    if waiting is not None:
        yield waiting


def _message(entry: Entry, kind: str, content: Any) -> dict[str, Any]:
    return {"timestamp": _iso(entry.timestamp), "type": kind, "content": content}


def _parts(entry: Entry) -> list[dict[str, Any]]:
    text = [{"text": guarded(entry.text)}] if entry.text else []
    return [*text, *(_inline(image) for image in entry.images)]


def _inline(image: Image) -> dict[str, Any]:
    return {"inlineData": {"mimeType": image.media_type, "data": image.data}}


def _call(call: Entry, result: Entry | None) -> dict[str, Any]:
    failed = result is None or result.is_error
    said = "error" if failed else "output"
    text = result.text if result is not None else ""
    response = {"id": call.call_id, "name": call.name, "response": {said: text}}
    return {
        "id": call.call_id,
        "name": call.name,
        "args": dict(call.input),
        "result": [{"functionResponse": response}],
        "status": "error" if failed else "success",
        "timestamp": _iso((result or call).timestamp),
        "resultDisplay": text,
    }


def _as_read(entries: Sequence[Entry]) -> Iterator[Entry]:
    """What our reader gives: no notes, and each call with its result behind it."""
    results = {entry.call_id: entry for entry in entries if entry.kind == "tool_result"}
    for entry in entries:
        if entry.kind == "tool_result" or entry.note:
            continue
        yield entry
        if entry.kind == "tool_call" and entry.call_id in results:
            yield results[entry.call_id]


# ---- ids -----------------------------------------------------------------------------------------
def _named(conversation: Conversation) -> list[Entry]:
    """The entries; call ids lose the tool's name before them, which the CLI would take off."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    entries = list(conversation.entries())
    for entry in entries:
        if entry.kind == "tool_call":
            names[entry.call_id] = _plain(entry, taken)
            taken.add(names[entry.call_id])
    return [_renamed(entry, names) for entry in entries if entry.kind != "reasoning"]


def _plain(call: Entry, taken: set[str]) -> str:
    plain = call.call_id.removeprefix(f"{call.name}__") or call.call_id
    number, chosen = 0, plain
    while chosen in taken:
        number += 1
        chosen = f"{plain}-{number}"
    return chosen


def _renamed(entry: Entry, names: dict[str, str]) -> Entry:
    wanted = names.get(entry.call_id, entry.call_id)
    return entry if wanted == entry.call_id else replace(entry, call_id=wanted)
