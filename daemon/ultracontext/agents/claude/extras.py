"""What of a record a switch needs beside its messages: pictures, and the proof of a thought."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ultracontext.agents.claude.content import blocks, media_note
from ultracontext.agents.claude.live import SUMMARY
from ultracontext.agents.claude.values import DEEPEST, mapping
from ultracontext.formats import Extras, Image
from ultracontext.model import Message
from ultracontext.redaction import MaskedRecord


def extras(record: MaskedRecord, message: Message) -> Extras:
    """The pictures of the record's prompt or of one of its results; a signed thought's block."""
    native = mapping(record.native)
    if native.get("type") == "attachment":
        content = blocks(mapping(native.get("attachment")).get("prompt"))
    else:
        content = blocks(mapping(native.get("message")).get("content"))
    if message.kind == "reasoning":
        return _proof(content, message, native)
    if message.kind == "tool_result" and message.tool is not None:
        name = message.tool.call_id
        content = [b for b in content if mapping(b).get("tool_use_id") == name]
        return Extras(images=tuple(_images(content, DEEPEST)))
    plain = [b for b in content if mapping(b).get("type") == "image"]
    return Extras(images=tuple(_images(plain, 1)))


def summarises(message: Message) -> bool:
    """The user record that stands for what was compacted."""
    return message.event_type == SUMMARY


def _proof(content: list[Any], message: Message, native: dict[str, Any]) -> Extras:
    for block in content:
        found = mapping(block)
        kind = found.get("type")
        signed = kind == "thinking" and bool(found.get("signature"))
        if signed and found.get("thinking") == message.text:
            return _signed(found, native)
        if kind == "redacted_thinking" and message.metadata.get("redacted") and found.get("data"):
            return _signed(found, native)
    return Extras()


def _signed(block: dict[str, Any], native: dict[str, Any]) -> Extras:
    model = mapping(native.get("message")).get("model")
    named = model if type(model) is str else None
    return Extras(native={"block": block, "model": named}, model=named)


def _images(content: list[Any], depth: int) -> Iterator[Image]:
    for block in content:
        found = mapping(block)
        source = mapping(found.get("source"))
        data, kind = source.get("data"), source.get("media_type")
        if found.get("type") == "image" and type(data) is str and type(kind) is str:
            size = len(data) * 3 // 4 - data[-2:].count("=")
            yield Image(media_type=kind, data=data, size_bytes=size, note=media_note(found))
        elif type(found.get("content")) is list and depth:
            yield from _images(found["content"], depth - 1)
