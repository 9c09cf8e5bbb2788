"""`daemon`: run, start, stop, restart, status, logs."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from ultracontext import logs
from ultracontext.cli import output
from ultracontext.cli.commands.status import collect, print_status, size
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import RedactionError
from ultracontext.settings import Settings

app = command_app(help="Run, start and stop the daemon that captures sessions.")

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("run")
def run(
    once: Annotated[
        bool, typer.Option("--once", help="Read everything that is there, then end.")
    ] = False,
    json: Json = False,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="No progress bar.")] = False,
    backfill: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT", help="all, new, or a duration such as 24h; counts at the first start."
        ),
    ] = None,
) -> int:
    """Captures in the foreground until Ctrl-C."""
    if json and not once:
        raise UsageError(
            "--json goes with --once", hint="`ultracontext status --json` asks a daemon"
        )
    place = workspace()
    flags = {} if backfill is None else {"capture.backfill": backfill}
    settings = _settings(place, flags)
    if once:
        return _run_once(place, settings, as_json=json, quiet=no_progress)
    from ultracontext.runtime.assembly import Setup
    from ultracontext.runtime.daemon import run_daemon

    setup = Setup(paths=place.paths, settings=settings, env=place.env, home=place.home, flags=flags)
    place.paths.ensure()
    terminal = sys.stderr if output.is_terminal(sys.stderr) else None
    logs.configure(level=settings.log.level, file=place.paths.log_file, terminal=terminal)
    return run_daemon(setup)


def _settings(place: Workspace, flags: dict[str, str]) -> Settings:
    from ultracontext.agents import known

    return place.settings_with(flags, agents=known())


def _run_once(place: Workspace, settings: Settings, *, as_json: bool, quiet: bool) -> int:
    from ultracontext.runtime.assembly import Setup
    from ultracontext.runtime.daemon import run_once

    setup = Setup(paths=place.paths, settings=settings, env=place.env, home=place.home)
    place.paths.ensure()
    logs.configure(level=settings.log.level, file=place.paths.log_file)
    if quiet or as_json or not output.is_terminal(sys.stderr):
        summary, interrupted = run_once(setup)
    else:
        from ultracontext.cli.progress import progress_bar

        with progress_bar() as show:
            summary, interrupted = run_once(setup, progress=show)
    if as_json:
        import msgspec

        output.write_json(msgspec.to_builtins(summary))
    else:
        for line in _summary(summary):
            output.write(line)
        if not summary.events and not summary.files:
            _tell_where(place, settings)
    _check_masked(summary)
    return 130 if interrupted else 0


def _tell_where(place: Workspace, settings: Settings) -> None:
    """For a newcomer of whom nothing was found, now or before."""
    from ultracontext.cli.looked import looked_in

    with place.reading(place.paths.store_file) as space:
        if space is not None and space.contexts(limit=1, children=True):
            return
    for line in looked_in(place, settings):
        output.write(line)


def _check_masked(summary: Any) -> None:
    """What could not be masked was left out, and that is a failure."""
    failed = sum(error.code == "redaction" for error in summary.errors)
    if failed:
        raise RedactionError(
            f"{failed} source{'s' if failed > 1 else ''} could not be masked, so nothing of"
            f" {'them' if failed > 1 else 'it'} was stored",
            hint="`ultracontext daemon logs` names the cause; run it again when that is mended",
        )


def _summary(summary: Any) -> list[str]:
    rate = summary.bytes / summary.seconds if summary.seconds else 0
    speed = f"{size(summary.bytes)} in {summary.seconds:.1f} s, {size(int(rate))}/s"
    found = f"{summary.events} new events in {summary.sessions} sessions"
    lines = [
        f"{found} from {summary.files} files ({speed})",
        f"{summary.masked} secrets masked, {summary.duplicates} duplicates left out",
    ]
    if summary.waiting:
        held = "session is" if summary.waiting == 1 else "sessions are"
        lines.append(f"{summary.waiting} {held} held back; `ultracontext status` names paused ones")
    if summary.skipped:
        skipped = ", ".join(f"{n} {reason}" for reason, n in sorted(summary.skipped.items()))
        lines.append(f"Left out: {skipped}")
    lines += [
        output.one_line(f"{error.code}: {error.path}" + _at(error.position))
        for error in summary.errors[:10]
    ]
    if len(summary.errors) > 10:
        lines.append(f"and {len(summary.errors) - 10} more; `--json` lists all")
    lines.append("`ultracontext sessions` lists them." if summary.events else "Nothing new.")
    return lines


def _at(position: int) -> str:
    return f" at byte {position}" if position else ""


@app.command("start")
def start(json: Json = False) -> int:
    """Starts it in the background, and waits until it answers."""
    from ultracontext.cli.background import start_daemon

    place = workspace()
    _settings(place, {})  # what is wrong with them is said here, not in a log
    started, pid = start_daemon(place)
    if json:
        output.write_json({"running": True, "started": started, "pid": pid})
    else:
        output.note(f"Started, pid {pid}." if started else f"It runs already, pid {pid}.")
        _note_waiting(place)
        _note_nobody(place)
    return 0


def _note_waiting(place: Workspace) -> None:
    """Says so when it runs and captures nothing."""
    for problem in collect(place)["problems"]:
        if problem["code"] == "redaction":
            output.note(output.one_line(f"But {problem['message']}. {problem['hint']}"))


def _note_nobody(place: Workspace) -> None:
    """Where it looks, on a machine without any agent."""
    from ultracontext.cli.looked import anything_there, looked_in

    if not anything_there(place, place.settings):
        for line in looked_in(place, place.settings):
            output.note(line)


@app.command("stop")
def stop(json: Json = False) -> int:
    """Stops it, and waits until it is gone."""
    from ultracontext.cli.background import stop_daemon

    pid = stop_daemon(workspace())
    if json:
        output.write_json({"running": False, "stopped": pid is not None, "pid": pid})
    else:
        output.note("No daemon is running." if pid is None else f"Stopped, pid {pid}.")
    return 0


@app.command("restart")
def restart(json: Json = False) -> int:
    """Stops it if it runs, and starts it."""
    from ultracontext.cli.background import start_daemon, stop_daemon

    place = workspace()
    _settings(place, {})
    stop_daemon(place)
    _, pid = start_daemon(place)
    if json:
        output.write_json({"running": True, "started": True, "pid": pid})
    else:
        output.note(f"Started, pid {pid}.")
    return 0


@app.command("status")
def status(json: Json = False) -> int:
    """The same as `ultracontext status`."""
    return print_status(as_json=json)


@app.command("logs")
def show_logs(
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on as it grows.")] = False,
    lines: Annotated[int, typer.Option("-n", metavar="N", help="The last so many.")] = 50,
    json: Annotated[bool, typer.Option("--json", help="The lines as they are, JSON.")] = False,
) -> int:
    """The log of the daemon."""
    from ultracontext.cli.logtail import tail

    place = workspace()
    if lines < 0:
        raise UsageError("-n is negative", hint="0 prints only what is new, with -f")
    for line in tail(place.paths.log_file, lines=lines, follow=follow, as_json=json):
        output.write(line)
    return 0
