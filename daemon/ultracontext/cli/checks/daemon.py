"""The running daemon, and what its watcher needs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ultracontext import __version__
from ultracontext.cli.background import start_daemon, stop_daemon
from ultracontext.cli.checks.finding import ERROR, INFO, WARNING, Finding, of_problem
from ultracontext.cli.commands.status import collect
from ultracontext.cli.workspace import Workspace

WARNINGS = frozenset(
    {
        "agent-broken", "captured-ignored", "redaction-off", "root-missing", "disk-low",
        "daemon-starting", "remote-unavailable", "store-replaced", "settings-broken", "disk-budget",
    }
)  # fmt: skip
"""Problems of `status` that stop nothing; every other one is an error."""
MOST_FOLDERS = 20_000


def running(place: Workspace) -> Iterator[Finding]:
    found = collect(place)
    daemon = found["daemon"]
    if not daemon["running"]:
        yield Finding(
            code="daemon-down",
            level=WARNING,
            message="no daemon runs, so nothing is captured now",
            repair="Run `ultracontext daemon start`",
            fix=lambda: _start(place),
        )
    elif daemon["version"] != __version__:
        yield Finding(
            code="daemon-outdated",
            level=WARNING,
            message=f"the daemon that runs is version {daemon['version']}, this is {__version__}",
            repair="Run `ultracontext daemon restart`",
            fix=lambda: _restart(place),
        )
    if found["capture"].get("paused"):
        yield Finding(
            code="paused",
            level=INFO,
            message="capture is paused",
            repair="Run `ultracontext capture continue`",
        )
    for problem in found["problems"]:
        yield of_problem(problem, WARNING if problem["code"] in WARNINGS else ERROR)


def _start(place: Workspace) -> None:
    start_daemon(place)


def _restart(place: Workspace) -> None:
    stop_daemon(place)
    start_daemon(place)


def watcher(place: Workspace) -> Iterator[Finding]:
    """The kernel gives each user so many watches of folders; without them the daemon polls."""
    limit = _limit(Path("/proc/sys/fs/inotify/max_user_watches"))
    if limit is None or not place.settings.capture.watch:
        return
    count = folders_to_watch(place)
    if count * 2 > limit:
        yield Finding(
            code="watch-limit",
            level=WARNING,
            message=f"the agents' folders need {count} watches, and this system gives a user"
            f" {limit}",
            repair="As root: `sysctl fs.inotify.max_user_watches=524288`, and the same in a file"
            " of /etc/sysctl.d",
        )


def folders_to_watch(place: Workspace) -> int:
    from ultracontext.agents import known
    from ultracontext.capture.roots import agent_roots

    count = 0
    for roots in agent_roots(place.settings, place.env, place.home, known()).values():
        for root in roots:
            for _ in os.walk(root):
                count += 1
                if count >= MOST_FOLDERS:
                    return count
    return count


def _limit(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return None
