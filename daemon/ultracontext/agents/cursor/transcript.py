"""Messages of a transcript: a JSON line each, or the whole of a legacy text."""

from __future__ import annotations

import re
from typing import Any

from ultracontext.agents.cursor.blob import texts
from ultracontext.agents.cursor.compat import LINES, PARTS
from ultracontext.agents.cursor.entry import add_call, add_result
from ultracontext.agents.cursor.typed import REDACTED, injected, said, stamped, typed
from ultracontext.agents.cursor.values import as_json, mapping, text_or_none
from ultracontext.formats.draft import Draft

_SPEAKER = re.compile(r"^(user|assistant):[ \t]*$\n?", re.MULTILINE)
_ARGUMENT = re.compile(r"\s+([\w.-]+)\s*[:=]\s?(.*)")
_CALL, _RESULT, _THINKING = "[Tool call]", "[Tool result]", "[Thinking]"


def read_line(line: dict[str, Any], draft: Draft, *, delegated: bool) -> None:
    """All messages of one line. A sub-agent's prompt comes from its parent: it is no typed one."""
    role = line.get("role")
    content = mapping(line.get("message")).get("content", line.get("content"))
    if role == "user":
        _read_prompt(content, draft, delegated)
    elif role == "assistant":
        _read_answer(content, draft)
    elif line.get("type") == "turn_ended":
        _read_end(line, draft)
    else:
        name = line.get("type", role)
        name = name if type(name) is str else "(none)"
        if name not in LINES:
            draft.unknown.append(name)
        draft.meta(name)
    if not draft.messages:
        draft.meta("empty")


def _read_prompt(content: Any, draft: Draft, delegated: bool) -> None:
    for part in content if type(content) is list else ():
        if mapping(part).get("type") == "tool_result":
            output = part.get("content")
            result = texts(output) or output
            add_result(draft, "", part.get("tool_use_id"), result, part.get("is_error") is True)
    add_prompt(texts(content), draft, delegated=delegated)


def add_prompt(text: str, draft: Draft, *, delegated: bool) -> None:
    """What was typed, or put in."""
    draft.time = stamped(text) or draft.time
    words = typed(text)
    if delegated:
        draft.system("task", words if words is not None else text)
    elif words is not None:
        draft.add("user", "user", "user", words)
    elif injected(text):
        draft.system("injected", text)
    elif text.strip():
        draft.add("user", "user", "user", text)


def _read_answer(content: Any, draft: Draft) -> None:
    for part in content if type(content) is list else [{"type": "text", "text": content}]:
        kind = mapping(part).get("type")
        if kind == "text":
            text = said(text_or_none(part.get("text")) or "")
            if text.strip():
                draft.add("assistant", "assistant", "assistant", text)
            elif REDACTED in str(part.get("text")):
                draft.meta("hidden_thinking")
        elif kind == "tool_use":
            add_call(draft, part.get("name"), part.get("id"), part.get("input"))
        else:
            name = kind if type(kind) is str else "(none)"
            if name not in PARTS:
                draft.unknown.append(f"part/{name}")
            draft.meta(f"part/{name}", as_json(part))


def _read_end(line: dict[str, Any], draft: Draft) -> None:
    status = line.get("status")
    error = text_or_none(line.get("error"))
    if status in ("error", "aborted") and (error or status == "aborted"):
        draft.system("interrupt" if status == "aborted" else "error", error or "Interrupted.")
    else:
        draft.meta("turn_ended", status if type(status) is str else "")


# ---- legacy text -----------------------------------------------------------------------------
def read_text(text: str, draft: Draft, *, delegated: bool) -> None:
    """All messages of a whole transcript (until about February 2026)."""
    blocks = _SPEAKER.split(text.replace("\r\n", "\n"))
    for speaker, block in zip(blocks[1::2], blocks[2::2], strict=True):
        if speaker == "user":
            draft.time = None
            add_prompt(block if typed(block) else block.strip("\n"), draft, delegated=delegated)
        else:
            _Answer(draft).read(block)
    if not draft.messages:
        draft.meta("transcript", "")


class _Answer:
    """One block of an assistant: texts, thoughts, calls with their arguments."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._mode = "say"
        self._lines: list[str] = []
        self._name = ""

    def read(self, block: str) -> None:
        for line in block.split("\n"):
            if line.startswith(_CALL):
                self._close("call", line[len(_CALL) :].strip())
            elif line.startswith(_RESULT):
                self._close("result", line[len(_RESULT) :].strip())
            elif line.startswith(_THINKING):
                self._close("think", "")
                self._lines.append(line[len(_THINKING) :].strip())
            elif self._mode == "say" or line.startswith("  "):
                self._lines.append(line)
            elif line.strip():
                self._close("say", "")
                self._lines.append(line)
            else:
                self._close("say", "")
        self._close("say", "")

    def _close(self, mode: str, name: str) -> None:
        """Gives what was gathered and begins something else."""
        text = "\n".join(self._lines).strip()
        if self._mode == "say" and said(text).strip():
            self._draft.add("assistant", "assistant", "assistant", said(text))
        elif self._mode == "think" and text:
            self._draft.add("assistant", "reasoning", "thinking", text)
        elif self._mode == "call":
            add_call(self._draft, self._name, None, self._arguments())
        elif self._mode == "result" and text:
            add_result(self._draft, self._name, None, text, None)
        self._mode, self._name, self._lines = mode, name, []

    def _arguments(self) -> dict[str, str]:
        found: dict[str, str] = {}
        last = None
        for line in self._lines:
            match = _ARGUMENT.fullmatch(line)
            if match is not None:
                last = match[1]
                found[last] = match[2]
            elif last is not None and line.strip():
                found[last] += "\n" + line.strip()
        return found
