"""Which version of a program is installed, since a person asked: by its own `--version`."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping

from ultracontext.formats.versions import find

SECONDS = 20.0


def path_of(name: str, environment: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=environment.get("PATH", os.defpath))


def version_of(program: str, environment: Mapping[str, str]) -> str | None:
    """What it says within the time limit; None for a program that says nothing we know."""
    try:
        done = subprocess.run(  # noqa: S603  # found on the person's own PATH
            [program, "--version"], env=dict(environment), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return find(done.stdout.decode("utf-8", "replace")) if done.returncode == 0 else None
