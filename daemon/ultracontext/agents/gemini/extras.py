"""Pictures of a prompt, and what a compression leaves: `inlineData` Parts of its content."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ultracontext.agents.gemini.guard import unguarded
from ultracontext.agents.gemini.parts import media_note, parse
from ultracontext.agents.gemini.values import listing, mapping, text_or_none
from ultracontext.agents.gemini.wrapping import SUMMARY
from ultracontext.formats import Extras, Image
from ultracontext.model import Message
from ultracontext.redaction import MaskedRecord


def extras(record: MaskedRecord, message: Message) -> Extras:
    """Those of the message; none where its record does not hold it any more."""
    for native in _turns(mapping(record.native)):
        if _tells(native, message):
            parts = [part for part in listing(native.get("content")) if type(part) is dict]
            return Extras(images=tuple(_images(parts)))
    return Extras()


def summarises(message: Message) -> bool:
    """What a compression leaves in place of the turns before it."""
    return message.event_type == SUMMARY


def _turns(native: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The record itself, or the messages of a list in it."""
    whole = mapping(native.get("$set")) or native
    for item in listing(whole.get("messages")):
        if type(item) is dict:
            yield item
    for item in listing(whole.get("history")):
        yield {"type": "user", "content": mapping(item).get("parts")}
    if "role" in native:
        yield {"type": "user", "content": native.get("parts")}
    yield native


def _tells(native: dict[str, Any], message: Message) -> bool:
    content = parse(native.get("content"))
    if native.get("type") != "user" or not content.media:
        return False
    named = message.metadata.get("message_id")
    if named is not None:
        return bool(native.get("id") == named)
    shown = parse(native.get("displayContent")).text
    return shown == message.text or unguarded("\n".join(content.pieces)) in message.text


def _images(parts: list[dict[str, Any]]) -> Iterator[Image]:
    for part in parts:
        inside = mapping(part.get("inlineData"))
        kind, data = text_or_none(inside.get("mimeType")), inside.get("data")
        if kind is not None and kind.startswith("image/") and type(data) is str:
            size = len(data) * 3 // 4 - data[-2:].count("=")
            yield Image(media_type=kind, data=data, size_bytes=size, note=media_note(part))
