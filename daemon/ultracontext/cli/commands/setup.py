"""`setup --link`: puts `ultracontext` and `uc` on the PATH of this user. No root."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import UltraContextError, WriteRefusedError

app = command_app()

NAMES = ("ultracontext", "uc")
MARK = "# Made by `ultracontext setup --link`; remove this file to undo it."


@app.command()
def setup(
    link: Annotated[bool, typer.Option("--link", help="Put launchers into ~/.local/bin.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Puts `ultracontext` and `uc` on the PATH."""
    if not link:
        raise UsageError(
            "only `setup --link` is available yet, there is no guided set-up",
            hint="Settings are made by `ultracontext config set`",
            code="not-available",
        )
    place = workspace()
    folder = place.home / ".local/bin"
    written = _write_launchers(folder)
    on_path = str(folder) in place.env.get("PATH", "").split(":")
    clash = _clash(place, folder)
    if json:
        output.write_json(
            {"written": [str(p) for p in written], "on_path": on_path, "clash": clash}
        )
        return
    for path in written:
        output.write(str(path))
    if not on_path:
        output.note(
            f"{folder} is not on the PATH. Add it: export PATH={shlex.quote(str(folder))}:$PATH"
        )
    if clash is not None:
        output.note(f"Another program of this name comes first on the PATH: {clash}")


def _write_launchers(folder: Path) -> list[Path]:
    script = f'#!/bin/sh\n{MARK}\nexec {shlex.quote(sys.executable)} -P -m ultracontext.cli "$@"\n'
    paths = [folder / name for name in NAMES]
    for path in paths:
        if (path.exists() or path.is_symlink()) and not _is_ours(path):
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


def _is_ours(path: Path) -> bool:
    try:
        return MARK in path.read_text("utf-8", "replace")[:500]
    except OSError:
        return False


def _clash(place: Workspace, folder: Path) -> str | None:
    """A program of our name that the shell finds before ours."""
    found = shutil.which(NAMES[0], path=place.env.get("PATH", ""))
    if (
        found is None
        or Path(found).parent == folder
        or Path(found).parent == Path(sys.executable).parent
    ):
        return None
    return found
