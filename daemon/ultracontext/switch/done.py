"""What a switch did or is about to do, as the ledger keeps it, and where it may write at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import msgspec

from ultracontext.errors import UltraContextError, WriteRefusedError


class SwitchError(UltraContextError):
    """A session could not be written; what was done is taken back."""

    code = "switch"


class Done(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One thing that was done, or is about to be, and how to take it back."""

    kind: Literal["file", "folder", "line", "key", "rows", "program", "backup", "made"]
    path: str
    digest: str = ""
    """sha256 of a file's content. Of a `backup` and a `key`: as the step left it."""
    line: str = ""
    keys: list[str] = []
    had: bool = False
    """Whether the key, or the file that a line was added to, was there before."""
    before: Any = None
    after: Any = None
    lock: str = ""
    undo: list[tuple[str, dict[str, Any]]] = []
    argv: list[str] = []
    environment: dict[str, str] = {}
    copy: str = ""
    """Where a file that a step changes was copied to; empty: it was not there."""
    sizes: list[int] = []
    names: list[str] = []
    """Of `made`, whose path is a folder: the files in it before, and once the program has run those
    that it made."""
    ran: bool = False
    """Whether `names` and `digest` tell of the time after the program."""


def resolved(root: Path, relative: str) -> Path:
    """A path below the root. Raises WriteRefusedError where a link leads out of it."""
    parts = relative.split("/")
    if not relative or relative.startswith("/") or any(p in ("", ".", "..") for p in parts):
        raise WriteRefusedError(f"{relative!r} is no path inside the agent's folder")
    path = root.joinpath(*parts)
    real_root = os.path.realpath(root)
    real = os.path.realpath(path.parent)
    if real != real_root and not real.startswith(real_root + os.sep):
        raise WriteRefusedError(
            f"{path.parent} leads out of {root} by a link",
            code="link", hint="Remove the link, or name the folder itself as the agent's root",
        )  # fmt: skip
    if path.is_symlink():
        raise WriteRefusedError(f"{path} is a link", code="link", hint="Remove it and try again")
    return path
