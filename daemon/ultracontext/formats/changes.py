"""Files that a session's tools changed: named by a call, counted when its result is no failure."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from ultracontext.model import Message, Tool

MOST_FILES = 500
MOST_WAITING = 256
"""Calls whose result has not come; the oldest are forgotten."""
LONGEST_PATH = 4096

_PATCHED = re.compile(
    r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)[ \t\r]*$", re.MULTILINE
)


class Changes:
    """Kept up to date message by message; `paths` says which files a call would change."""

    def __init__(self, paths: Callable[[Tool], Iterable[object]]) -> None:
        self._paths = paths
        self._files: dict[str, None] = {}
        self._waiting: dict[str, list[str]] = {}

    def note(self, messages: Iterable[Message], folder: str | None, *, sure: bool = False) -> None:
        """`folder` is where relative paths begin; `sure`: this source never holds results."""
        for message in messages:
            tool = message.tool
            if tool is None:
                continue
            if message.kind == "tool_call":
                self._call(tool, folder, sure)
            elif message.kind == "tool_result" or tool.output is not None:
                self._result(tool)

    @property
    def files(self) -> list[str]:
        return list(self._files)

    def _call(self, tool: Tool, folder: str | None, sure: bool) -> None:
        found = [absolute(p, folder) for p in self._paths(tool) if type(p) is str and p.strip()]
        if not found:
            return
        if sure:
            self._add(found)
            return
        self._waiting[_key(tool)] = found
        if len(self._waiting) > MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]

    def _result(self, tool: Tool) -> None:
        if not self._waiting:
            return
        found = self._waiting.pop(_key(tool), None)
        if found is not None and tool.is_error is not True:
            self._add(found)

    def _add(self, found: Iterable[str]) -> None:
        for path in found:
            if len(self._files) < MOST_FILES:
                self._files.setdefault(path)


def _key(tool: Tool) -> str:
    return tool.call_id or f"\0{tool.name}"


def patched(text: object) -> list[str]:
    """Files that a patch in the `*** Begin Patch` form names, wherever it stands in a text."""
    return _PATCHED.findall(text) if type(text) is str and "*** " in text else []


def absolute(path: str, folder: str | None) -> str:
    """A path below a folder, without `.` and `..`; Windows paths and unknown folders stay."""
    path = path.strip()[:LONGEST_PATH].removeprefix("file://")
    if not path.startswith("/"):
        if folder is None or not folder.startswith("/") or path[1:2] == ":" or path[0:1] in "~\\":
            return path
        path = f"{folder}/{path}"
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part and part != ".":
            parts.append(part)
    return "/" + "/".join(parts)
