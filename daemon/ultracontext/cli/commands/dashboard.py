"""`dashboard`: the live screen. Without a subcommand, `ultracontext` opens it on a terminal."""

from __future__ import annotations

import os
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import typer

from ultracontext.cli import output
from ultracontext.cli.group import command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import FatalError

app = command_app()
GROUP = "ultracontext.commands"


@app.command()
def dashboard() -> None:
    """Watch live sessions, read them, switch."""
    raise typer.Exit(open_dashboard(workspace()))


def open_dashboard(place: Workspace) -> int:
    """Opens it; the daemon is started first when none runs. The exit code."""
    run = _screen()
    dumb = place.env.get("TERM", "") in ("", "dumb")
    if sys.stdin.isatty() and sys.stdout.isatty() and not dumb:
        _make_sure_of_daemon(place)
    return int(
        run(
            paths=place.paths,
            settings=place.settings,
            env=place.env,
            home=place.home,
            folder=Path(place.env.get("PWD") or os.curdir),
        )
    )


def _screen() -> Any:
    """The dashboard is a package of its own, found by its entry point."""
    for found in entry_points(group=GROUP):
        if found.name == "dashboard":
            return found.load()
    raise FatalError(
        "the dashboard is not installed", hint="Install ultracontext-daemon as a whole"
    )


def _make_sure_of_daemon(place: Workspace) -> None:
    """Starts one; that it cannot be started is said on the screen, not a reason to stay away."""
    from ultracontext.cli.background import start_daemon
    from ultracontext.errors import UltraContextError

    try:
        start_daemon(place)
    except UltraContextError as error:
        output.note(error.message)
