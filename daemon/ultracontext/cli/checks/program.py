"""The program itself: settings, what else has its name, the clock."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from ultracontext.cli.checks.finding import ERROR, INFO, WARNING, Finding
from ultracontext.cli.workspace import Workspace
from ultracontext.errors import SettingsError

NAME, SDK = "ultracontext", "ultracontext"
BUILT = datetime(2026, 1, 1, tzinfo=UTC)
"""No clock is right that stands before this program."""


def settings(place: Workspace) -> Iterator[Finding]:
    from ultracontext.agents import known

    try:
        place.settings_with({}, agents=known()).check()
    except SettingsError as error:
        yield Finding(code="settings-broken", level=ERROR, message=error.message, repair=error.hint)


def versions(_place: Workspace) -> Iterator[Finding]:
    """The official SDK has our import name: one of both hides the other."""
    try:
        found = version(SDK)
    except PackageNotFoundError:
        return
    yield Finding(
        code="sdk-clash",
        level=ERROR,
        message=f"the package {SDK} {found}, another project's SDK, is in this environment too,"
        " and both have the import name ultracontext",
        repair=f"Give one of them an environment of its own: `{sys.executable} -m pip uninstall"
        f" {SDK}`, then install ultracontext-daemon again",
    )


def on_the_path(place: Workspace) -> Iterator[Finding]:
    found = programs(place)
    ours = own_folder()
    links = place.home / ".local/bin"
    mine = [path for path in found if path.parent in (ours, links)]
    others = [path for path in found if path not in mine]
    if not found:
        yield Finding(
            code="path-missing",
            level=INFO,
            message="`ultracontext` is not on the PATH",
            repair=f"Run `{ours / NAME} setup --link`",
        )
    for path in others:
        first = not mine or found.index(path) < found.index(mine[0])
        yield Finding(
            code="path-clash",
            level=WARNING if first else INFO,
            message=f"another `ultracontext` is on the PATH{', before ours' if first else ''}:"
            f" {path}",
            repair="Remove it, or put our folder first on the PATH",
        )


def programs(place: Workspace) -> list[Path]:
    """All programs of our name on the PATH, in its order, one a folder."""
    folders = [part for part in place.env.get("PATH", "").split(":") if part.startswith("/")]
    paths = [Path(folder) / NAME for folder in dict.fromkeys(folders)]
    return [path for path in paths if path.is_file() and os.access(path, os.X_OK)]


def own_folder() -> Path:
    return Path(sys.executable).parent


def clock(place: Workspace) -> Iterator[Finding]:
    now = datetime.now(UTC)
    if now < BUILT:
        yield _wrong_clock(f"the clock says {now:%Y-%m-%d}, before this program was made")
        return
    with place.reading(place.paths.store_file) as space:
        rows = [] if space is None else space.contexts(limit=1, children=True)
    for row in rows:
        if row.stored_at > now + timedelta(days=1):
            yield _wrong_clock("the store holds what was written later than now")


def _wrong_clock(message: str) -> Finding:
    return Finding(
        code="clock", level=WARNING, message=message, repair="Set the clock of this machine"
    )
