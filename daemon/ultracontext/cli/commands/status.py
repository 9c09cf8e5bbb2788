"""`status`: whether the daemon runs, and how it is. Exit 0 when it runs, 1 when not."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.group import command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import TransportError, UltraContextError

if TYPE_CHECKING:
    from ultracontext.runtime.lock import Holder

app = command_app()

STARTING_SECONDS = 10.0
"""A daemon that does not answer for longer has lost its socket."""


@app.command()
def status(
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Whether the daemon runs, and how it is."""
    return print_status(as_json=json)


def print_status(*, as_json: bool, hint: bool = False) -> int:
    place = workspace()
    found = collect(place)
    if as_json:
        output.write_json(found)
    else:
        for line in human(found):
            output.write(line)
        if hint:
            output.write()
            output.write("`ultracontext --help` lists the commands.")
    return 0 if found["daemon"]["running"] else 1


def collect(place: Workspace) -> dict[str, Any]:
    """The daemon's own answer, or what can be said without one."""
    from ultracontext.runtime.lock import running

    holder = running(place.paths.lock_file)
    if holder is not None and not holder.once:
        from ultracontext.runtime.client import ControlClient

        try:
            answer = ControlClient(place.paths.socket_of(holder.socket)).get("/status")
            return {
                key: value for key, value in answer.items() if key not in ("protocol", "version")
            }
        except TransportError as error:
            found = _without_daemon(place)
            found["daemon"] = {"running": True, "pid": holder.pid, "version": holder.version}
            found["problems"].append(_silent(place, holder, error))
            return found
    return _without_daemon(place)


def _silent(place: Workspace, holder: Holder, error: TransportError) -> dict[str, str]:
    """A daemon that holds the lock and does not answer."""
    from ultracontext.runtime import health

    if error.code != "daemon-down":
        return health.problem(error.code, error.message, error.hint)
    if _just_started(place.paths.lock_file):
        return health.problem(
            "daemon-starting", "the daemon is just starting or stopping", "Ask again in a moment"
        )
    return health.problem(
        "socket-gone",
        f"the daemon (pid {holder.pid}) runs, and its socket was removed",
        "It makes it again within seconds; if not, run `ultracontext daemon restart`",
    )


def _just_started(lock_file: Path) -> bool:
    """The lock file is written once, at the start."""
    try:
        return 0 <= time.time() - lock_file.stat().st_mtime < STARTING_SECONDS
    except OSError:
        return True


def _without_daemon(place: Workspace) -> dict[str, Any]:
    from ultracontext.redaction.opening import known_rule_set
    from ultracontext.runtime import health

    found = health.stopped(place.paths, place.settings, place.home, health.no_dedup())
    if not place.paths.store_file.exists():
        return found
    try:
        import msgspec

        with place.reading(place.paths.store_file) as space:
            if space is not None:
                found["dedup"] = msgspec.to_builtins(space.dedup_status())
                found["capture"]["paused_projects"] = health.paused_projects(space)
                rules = known_rule_set(place.paths, place.settings)
                found["redaction"] = health.masking(place.settings, space, rules, None)
    except UltraContextError as error:
        found["problems"].append(health.problem(error.code, error.message, error.hint))
    return found


def human(found: dict[str, Any]) -> list[str]:
    """The lines for a person."""
    daemon, capture, remote, dedup = (found[k] for k in ("daemon", "capture", "remote", "dedup"))
    rows = [
        ("Daemon", _daemon(daemon)),
        ("Capture", _capture(capture)),
        *[("Paused", folder) for folder in capture.get("paused_projects", [])],
        ("Redaction", _redaction(found["redaction"])),
        ("Store", f"{found['store']['path']}, {size(found['store']['bytes'])}"),
        ("Dedup", f"{dedup['rows']} rows, {dedup['hits']} hits, {_purged(dedup['purged_at'])}"),
        ("Remote", remote["url"] or "none: nothing leaves this machine"),
    ]
    lines = [f"{name:<10} {output.one_line(text)}" for name, text in rows]
    for problem in found["problems"]:
        hint = f"{problem['hint']}." if problem.get("hint") else ""
        text = f"{output.one_line(problem['message'])}. {output.one_line(hint)}"
        lines.append(f"{'Problem':<10} {text}".rstrip())
    return lines


def _daemon(daemon: dict[str, Any]) -> str:
    if not daemon["running"]:
        return "not running; start it by `ultracontext daemon start`"
    return f"running, pid {daemon['pid']}, version {daemon['version']}"


def _redaction(redaction: dict[str, Any]) -> str:
    if not redaction["enabled"]:
        return "off: secrets are stored as they are"
    rules, behind = redaction["rules"], redaction.get("behind")
    text = "on" + (f", {rules} rules" if rules is not None else "")
    return text + (f", {behind} rows to be masked again under them" if behind else "")


def _capture(capture: dict[str, Any]) -> str:
    if capture["watcher"] == "off":
        return "off"
    waiting = capture["backlog_bytes"] or 0
    state = "paused" if capture["paused"] else f"by {capture['watcher']}"
    behind = f"{size(waiting)} waiting" if waiting else "nothing waiting"
    held = capture.get("waiting_sessions", 0)
    behind += f", {held} sessions held back" if held else ""
    return f"{state}, {capture.get('sources', 0)} files known, {behind}"


def _purged(at: str | None) -> str:
    return f"last purge {local(at)}" if at else "never purged"


def local(timestamp: str | None, form: str = "%Y-%m-%d %H:%M") -> str:
    """A time as this machine's clock has it."""
    if not timestamp:
        return ""
    try:
        moment = datetime.fromisoformat(timestamp)
    except ValueError:
        return timestamp
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return moment.astimezone().strftime(form)


def size(count: int) -> str:
    """`1.5 MB`"""
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
