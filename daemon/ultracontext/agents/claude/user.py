"""Messages of a `user` record: typed text, tool results, and what the program wrote there."""

from __future__ import annotations

from typing import Any

from ultracontext.agents.claude.content import MEDIA, blocks, flat, media, media_note, output
from ultracontext.agents.claude.spill import companion, spilled
from ultracontext.agents.claude.values import identifier, mapping, text_or_none
from ultracontext.agents.claude.wrapping import pieces
from ultracontext.formats.draft import Draft
from ultracontext.model import Tool
from ultracontext.redaction import MaskedRecord


def read_user(record: MaskedRecord, draft: Draft) -> None:
    """One message for the typed text of the record (with notes of its pictures), one for each
    result and one for each stretch that was not typed, in the order in which they stand.
    """
    native = record.native
    content = mapping(native.get("message")).get("content")
    origin = injection(native)
    if type(content) is str and origin is None:
        say(content, draft)
        return
    found = blocks(content)
    if origin is None and any(
        type(block) is dict and block.get("type") == "tool_result" for block in found
    ):
        origin = "injected"
    prompt = Prompt(draft, origin)
    for block in found:
        _block(block, prompt, record)
    prompt.flush()
    if not draft.messages:
        draft.meta("user")


def injection(native: dict[str, Any]) -> str | None:
    """What its own flags say of a record that the program wrote; None: look at the text."""
    if native.get("isCompactSummary") is True:
        return "compact_summary"
    if native.get("isMeta") is True or native.get("rowSource") == "harness":
        return "injected"
    origin = native.get("origin")
    if type(origin) is dict and text_or_none(origin.get("kind")) not in (None, "human"):
        return "injected"
    return None


def say(text: str, draft: Draft) -> None:
    """A user text by its own wrapping."""
    prompt = Prompt(draft, None)
    prompt.text(text)
    prompt.flush()


class Prompt:
    """Joins what was typed in one record; lets everything else through as it comes."""

    def __init__(self, draft: Draft, origin: str | None) -> None:
        self._draft = draft
        self._origin = origin
        self._typed: list[str] = []
        self._media: list[dict[str, Any]] = []

    def text(self, text: str) -> None:
        for event_type, piece in pieces(text):
            if event_type is None:
                self._typed.append(piece)
            else:
                self.flush()
                self._draft.system(event_type, piece)

    def medium(self, block: dict[str, Any]) -> None:
        self._typed.append(media_note(block))
        self._media.append(media(block))

    def result(self, block: dict[str, Any], record: MaskedRecord) -> None:
        self.flush()
        add_result(block, record, self._draft)

    def unknown(self, kind: str, text: str) -> None:
        self.flush()
        self._draft.unknown.append(f"block/{kind}")
        self._draft.meta("user", text, {"block": kind})

    def flush(self) -> None:
        if not self._typed:
            return
        text = (
            "\n".join(part for part in self._typed if part) if self._typed[1:] else self._typed[0]
        )
        extra: dict[str, Any] | None = {"media": self._media} if self._media else None
        if self._origin is not None:
            self._draft.system(self._origin, text, extra)
        elif self._draft.delegated:
            self._draft.add(
                "user", "system", "task", text, extra={"from": "parent", **(extra or {})}
            )
        else:
            self._draft.add("user", "user", "user", text, extra=extra)
        self._typed, self._media = [], []


def _block(block: Any, prompt: Prompt, record: MaskedRecord) -> None:
    if type(block) is str:
        prompt.text(block)
        return
    if type(block) is not dict:
        prompt.unknown("(odd)", "")
        return
    kind = block.get("type")
    if kind == "text":
        prompt.text(block["text"] if type(block.get("text")) is str else flat(block))
    elif kind == "tool_result":
        prompt.result(block, record)
    elif kind in MEDIA:
        prompt.medium(block)
    else:
        prompt.unknown(kind if type(kind) is str else "(odd)", flat(block))


def add_result(block: dict[str, Any], record: MaskedRecord, draft: Draft) -> None:
    """A tool's result, whole where capture found the file that it was spilled to."""
    call_id = identifier(block.get("tool_use_id")) or ""
    content, note = block.get("content"), ""
    extra = _circumstances(record.native)
    path = spilled(content)
    if path is not None:
        whole = record.companions.get(companion(call_id))
        extra["spilled"] = "preview" if whole is None else "whole"
        if whole is not None:
            content, note = whole, f"[whole output, from {path}]\n"
    failed = block.get("is_error")
    tool = Tool(
        call_id=call_id,
        output=output(content),
        is_error=failed if type(failed) is bool else None,
    )
    draft.add("tool", "tool_result", "user", note + flat(content), tool=tool, extra=extra)


def _circumstances(native: dict[str, Any]) -> dict[str, Any]:
    """What the screen's copy of a result says beyond the result."""
    extra: dict[str, Any] = {}
    seen = native.get("toolUseResult")
    if type(seen) is dict:
        agent = identifier(seen.get("agentId"))
        if agent is not None:
            extra["subagent"] = agent
        if seen.get("interrupted") is True:
            extra["interrupted"] = True
    denial = text_or_none(native.get("toolDenialKind"))
    if denial is not None:
        extra["denied"] = denial
    return extra
