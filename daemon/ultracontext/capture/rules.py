"""Which sessions are captured: rules on their project, as values, without I/O.

A glob matches a folder and all below: `/home/me/secret`, `~/private/*`, `client-*` (any folder of
that name); `*` stays within one name, `**` does not. Paths are masked before they come here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from functools import cache

IGNORE_FILE = ".ultracontextignore"


class Verdict(Enum):
    """What is to be done with a record."""

    TAKE = "take"
    IGNORE = "ignore"
    WAIT = "wait"
    """Not stored and not passed over: it is read again once the answer is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What a person chose. Empty rules take everything."""

    include: tuple[str, ...] = ()
    """Globs; empty = all projects."""
    exclude: tuple[str, ...] = ()
    sessions: frozenset[str] = frozenset()
    """Native session ids that are left out, their sub-agents too."""
    ignored: frozenset[str] = frozenset()
    """Folders that hold an ignore file."""
    paused: frozenset[str] = frozenset()
    """Folders whose sessions wait."""
    home: str = field(default="", compare=False)
    """What `~/` means."""

    @property
    def names_projects(self) -> bool:
        """Whether a session has to wait until its project is known."""
        return bool(self.include or self.exclude or self.ignored or self.paused)

    def __bool__(self) -> bool:
        return self.names_projects or bool(self.sessions)

    def excludes(self, folder: str) -> bool:
        """Whether sessions that work in a folder are left out, or stop there."""
        return _below_any(folder, self.ignored) or any(
            _matcher(glob, self.home).match(folder) for glob in self.exclude
        )

    def verdict(self, session_id: str, project: str | None) -> Verdict:
        """The answer for a session as a whole; `project` is the folder that it began in."""
        if session_id in self.sessions:
            return Verdict.IGNORE
        if project is None:
            return Verdict.WAIT if self.names_projects else Verdict.TAKE
        if self.excludes(project) or not self._includes(project):
            return Verdict.IGNORE
        return Verdict.WAIT if self.pauses(project) else Verdict.TAKE

    def pauses(self, folder: str) -> bool:
        return _below_any(folder, self.paused)

    def _includes(self, project: str) -> bool:
        return not self.include or any(
            _matcher(glob, self.home).match(project) for glob in self.include
        )


def _below_any(folder: str, places: Iterable[str]) -> bool:
    return any(folder == p or folder.startswith(p.rstrip("/") + "/") for p in places)


@cache
def _matcher(glob: str, home: str) -> re.Pattern[str]:
    glob = glob.strip()
    if glob == "~" or glob.startswith("~/"):
        begin, glob = re.escape(home.rstrip("/")), glob[1:]
    elif glob.startswith(("/", "**")):
        begin = ""
    else:
        begin = "(?:.*/)?"
    while glob.endswith(("/", "/**")):
        glob = glob.removesuffix("/**").rstrip("/")
    return re.compile(begin + _translated(glob) + r"(?:/.*)?\Z", re.DOTALL)


def _translated(glob: str) -> str:
    parts = re.split(r"(/\*\*/|\*\*/|\*\*|\*|\?)", glob)
    return "".join(_WILD.get(part) or re.escape(part) for part in parts)


_WILD = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
