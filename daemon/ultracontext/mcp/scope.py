"""Which sessions a client may see: by default those of its own project.

A project is a git repository (its work trees and all clones of one remote are one), or, outside of
git, a folder with all below it that is not in a repository. Nothing but text files is read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

from ultracontext.switch import git

OPENED_BY = 'mcp.projects = "all" (or a list of globs) in config.toml opens other projects'
_SCP = re.compile(r"^(?:[^@/]+@)?([^:/]+):(?!//)(.+)$")
_URL = re.compile(r"^[A-Za-z][A-Za-z0-9+.-]*://(?:[^/@]*@)?([^/:]+)(?::\d+)?/(.+)$")


class Scope(Protocol):
    """Judges a session by its project."""

    def allows(self, path: str | None, remote: str | None = None) -> bool:
        """`path` is the session's folder, `remote` the git remote that its records name."""


class Everything:
    """`mcp.projects = "all"`; on a server the key is the scope."""

    def allows(self, path: str | None, remote: str | None = None) -> bool:
        return True


class Globs:
    """Folders that match a pattern; a pattern without a wildcard means all below it, too."""

    def __init__(self, patterns: Sequence[str], home: str) -> None:
        self._patterns = [_expanded(one, home) for one in patterns]

    def allows(self, path: str | None, remote: str | None = None) -> bool:
        if path is None:
            return False
        for real in {os.path.normpath(path), os.path.realpath(path)}:
            for pattern in self._patterns:
                if fnmatchcase(real, pattern) or below(real, pattern):
                    return True
        return False


class Here:
    """The project of each of some folders."""

    def __init__(self, folders: Iterable[str], home: str) -> None:
        self._broad = {os.path.realpath(home), "/"}
        self._known: dict[tuple[str, str | None], bool] = {}
        self._marks: set[str] = set()
        self._plain: set[str] = set()
        for folder in folders:
            real = os.path.realpath(folder)
            root = self._root(real)
            if root is None:
                self._plain.add(real)
            else:
                self._marks |= _marks(root)

    def allows(self, path: str | None, remote: str | None = None) -> bool:
        if path is None:
            return False
        key = (path, remote)
        if key not in self._known:
            self._known[key] = self._judge(os.path.realpath(path), remote)
        return self._known[key]

    def _judge(self, real: str, remote: str | None) -> bool:
        root = self._root(real)
        if root is not None:
            return not self._marks.isdisjoint(_marks(root))
        if remote and remote_name(remote) in self._marks:  # the folder is gone, or elsewhere
            return True
        return any(
            real == plain or (plain not in self._broad and below(real, plain))
            for plain in self._plain
        )

    def _root(self, folder: str) -> str | None:
        """A repository that is no home folder under version control."""
        root = git.root_of(folder)
        return None if root is None or root in self._broad else root


def scope_of(projects: Sequence[str], folders: Iterable[str], home: str) -> Scope:
    """What `mcp.projects` means for a client in these folders."""
    if "all" in projects:
        return Everything()
    globs = [one for one in projects if one != "current"]
    if not globs:
        return Here(folders, home)
    if "current" in projects:
        return _Either((Here(folders, home), Globs(globs, home)))
    return Globs(globs, home)


class _Either:
    def __init__(self, scopes: Sequence[Scope]) -> None:
        self._scopes = scopes

    def allows(self, path: str | None, remote: str | None = None) -> bool:
        return any(scope.allows(path, remote) for scope in self._scopes)


def remote_name(url: str) -> str:
    """`github.com/o/r` for each way to write that remote; no scheme, user, port or `.git`."""
    text = url.strip()
    match = _URL.match(text) or (None if "://" in text else _SCP.match(text))
    if match is None:
        return "file:" + text.removeprefix("file://").rstrip("/").removesuffix(".git")
    path = match[2].strip("/").removesuffix(".git")
    return f"{match[1].lower()}/{path}"


def _marks(root: str) -> set[str]:
    """By what a repository is known: its shared git folder, and its remote."""
    marks = {f"root:{root}"}
    folder = git.git_dir(root)
    if folder is not None:
        marks.add(f"git:{os.path.realpath(_common(folder))}")
    url = git.remote(root) or _shared_remote(folder)
    if url:
        local = "://" not in url and not _SCP.match(url)
        marks.add(remote_name(os.path.realpath(Path(root) / url) if local else url))
    return marks


def _common(folder: Path) -> Path:
    """The git folder that a work tree shares with its repository."""
    try:
        named = (folder / "commondir").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return folder
    return folder / named


def _shared_remote(folder: Path | None) -> str | None:
    if folder is None:
        return None
    common = Path(os.path.realpath(_common(folder)))
    return git.remote(str(common.parent)) if common.name == ".git" else None


def below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _expanded(pattern: str, home: str) -> str:
    return home + pattern[1:] if pattern == "~" or pattern.startswith("~/") else pattern
