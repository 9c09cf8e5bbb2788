"""Content of a message: a string, or a list of blocks that may nest.

Pictures and documents become a short note; their bytes stay in the native record.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ultracontext.agents.claude.values import DEEPEST, mapping

MEDIA = ("image", "document")


def blocks(content: Any) -> list[Any]:
    """The content as a list of blocks."""
    if type(content) is str:
        return [{"type": "text", "text": content}]
    if type(content) is list:
        return content
    return [content] if type(content) is dict else []


def flat(content: Any) -> str:
    """All text inside a content, in order, lines between the pieces."""
    if type(content) is str:
        return content
    return "\n".join(_pieces(content, DEEPEST))


def _pieces(value: Any, depth: int) -> Iterator[str]:
    if type(value) is str:
        yield value
    elif type(value) is list and depth:
        for item in value:
            yield from _pieces(item, depth - 1)
    elif type(value) is dict and depth:
        yield from _block(value, depth)


def _block(block: dict[str, Any], depth: int) -> Iterator[str]:
    if block.get("type") in MEDIA:
        yield media_note(block)
        return
    for key in ("text", "content"):
        if block.get(key) is not None:
            yield from _pieces(block[key], depth - 1)


def output(content: Any) -> Any:
    """A tool's output as it was, a string or a list, without the bytes of pictures."""
    return _lean(content, DEEPEST) if type(content) is list else content


def _lean(value: Any, depth: int) -> Any:
    if type(value) is list and depth:
        return [_lean(item, depth - 1) for item in value]
    if type(value) is dict and value.get("type") in MEDIA:
        return {"type": value["type"], "text": media_note(value)}
    if type(value) is dict and type(value.get("content")) is list and depth:
        return {**value, "content": _lean(value["content"], depth - 1)}
    return value


def media_note(block: dict[str, Any]) -> str:
    """`[image image/png, 68 bytes]`, or with the place where the picture lies."""
    kind = block["type"]
    source = mapping(block.get("source"))
    parts = [part for part in (source.get("media_type"), _extent(source)) if type(part) is str]
    return f"[{kind} {', '.join(parts)}]" if parts else f"[{kind}]"


def _extent(source: dict[str, Any]) -> str | None:
    data = source.get("data")
    if type(data) is str and source.get("type") == "base64":
        return f"{len(data) * 3 // 4 - data[-2:].count('=')} bytes"
    if type(data) is str:
        return f"{len(data)} characters"
    place = source.get("url") or source.get("file_id")
    return place if type(place) is str else None


def media(block: dict[str, Any]) -> dict[str, Any]:
    """The same as values, for a message's metadata."""
    source = mapping(block.get("source"))
    kept = {"type": block["type"]}
    if type(source.get("media_type")) is str:
        kept["media_type"] = source["media_type"]
    return kept
