"""Folders, disk and store."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from ultracontext.cli.checks.finding import ERROR, INFO, WARNING, Finding
from ultracontext.cli.workspace import Workspace

WAL_BYTES = 256 << 20
NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "afpfs"})


def folders(place: Workspace) -> Iterator[Finding]:
    """Ours alone, writable, nothing in them open to others."""
    opened: list[Path] = []
    for folder in place.paths.folders():
        try:
            found = folder.stat()
        except FileNotFoundError:
            continue
        if found.st_uid != os.getuid():
            yield Finding(
                code="home-foreign",
                level=ERROR,
                message=f"{folder} belongs to another user",
                repair="Choose another folder by ULTRACONTEXT_HOME",
            )
            continue
        if not os.access(folder, os.W_OK | os.X_OK):
            yield Finding(
                code="home-unwritable",
                level=ERROR,
                message=f"{folder} cannot be written to",
                repair="Make it writable, or choose another folder by ULTRACONTEXT_HOME",
            )
            continue
        opened += [path for path in (folder, *_files(folder)) if _open_to_others(path)]
    if opened:
        yield Finding(
            code="permissions",
            level=WARNING,
            message=f"{len(opened)} of our files and folders are open to others, such as"
            f" {opened[0]}",
            repair="Run `ultracontext doctor --fix`, which gives them modes 0600 and 0700",
            fix=place.paths.ensure,
        )


def _files(folder: Path) -> list[Path]:
    with os.scandir(folder) as entries:
        return [Path(e.path) for e in entries if e.is_file(follow_symlinks=False)]


def _open_to_others(path: Path) -> bool:
    try:
        return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)
    except OSError:
        return False


def disk(place: Workspace) -> Iterator[Finding]:
    """Room, and what the store takes of it."""
    folder = place.paths.store_file.parent
    if not folder.exists():
        return
    kind = file_system(folder)
    if kind in NETWORK:
        yield Finding(
            code="store-on-network",
            level=WARNING,
            message=f"the store lies on a network file system ({kind}), where SQLite cannot lock"
            " safely",
            repair="Choose a folder of this machine by ULTRACONTEXT_HOME",
        )
    used = store_bytes(place)
    free = shutil.disk_usage(folder).free
    if used > free:
        yield Finding(
            code="disk-backup",
            level=INFO,
            message=f"the store takes {used >> 20} MiB and {free >> 20} MiB are free: a copy of it"
            " does not fit beside it",
            repair="Make room; `ultracontext store backup FILE` takes a path on another disk",
        )


def store_bytes(place: Workspace) -> int:
    """Store, its log and the search index."""
    total = 0
    for file in (place.paths.store_file, place.paths.index_file):
        for suffix in ("", "-wal"):
            path = file.with_name(file.name + suffix)
            total += path.stat().st_size if path.exists() else 0
    return total


def file_system(folder: Path) -> str:
    """Type of the file system, empty where it cannot be told."""
    best, kind = "", ""
    try:
        lines = Path("/proc/self/mounts").read_text("utf-8", "replace").splitlines()
    except OSError:
        return ""
    real = os.path.realpath(folder) + "/"
    for line in lines:
        parts = line.split(" ")
        at = parts[1].replace("\\040", " ") if len(parts) > 2 else ""
        if real.startswith(at.rstrip("/") + "/") and len(at) >= len(best):
            best, kind = at, parts[2]
    return kind


def store(place: Workspace) -> Iterator[Finding]:
    """Opens it, and tells the last whole look; `store check` looks anew."""
    with place.reading(place.paths.store_file) as space:
        if space is None:
            yield Finding(
                code="store-missing",
                level=INFO,
                message="nothing was captured yet",
                repair="Run `ultracontext daemon start`",
            )
            return
        space.contexts(limit=1)
    wal = place.paths.store_file.with_name(place.paths.store_file.name + "-wal")
    if wal.exists() and wal.stat().st_size > WAL_BYTES:
        yield Finding(
            code="wal-large",
            level=WARNING,
            message=f"the log of the store has grown to {wal.stat().st_size >> 20} MiB",
            repair="A program reads the store all the time; close it, then run"
            " `ultracontext daemon restart`",
        )
