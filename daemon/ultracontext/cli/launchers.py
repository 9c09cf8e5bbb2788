"""`ultracontext` and `uc` in `~/.local/bin` of this user. No root."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from ultracontext.cli.workspace import Workspace
from ultracontext.errors import UltraContextError, WriteRefusedError

NAMES = ("ultracontext", "uc")
MARK = "# Made by `ultracontext setup --link`; remove this file to undo it."


def write_launchers(folder: Path) -> list[Path]:
    script = f'#!/bin/sh\n{MARK}\nexec {shlex.quote(sys.executable)} -P -m ultracontext.cli "$@"\n'
    paths = [folder / name for name in NAMES]
    for path in paths:
        if (path.exists() or path.is_symlink()) and not is_ours(path):
            raise WriteRefusedError(
                f"{path} is there already and is not ours", hint="Move it away and try again"
            )
    try:
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)
        for path in paths:
            path.unlink(missing_ok=True)
            path.write_text(script, "utf-8")
            path.chmod(0o755)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UltraContextError(
            f"cannot write to {folder}: {reason}", hint="Make it writable", code="link"
        ) from error
    return paths


def is_ours(path: Path) -> bool:
    try:
        return MARK in path.read_text("utf-8", "replace")[:500]
    except OSError:
        return False


def clash(place: Workspace, folder: Path) -> str | None:
    """A program of our name that the shell finds before ours."""
    found = shutil.which(NAMES[0], path=place.env.get("PATH", ""))
    if (
        found is None
        or Path(found).parent == folder
        or Path(found).parent == Path(sys.executable).parent
    ):
        return None
    return found


def on_path(place: Workspace) -> bool:
    return str(folder_of(place)) in place.env.get("PATH", "").split(":")


def folder_of(place: Workspace) -> Path:
    return place.home / ".local/bin"


def remove_launchers(place: Workspace) -> list[Path]:
    """Those that we made; others of the name stay."""
    ours = [folder_of(place) / name for name in NAMES]
    gone = [path for path in ours if path.is_file() and is_ours(path)]
    for path in gone:
        path.unlink(missing_ok=True)
    return gone
