"""Writes a session that Claude Code 1.0, 2.0 and 2.1 open whole (FORMAT.md sections 5 to 7).

One file, a straight chain: each line names the one before, times strictly rise, lines of one
answer share a `message.id` of their own. What we add (notes, provenance) stands in `isMeta` lines
and in a field that no version reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

from ultracontext.agents.claude.layout import SUFFIX, slug
from ultracontext.agents.claude.reader import MARK
from ultracontext.agents.claude.wrapping import pieces
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
    Target,
    WritePlan,
)
from ultracontext.formats.gate import Permit
from ultracontext.formats.versions import parse
from ultracontext.redaction import dump_json

LONGEST_NAME_BYTES = 255
CUTS_SLUGS = (2, 1)
"""From 2.1 on the folder's name is cut at 200 characters."""

Native = dict[str, Any]


class ClaudeWriter:
    """Pure: ids are made of the session's."""

    format = "jsonl"
    lookups: Sequence[Lookup] = ()
    probes: Sequence[Probe] = ()
    limits = Limits(
        call_id=r"[A-Za-z0-9_-]+",
        tool_name=r"[A-Za-z0-9_-]{1,128}",
        rising=True,
        images=20,
        image_pixels=8000,
        result_images=True,
        reasoning=True,
        window_tokens=180_000,
    )

    def __init__(self, permit: Permit) -> None:
        self.version = permit.version

    def plan(self, conversation: Conversation, target: Target) -> WritePlan:
        """One file below the folder of the project."""
        session = target.session_id
        path = f"projects/{self._folder(conversation.cwd)}/{session}{SUFFIX}"
        lines = _Lines(conversation, session, self.version)
        written = [*lines.chain(), *lines.loose()]
        argv = ["claude", "--resume", session]
        if conversation.pending is not None:
            argv.append(conversation.pending)
        return WritePlan(
            session_id=session,
            files=(FileWrite(path=path, data=b"".join(map(_line, written))),),
            source=path,
            command=Command(argv=tuple(argv), cwd=conversation.cwd),
            expected=tuple(filter(None, map(_expected, conversation.entries()))),
        )

    def _folder(self, cwd: str) -> str:
        version = parse(self.version)
        if version is not None and version.numbers[:2] < CUTS_SLUGS:
            name = "".join(_dashes(c) for c in cwd)
            if len(name) > LONGEST_NAME_BYTES:
                raise WriteRefusedError(
                    f"Claude Code {self.version} cannot work in a folder with so long a path",
                    code="refused", hint="Update it to 2.1, or give a shorter folder with --cwd",
                )  # fmt: skip
            return name
        return slug(cwd)


def _dashes(char: str) -> str:
    if char.isascii() and char.isalnum():
        return char
    return "--" if char > "\uffff" else "-"


class _Lines:
    """The records of one file."""

    def __init__(self, conversation: Conversation, session: str, version: str) -> None:
        self.conversation = conversation
        self.session = session
        self.version = version
        self.space = UUID(session)
        self.count = 0
        self.answers = 0
        self.last: str | None = None

    def chain(self) -> Iterator[Native]:
        speaking = False
        for entry in self.conversation.entries():
            mine = entry.kind in ("assistant", "reasoning", "tool_call")
            if mine and not speaking:
                self.answers += 1
            speaking = mine
            yield self._assistant(entry) if mine else self._user(entry)

    def loose(self) -> Iterator[Native]:
        """Titles, in the words of 2.1 and of 2.0 and 1.0."""
        title = self.conversation.title
        if title is None:
            return
        if self.conversation.title_given:
            yield {"type": "custom-title", "customTitle": title, "sessionId": self.session}
        else:
            yield {"type": "ai-title", "aiTitle": title, "sessionId": self.session}
        yield {"type": "summary", "summary": title, "leafUuid": self.last}

    def _record(self, kind: str, entry: Entry, message: Native) -> Native:
        name = str(uuid5(self.space, str(self.count)))
        record: Native = {
            "parentUuid": self.last, "isSidechain": False, "userType": "external",
            "cwd": self.conversation.cwd, "sessionId": self.session, "version": self.version,
            "gitBranch": self.conversation.git_branch or "", "entrypoint": "cli", "type": kind,
            "message": message, "uuid": name, "timestamp": _iso(entry.timestamp),
        }  # fmt: skip
        if self.count == 0:
            record[MARK] = _provenance(self.conversation)
        self.count += 1
        self.last = name
        return record

    def _user(self, entry: Entry) -> Native:
        message: Native = {"role": "user", "content": _content(entry)}
        record = self._record("user", entry, message)
        if entry.note:
            record["isMeta"] = True
        return record

    def _assistant(self, entry: Entry) -> Native:
        model = self._model(entry)
        message: Native = {
            "id": f"msg_uc_{self.space.hex[:12]}_{self.answers}", "type": "message",
            "role": "assistant", "content": [_block(entry)], "stop_reason": None,
            "stop_sequence": None, "usage": {"input_tokens": 0, "output_tokens": 0},
        }  # fmt: skip
        if model is not None:
            message["model"] = model
        return self._record("assistant", entry, message)

    def _model(self, entry: Entry) -> str | None:
        """A proof holds for its model only; other lines need none."""
        if entry.kind == "reasoning" and isinstance(entry.native, dict):
            named = entry.native.get("model")
            return named if isinstance(named, str) else None
        return None


def _content(entry: Entry) -> Any:
    if entry.kind == "tool_result":
        block: Native = {
            "type": "tool_result", "tool_use_id": entry.call_id,
            "content": _mixed(entry) if entry.images else entry.text,
        }  # fmt: skip
        if entry.is_error:
            block["is_error"] = True
        return [block]
    return _mixed(entry) if entry.images else entry.text


def _mixed(entry: Entry) -> list[Native]:
    text: list[Native] = [{"type": "text", "text": entry.text}] if entry.text.strip() else []
    return [*text, *map(_image, entry.images)]


def _image(image: Image) -> Native:
    source = {"type": "base64", "media_type": image.media_type, "data": image.data}
    return {"type": "image", "source": source}


def _block(entry: Entry) -> Any:
    if entry.kind == "tool_call":
        return {
            "type": "tool_use", "id": entry.call_id, "name": entry.name, "input": dict(entry.input)
        }  # fmt: skip
    if entry.kind == "reasoning" and isinstance(entry.native, dict):
        return entry.native.get("block")
    return {"type": "text", "text": entry.text}


def _expected(entry: Entry) -> Entry | None:
    """As our reader gives it back: what looks like the program's own words is no typed text."""
    if entry.note:
        return None
    if entry.kind != "user":
        return entry
    found = pieces(entry.text)
    typed = [piece.text for piece in found if piece.event_type is None]
    if len(typed) == len(found) == 1:
        return entry
    return replace(entry, text="\n".join(typed)) if typed or entry.images else None


def _provenance(conversation: Conversation) -> Native:
    origin = conversation.origin
    return {
        "from": origin.agent, "session_id": origin.session_id, "context_id": origin.context_id,
        "masked": origin.masked,
    }  # fmt: skip


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _line(record: Native) -> bytes:
    return dump_json(record) + b"\n"
