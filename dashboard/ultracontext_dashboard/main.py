"""How the dashboard is started."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from ultracontext.errors import FatalError
from ultracontext.paths import Paths
from ultracontext.settings import Settings


def run(
    *,
    paths: Paths,
    settings: Settings,
    env: Mapping[str, str],
    home: Path,
    folder: Path,
    allow_switch: bool = True,
) -> int:
    """Opens it on this terminal; returns when the person leaves. FatalError without a terminal."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise FatalError(
            "the dashboard needs a terminal", hint="Use `ultracontext status` and `sessions`"
        )
    if env.get("TERM", "") in ("", "dumb"):
        raise FatalError(
            "this terminal cannot draw (TERM is not set, or dumb)",
            hint="Use `ultracontext status` and `ultracontext sessions`",
        )
    from ultracontext_dashboard.app import Dashboard, Surroundings

    surroundings = Surroundings(
        paths=paths, settings=settings, env=dict(env), home=home, folder=folder,
        program=program(), allow_switch=allow_switch,
    )  # fmt: skip
    code = Dashboard(surroundings).run()
    return code or 0


def program() -> tuple[str, ...]:
    """The `ultracontext` that this is."""
    return (sys.executable, "-I", "-m", "ultracontext.cli")


def shell_words(line: str) -> list[str]:
    """How a printed command is run: by the person's shell, since it begins with `cd`."""
    return [os.environ.get("SHELL") or "/bin/sh", "-c", line]


__all__ = ["program", "run", "shell_words"]
