"""What of a record a switch needs beside its messages: pictures, and encrypted thoughts."""

from __future__ import annotations

from collections.abc import Iterator

from ultracontext.agents.codex.content import media_of
from ultracontext.agents.codex.line import as_dict, as_text
from ultracontext.formats import Extras, Image
from ultracontext.model import Message
from ultracontext.redaction import MaskedRecord

COMPACTED = "compacted"
SUMMARIES = ("/compaction_summary", "/compaction.summary")
"""By the form of the text, and by the label that 0.171 gives it."""


def extras(record: MaskedRecord, message: Message) -> Extras:
    """Pictures of an item or an event; the item of a thought that its service can verify."""
    payload = as_dict(as_dict(record.native).get("payload"))
    if message.kind == "reasoning":
        proof = payload.get("type") == "reasoning" and payload.get("encrypted_content")
        return Extras(native=payload) if proof else Extras()
    for key in ("content", "output"):
        if type(payload.get(key)) is list:
            return Extras(images=tuple(_images(payload[key])))
    return Extras()


def summarises(message: Message) -> bool:
    """A `compacted` record, or the user's item that it left in the history."""
    return message.event_type == COMPACTED or message.event_type.endswith(SUMMARIES)


def _images(parts: list[object]) -> Iterator[Image]:
    for part in parts:
        found = media_of(part)
        address = as_text(as_dict(part).get("image_url"))
        head, comma, data = address.partition(",")
        if found is None or not comma or not head.endswith(";base64"):
            continue
        size = len(data) * 3 // 4 - data[-2:].count("=")
        yield Image(media_type=head[5:-7], data=data, size_bytes=size, note=found.placeholder)
