"""The command that opens a written session: as a line for the person's shell, or run at once."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import PurePath
from typing import NoReturn

from ultracontext.errors import NotFoundError
from ultracontext.formats import Command


def shell_line(command: Command, shell: str) -> str:
    """`cd DIR && VAR=value program …`, quoted for `shell` (the value of SHELL)."""
    quote = _fish if PurePath(shell).name == "fish" else shlex.quote
    words = [quote(word) for word in command.argv]
    named = [f"{name}={quote(value)}" for name, value in command.environment.items()]
    if named and PurePath(shell).name in ("fish", "csh", "tcsh"):
        named = ["env", *named]
    return f"cd {quote(command.cwd)} && {' '.join([*named, *words])}"


def _fish(word: str) -> str:
    """In fish a backslash acts inside single quotes too."""
    plain = shlex.quote(word)
    if plain == word:
        return word
    return "'" + word.replace("\\", "\\\\").replace("'", "\\'") + "'"


def run(command: Command, environment: Mapping[str, str]) -> NoReturn:
    """Becomes the target's program, in its folder. Raises NotFoundError when it is not there."""
    program = shutil.which(command.argv[0], path=environment.get("PATH"))
    if program is None:
        raise NotFoundError(
            f"{command.argv[0]} is not on the PATH", code="no-program",
            hint="Run the printed command where it is",
        )  # fmt: skip
    os.chdir(command.cwd)
    os.execve(program, list(command.argv), {**environment, **command.environment})  # noqa: S606
