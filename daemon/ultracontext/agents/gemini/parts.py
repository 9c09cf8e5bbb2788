"""Content of a message: a string, a Part, or a list of both.

A Part holds one of `text` (with `thought` for thinking), `functionCall`, `functionResponse`,
`inlineData` {mimeType, data}, `fileData` {mimeType, fileUri}, `executableCode`,
`codeExecutionResult`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ultracontext.agents.gemini.values import as_json, listing, mapping, text_or_none

DEEPEST = 12
_WITHOUT_TEXT = frozenset({"thoughtSignature", "videoMetadata"})


@dataclass(slots=True)
class Content:
    """A content, sorted."""

    pieces: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    responses: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Pictures and files, in words."""
    media: list[dict[str, Any]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(piece for piece in self.pieces if piece)


def parse(value: Any) -> Content:
    """The content of any of the three forms."""
    content = Content()
    for part in value if type(value) is list else [value]:
        if type(part) is str:
            content.pieces.append(part)
        elif type(part) is dict:
            _sort(part, content)
        elif part is not None:
            content.unknown.append("part/(odd)")
    return content


def _sort(part: dict[str, Any], content: Content) -> None:
    if type(part.get("text")) is str:
        into = content.thoughts if part.get("thought") else content.pieces
        into.append(part["text"])
    elif type(part.get("functionCall")) is dict:
        content.calls.append(part["functionCall"])
    elif type(part.get("functionResponse")) is dict:
        content.responses.append(part["functionResponse"])
    elif type(part.get("inlineData")) is dict or type(part.get("fileData")) is dict:
        content.notes.append(media_note(part))
        content.media.append(media(part))
    else:
        _rarer(part, content)


def _rarer(part: dict[str, Any], content: Content) -> None:
    code, result = mapping(part.get("executableCode")), mapping(part.get("codeExecutionResult"))
    if type(code.get("code")) is str:
        content.pieces.append(f"```\n{code['code']}\n```")
    elif type(result.get("output")) is str:
        content.pieces.append(result["output"])
    else:
        names = [name for name in part if name not in _WITHOUT_TEXT]
        content.unknown.extend(f"part/{name[:40]}" for name in names[:1])


def media_note(part: dict[str, Any]) -> str:
    """`[image image/png, 68 bytes]`, or with the place where the file lies."""
    found = media(part)
    said = [found["mime_type"]] if "mime_type" in found else []
    data = mapping(part.get("inlineData")).get("data")
    if type(data) is str:
        said.append(f"{len(data) * 3 // 4 - data[-2:].count('=')} bytes")
    place = text_or_none(mapping(part.get("fileData")).get("fileUri"))
    if place is not None:
        said.append(place)
    return f"[{found['type']} {', '.join(said)}]" if said else f"[{found['type']}]"


def media(part: dict[str, Any]) -> dict[str, Any]:
    """The same as values, for a message's metadata."""
    inside = mapping(part.get("inlineData")) or mapping(part.get("fileData"))
    kind = text_or_none(inside.get("mimeType"))
    named = "image" if kind is not None and kind.startswith("image/") else "file"
    return {"type": named} if kind is None else {"type": named, "mime_type": kind}


def flat(value: Any) -> str:
    """All text inside a tool's result, in order, lines between the pieces."""
    return value if type(value) is str else "\n".join(_words(value, DEEPEST))


def _words(value: Any, depth: int) -> list[str]:
    if type(value) is str:
        return [value]
    if not depth:
        return []
    if type(value) is list:
        return [word for item in value for word in _words(item, depth - 1)]
    if type(value) is not dict:
        return [] if value is None else [as_json(value)]
    if type(value.get("inlineData")) is dict or type(value.get("fileData")) is dict:
        return [media_note(value)]
    if type(value.get("functionResponse")) is dict:
        return _words(response_output(value["functionResponse"]), depth - 1)
    if type(value.get("text")) is str:
        return [value["text"]]
    return [as_json(value)]


def response_output(response: dict[str, Any]) -> Any:
    """What a functionResponse says: its `output` or `error`, else the whole answer."""
    answer = response.get("response")
    if type(answer) is dict:
        for name in ("output", "error"):
            if name in answer and len(answer) == 1:
                answer = answer[name]
                break
    more = listing(response.get("parts"))
    return [answer, *more] if more else answer


def lean(value: Any, depth: int = DEEPEST) -> Any:
    """A tool's output as it was recorded, without the bytes of pictures."""
    if type(value) is list and depth:
        return [lean(item, depth - 1) for item in value]
    if type(value) is not dict or not depth:
        return value
    if type(value.get("inlineData")) is dict:
        return {"text": media_note(value)}
    inner = value.get("functionResponse")
    if type(inner) is dict and type(inner.get("parts")) is list:
        return {**value, "functionResponse": {**inner, "parts": lean(inner["parts"], depth - 1)}}
    return value


def failed(response: dict[str, Any]) -> bool:
    """Whether a functionResponse is an error."""
    answer = mapping(response.get("response"))
    return "error" in answer and "output" not in answer
