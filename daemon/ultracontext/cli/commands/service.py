"""`service`: the daemon as a login service of this user."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace, workspace

if TYPE_CHECKING:
    from ultracontext.service.choice import Outcome, Service

app = command_app(help="Start the daemon when you log in.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("install")
def install(
    linger: Annotated[
        bool | None,
        typer.Option("--linger/--no-linger", help="Run from boot, not only while logged in."),
    ] = None,
    json: Json = False,
) -> None:
    """Installs and starts it; again after an upgrade, to write it anew."""
    place = workspace()
    if linger is None and not json and sys.stdin.isatty():
        linger = typer.confirm("Run from boot, and after you log out too?", default=False, err=True)
    service, outcome = install_service(place, linger=linger)
    _tell(service, outcome, "Installed" if outcome.changed else "Installed already", json=json)


def install_service(place: Workspace, *, linger: bool | None) -> tuple[Service, Outcome]:
    """The service takes the place of a daemon in the background."""
    from ultracontext.cli.background import start_daemon, stop_daemon

    _ = place.settings  # what is wrong with them is said here, not in a log
    service = _service(place)
    place.paths.ensure()
    if service.kind != "autostart" and not service.state().running:
        stop_daemon(place)
    outcome = service.install(linger=linger)
    if not outcome.starts_itself:
        start_daemon(place)
    return service, outcome


@app.command("uninstall")
def uninstall(json: Json = False) -> None:
    """Stops the service and takes away what `install` made."""
    place = workspace()
    service, outcome = uninstall_service(place)
    _tell(service, outcome, "Removed" if outcome.changed else "Not installed", json=json)


def uninstall_service(place: Workspace) -> tuple[Service, Outcome]:
    from ultracontext.cli.background import stop_daemon

    service = _service(place)
    outcome = service.uninstall()
    if not outcome.starts_itself and outcome.changed:
        stop_daemon(place)
    return service, outcome


@app.command("restart")
def restart(json: Json = False) -> None:
    """Writes the unit anew if need be, and starts the daemon again."""
    from ultracontext.cli.background import start_daemon, stop_daemon

    place = workspace()
    service = _service(place)
    if not service.state().installed:
        raise UsageError(
            "there is no login service", hint="Run `ultracontext service install`", code="service"
        )
    place.paths.ensure()
    outcome = service.restart()
    if not outcome.starts_itself:
        stop_daemon(place)
        start_daemon(place)
    _tell(service, outcome, "Restarted", json=json)


@app.command("status")
def status(json: Json = False) -> int:
    """Whether it is installed and runs. Exit 0 when it does, 1 when not."""
    from ultracontext.runtime.lock import running

    place = workspace()
    service = _service(place)
    state = service.state()
    holder = running(place.paths.lock_file)
    runs = state.running if state.running is not None else holder is not None
    found = {
        "kind": service.kind,
        "installed": state.installed,
        "running": bool(runs),
        "current": state.current,
        "detail": state.detail,
        "files": [str(file) for file in service.files()],
    }
    if json:
        output.write_json(found)
    else:
        installed = "installed" if state.installed else "not installed"
        output.write(f"Service    {installed} ({service.kind})")
        output.write(f"Running    {'yes' if runs else 'no'}{_detail(state.detail)}")
        if state.installed and not state.current:
            output.write(
                "Problem    written by another version; run `ultracontext service install`"
            )
        if not state.installed:
            output.note("Run `ultracontext service install`.")
    return 0 if state.installed and runs else 1


def _detail(text: str) -> str:
    return f" ({output.one_line(text)})" if text else ""


@app.command("logs")
def show_logs(
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on as it grows.")] = False,
    lines: Annotated[int, typer.Option("-n", metavar="N", help="The last so many.")] = 50,
    json: Annotated[bool, typer.Option("--json", help="The lines as they are, JSON.")] = False,
) -> int:
    """The log of the daemon; the same as `daemon logs`."""
    from ultracontext.cli.commands.daemon import show_logs as daemon_logs

    return daemon_logs(follow=follow, lines=lines, json=json)


def _service(place: Workspace) -> Service:
    from ultracontext.service import chosen_service

    return chosen_service(place.paths, place.env, place.home)


def _tell(service: Service, outcome: Outcome, word: str, *, json: bool) -> None:
    if json:
        output.write_json(
            {
                "kind": service.kind,
                "changed": [str(file) for file in outcome.changed],
                "notes": outcome.notes,
            }
        )
        return
    output.note(f"{word} ({service.kind}).")
    for file in outcome.changed:
        output.write(output.one_line(str(file)))
    for note in outcome.notes:
        output.note(f"{note}.")
