"""Texts and images of `content` values."""

from __future__ import annotations

from typing import Any, NamedTuple

TEXT_TYPES = frozenset(
    {"input_text", "output_text", "text", "Text", "refusal", "summary_text", "reasoning_text"}
)
IMAGE_TYPES = frozenset({"input_image", "image", "local_image", "Image"})
AUDIO_TYPES = frozenset({"input_audio", "audio", "local_audio"})


def _is(kind: object, kinds: frozenset[str]) -> bool:
    return type(kind) is str and kind in kinds


class Media(NamedTuple):
    """An attachment, told without its bytes."""

    placeholder: str
    facts: dict[str, Any]


def text_of(part: object) -> str | None:
    """The text of one part, None when it has none."""
    if type(part) is str:
        return part
    if type(part) is dict and ("type" not in part or _is(part["type"], TEXT_TYPES)):
        text = part.get("text")
        if type(text) is not str:
            text = part.get("refusal")
        return text if type(text) is str else None
    return None


def media_of(part: object) -> Media | None:
    """The image or sound of one part."""
    if type(part) is not dict:
        return None
    kind = part.get("type")
    if _is(kind, IMAGE_TYPES):
        place = part.get("image_url", part.get("path", part.get("url")))
        return media("image", place.get("url") if type(place) is dict else place)
    if _is(kind, AUDIO_TYPES):
        return media("audio", part.get("audio_url", part.get("path")))
    return None


def media(what: str, place: object) -> Media:
    """A placeholder for an attachment given as a path, an address or a data URL."""
    if type(place) is not str or not place:
        return Media(f"[{what}]", {"kind": what})
    if place.startswith("data:"):
        head = place[:200].partition(",")[0]
        mime = head[5:].partition(";")[0]
        size = max(len(place) - len(head) - 1, 0)
        if ";base64" in head:
            size = size * 3 // 4
        return Media(f"[{what} {mime}]", {"kind": what, "media_type": mime, "bytes": size})
    path = place.removeprefix("file://")
    return Media(f"[{what} {path[:200]}]", {"kind": what, "path": path})


def texts(content: object) -> list[str]:
    """All texts of a content value, which may be a string or a list of parts."""
    if type(content) is str:
        return [content]
    if type(content) is list:
        return [text for part in content if (text := text_of(part)) is not None]
    return []


def readable(value: object) -> str:
    """A content value as one text: texts and placeholders, one a line."""
    if type(value) is str:
        return value
    if type(value) is not list:
        return ""
    lines = []
    for part in value:
        text = text_of(part)
        if text is not None:
            lines.append(text)
        elif (found := media_of(part)) is not None:
            lines.append(found.placeholder)
    return "\n".join(lines)
