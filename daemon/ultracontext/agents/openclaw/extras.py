"""Pictures of a prompt or a result: `image` parts {data, mimeType} of a message's content."""

from __future__ import annotations

from typing import Any

from ultracontext.agents.openclaw.live import COMPACTIONS
from ultracontext.agents.openclaw.values import listing, mapping, text_or_none
from ultracontext.formats import Extras, Image
from ultracontext.model import Message
from ultracontext.redaction import MaskedRecord


def extras(record: MaskedRecord, message: Message) -> Extras:
    """All of the record: it holds one message that may have some."""
    del message
    native = mapping(record.native)
    event = mapping(native.get("value")) if native.get("table") == "transcript" else native
    parts = listing(mapping(event.get("message")).get("content"))
    found = [_image(mapping(part)) for part in parts]
    return Extras(images=tuple(image for image in found if image is not None))


def summarises(message: Message) -> bool:
    """What a compaction leaves in place of the turns before it."""
    return message.event_type in COMPACTIONS


def _image(part: dict[str, Any]) -> Image | None:
    kind, data = text_or_none(part.get("mimeType")), part.get("data")
    if part.get("type") != "image" or kind is None or type(data) is not str:
        return None
    size = len(data) * 3 // 4 - data[-2:].count("=")
    return Image(media_type=kind, data=data, size_bytes=size, note=f"[image {kind}, {size} bytes]")
