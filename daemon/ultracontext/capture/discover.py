"""Which files there are: a walk over the agents' known folders, by `scandir` and `stat` only."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ultracontext.capture.database import database_look
from ultracontext.capture.source import Look
from ultracontext.formats import AgentSpec, Engine, SourceFacts

MAX_DEPTH = 12
MAX_AWAITED = 4
"""Folders above a missing one that may be watched for its coming."""


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be a source."""

    spec: AgentSpec
    root: str
    path: str
    look: Look
    facts: SourceFacts


class Walk:
    """One sweep over all roots. Folders that cannot be read are collected, not raised."""

    def __init__(
        self,
        agents: Sequence[AgentSpec],
        roots: Mapping[str, Sequence[Path]],
        known: Callable[[str], SourceFacts | None],
        unchanged: Callable[[str, os.stat_result], bool],
    ) -> None:
        self._agents = agents
        self._roots = roots
        self._known = known
        self._unchanged = unchanged
        """Whether a path is a source that is read to its end and has not changed since."""
        self.unreadable: list[tuple[str, str, str]] = []
        """(agent, path, reason) of this sweep."""
        self.folders: dict[str, bool] = {}
        """Existing top folders of this sweep, to be watched; whether with all that is below."""

    def __iter__(self) -> Iterator[Found]:
        self.unreadable, self.folders = [], {}
        for spec in self._agents:
            for root in dict.fromkeys(os.fspath(r) for r in self._roots.get(spec.slug, ())):
                yield from self._root(spec, root)

    def _root(self, spec: AgentSpec, root: str) -> Iterator[Found]:
        for name in spec.files:
            yield from self._file(spec, root, os.path.join(root, name))
        for folder in spec.folders:
            top = os.path.join(root, folder) if folder else root
            if os.path.isdir(top):
                self.folders[top] = True
                yield from self._folder(spec, root, top, 0, set())
            else:
                self._await(top)
        if spec.files and os.path.isdir(root):
            self.folders.setdefault(root, False)

    def _await(self, folder: str) -> None:
        """Watches where a missing folder would appear, so that a new agent is found at once."""
        for parent in list(Path(folder).parents)[:MAX_AWAITED]:
            if parent.is_dir():
                if parent != Path(parent.anchor):
                    self.folders.setdefault(str(parent), False)
                return

    def _folder(
        self, spec: AgentSpec, root: str, path: str, depth: int, seen: set[tuple[int, int]]
    ) -> Iterator[Found]:
        try:
            here = os.stat(path)
            if (here.st_dev, here.st_ino) in seen or depth > MAX_DEPTH:
                return
            seen.add((here.st_dev, here.st_ino))
            with os.scandir(path) as entries:
                listed = list(entries)
        except FileNotFoundError:
            return
        except OSError as error:
            self.unreadable.append((spec.slug, path, error.strerror or type(error).__name__))
            return
        for entry in listed:
            try:
                if entry.is_dir():
                    yield from self._folder(spec, root, entry.path, depth + 1, seen)
                elif (found := self._entry(spec, root, entry)) is not None:
                    yield found
            except FileNotFoundError:
                continue
            except OSError as error:
                self.unreadable.append(
                    (spec.slug, entry.path, error.strerror or type(error).__name__)
                )

    def _entry(self, spec: AgentSpec, root: str, entry: os.DirEntry[str]) -> Found | None:
        found = entry.stat()
        if self._unchanged(entry.path, found) or not stat.S_ISREG(found.st_mode):
            return None
        facts = self.classify(spec, root, entry.path)
        if facts is None:
            return None
        return Found(spec, root, entry.path, look_of(entry.path, found, facts), facts)

    def _file(self, spec: AgentSpec, root: str, path: str) -> Iterator[Found]:
        facts = self.classify(spec, root, path)
        if facts is None:
            return
        try:
            found = os.stat(path)
        except OSError:
            return
        if stat.S_ISREG(found.st_mode):
            yield Found(spec, root, path, look_of(path, found, facts), facts)

    def classify(self, spec: AgentSpec, root: str, path: str) -> SourceFacts | None:
        """What the path says; known sources are not asked again."""
        known = self._known(path)
        if known is not None:
            return known
        return spec.classify(PurePosixPath(path[len(root) :].lstrip(os.sep)))

    def locate(self, path: str) -> Found | None:
        """The source that a single path is, if it is one and exists."""
        for spec in self._agents:
            for root in map(os.fspath, self._roots.get(spec.slug, ())):
                if not path.startswith(root.rstrip(os.sep) + os.sep):
                    continue
                relative = path[len(root) :].lstrip(os.sep)
                inside = any(
                    not folder or relative.startswith(folder + os.sep) for folder in spec.folders
                )
                if not inside and relative not in spec.files:
                    continue
                for found in self._file(spec, root, path):
                    return found
        return None


def look_of(path: str, found: os.stat_result, facts: SourceFacts) -> Look:
    """A database counts as changed when its write-ahead log is."""
    return database_look(path, found) if facts.engine is Engine.DATABASE else Look.of(found)
