"""Facts of a git repository, read as text; no program is run."""

from __future__ import annotations

import re
from pathlib import Path

LONGEST = 1 << 20
_REMOTE = re.compile(r'\[remote "([^"]+)"\]')
_USERINFO = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*://)[^/@]*@")


def root_of(folder: str) -> str | None:
    """The folder with `.git` that holds this one, or is it."""
    start = Path(folder)
    for place in (start, *start.parents):
        if (place / ".git").exists():
            return str(place)
    return None


def git_dir(root: str) -> Path | None:
    """The folder with HEAD and config; a work tree names it in a file."""
    place = Path(root) / ".git"
    if place.is_dir():
        return place
    text = _read(place)
    if text.startswith("gitdir:"):
        named = Path(text.partition(":")[2].strip())
        return named if named.is_absolute() else Path(root) / named
    return None


def head(root: str) -> tuple[str | None, str | None]:
    """(branch, commit); either may be unknown."""
    folder = git_dir(root)
    if folder is None:
        return None, None
    text = _read(folder / "HEAD").strip()
    if not text.startswith("ref:"):
        return None, text if _is_commit(text) else None
    name = text.partition(":")[2].strip()
    branch = name.removeprefix("refs/heads/")
    commit = _read(folder / name).strip() or _packed(folder, name)
    return branch, commit if _is_commit(commit) else None


def remote(root: str) -> str | None:
    """Address of `origin`, else of the first remote, without user and password."""
    folder = git_dir(root)
    if folder is None:
        return None
    found: dict[str, str] = {}
    section = None
    for line in _read(folder / "config").splitlines():
        match = _REMOTE.match(line.strip())
        if line.lstrip().startswith("["):
            section = match[1] if match else None
        elif section is not None and line.strip().startswith("url"):
            found.setdefault(section, line.partition("=")[2].strip())
    address = found.get("origin") or next(iter(found.values()), None)
    return _USERINFO.sub(r"\1", address) if address else None


def _packed(folder: Path, name: str) -> str:
    for line in _read(folder / "packed-refs").splitlines():
        commit, _, ref = line.partition(" ")
        if ref.strip() == name:
            return commit
    return ""


def _is_commit(text: str) -> bool:
    return re.fullmatch(r"[0-9a-f]{40,64}", text) is not None


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(LONGEST).decode("utf-8", "replace")
    except OSError:
        return ""
