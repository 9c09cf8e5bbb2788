"""Which folder a session belongs to: its records do not say.

Best first: the marker `.project_root` of the project's folder; the registry `projects.json`, for
the slug; a path whose sha256 is the session's `projectHash` (runs of 0.24.5 and 0.61.0: the hash of
the absolute path). Candidates for the last are the registry, the session's `directories`, the
workspace named in the context block, and the folders above the files that tools touched: a hash
proves them. What nothing proves stays unknown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from ultracontext.agents.gemini.layout import project_of
from ultracontext.agents.gemini.values import listing, mapping
from ultracontext.formats import Need

MARKER, SHADOW_MARKER, REGISTRY = "project-root", "history-root", "projects"
MOST_TRIES = 400
"""Paths that are hashed for one session at most."""

MOST_HASHES = 8
LONGEST_PATH = 4096
_HASH = re.compile(r"[0-9a-f]{64}")
_ROOTED = re.compile(r"/|[A-Za-z]:[/\\]|\\\\")
_WORKSPACE = re.compile(r"^\s+- ([/\\A-Za-z][^\n]*)$", re.MULTILINE)
_FILES = ("file_path", "absolute_path", "dir_path", "path")


def needs(up: str, project: str) -> Iterator[Need]:
    """The files that say which folder a project is; `up` leads to the project's folder."""
    yield Need(name=MARKER, path=f"{up}.project_root")
    yield Need(name=SHADOW_MARKER, path=f"{up}../../history/{project}/.project_root")
    yield Need(name=REGISTRY, path=f"{up}../../projects.json")


class Project:
    """What is known of a session's folder."""

    def __init__(self) -> None:
        self._marked: str | None = None
        self._registered: str | None = None
        self._proven: str | None = None
        self._hashes: set[str] = set()
        self._candidates: list[str] = []
        self._tries = MOST_TRIES

    @property
    def path(self) -> str | None:
        return self._marked or self._registered or self._proven

    def note_companions(self, source: str, companions: Mapping[str, str]) -> None:
        """Reads the marker and the registry that came with a record."""
        for name in (MARKER, SHADOW_MARKER):
            marked = _rooted(companions.get(name, "").strip("\r\n"))
            if marked is not None and self._marked is None:
                self._marked = marked
        if REGISTRY in companions:
            self._note_registry(source, companions[REGISTRY])

    def _note_registry(self, source: str, text: str) -> None:
        try:
            registry = mapping(mapping(json.loads(text)).get("projects"))
        except (ValueError, RecursionError):
            return
        slug = project_of(source)
        for path, name in registry.items():
            if name == slug and _rooted(path) and self._registered is None:
                self._registered = path
        for path in registry:
            self.consider(path)

    def note_hash(self, source: str, value: Any) -> None:
        """The session's own hash, and the folder's name where it is one."""
        for found in (value, project_of(source)):
            if type(found) is not str or found in self._hashes or not _HASH.fullmatch(found):
                continue
            if len(self._hashes) < MOST_HASHES:
                self._hashes.add(found)
                waiting, self._candidates = self._candidates, []
                for path in waiting:
                    self.consider(path)

    def note_directories(self, value: Any) -> None:
        for path in listing(value)[:16]:
            self.consider(path)

    def note_context(self, text: str) -> None:
        """The workspace folders that a context block names."""
        if self.path is None:
            for path in _WORKSPACE.findall(text[:20_000])[:16]:
                self.consider(path.rstrip())

    def note_call(self, given: Any) -> None:
        """The folders above a file that a tool touched."""
        if self.path is not None or type(given) is not dict:
            return
        for name in _FILES:
            for path in _upwards(given.get(name)):
                if self._tries:
                    self.consider(path)

    def consider(self, path: Any) -> None:
        """Takes a path if its hash is the session's."""
        found = _rooted(path)
        if self._proven is not None or found is None or not self._tries:
            return
        if not self._hashes:
            if len(self._candidates) < MOST_TRIES:
                self._candidates.append(found)
            return
        self._tries -= 1
        if sha256(found.encode("utf-8", "surrogatepass")).hexdigest() in self._hashes:
            self._proven = found


def _rooted(path: Any) -> str | None:
    """The path when it is absolute."""
    if type(path) is not str or len(path) > LONGEST_PATH or not _ROOTED.match(path):
        return None
    return path


def _upwards(path: Any) -> Iterator[str]:
    """The path and the folders above it."""
    found = _rooted(path)
    while found:
        yield found
        found = found[: max(found.rfind("/"), found.rfind("\\"), 0)]
