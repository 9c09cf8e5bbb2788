"""Entry point of `ultracontext` and `uc`: finds the command, turns failures into one line.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 refused by a guard, 130 interrupted.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import suppress
from difflib import get_close_matches
from typing import Annotated, Any

import typer
from typer.main import get_command

from ultracontext import __version__
from ultracontext.cli import output
from ultracontext.cli.group import Entry, LazyGroup, UsageError
from ultracontext.errors import UltraContextError

_COMMANDS = "ultracontext.cli.commands"
EVERY_DAY, CAPTURE, TEAM, UPKEEP = "Every day", "Capture", "Store and team", "Upkeep"

ENTRIES = {
    "sessions": Entry(EVERY_DAY, f"{_COMMANDS}.sessions", "Captured sessions, newest first."),
    "show": Entry(EVERY_DAY, f"{_COMMANDS}.show", "One session: typed, answered and done."),
    "switch": Entry(EVERY_DAY, f"{_COMMANDS}.switch", "Continue a session in another agent."),
    "restore": Entry(EVERY_DAY, f"{_COMMANDS}.restore", "Write stored sessions back."),
    "heal": Entry(EVERY_DAY, f"{_COMMANDS}.heal", "A clean copy of a session that fails."),
    "relocate": Entry(EVERY_DAY, f"{_COMMANDS}.relocate", "A project folder moved."),
    "search": Entry(EVERY_DAY, f"{_COMMANDS}.search", "Full text over everything."),
    "status": Entry(EVERY_DAY, f"{_COMMANDS}.status", "Whether the daemon runs, and how it is."),
    "demo": Entry(EVERY_DAY, f"{_COMMANDS}.demo", "Plays recorded samples into a temporary home."),
    "daemon": Entry(CAPTURE, f"{_COMMANDS}.daemon", "Run, start, stop, restart, status, logs."),
    "service": Entry(CAPTURE, f"{_COMMANDS}.service", "Start the daemon when you log in."),
    "capture": Entry(CAPTURE, f"{_COMMANDS}.capture", "Pause and continue, all or one project."),
    "config": Entry(CAPTURE, f"{_COMMANDS}.config", "Show, get and set settings."),
    "redact": Entry(CAPTURE, f"{_COMMANDS}.redact", "Mask text, or --check files for secrets."),
    "secrets": Entry(CAPTURE, f"{_COMMANDS}.secrets", "Which secrets were found where, by mask."),
    "setup": Entry(CAPTURE, f"{_COMMANDS}.setup", "What to capture, how long, where to."),
    "doctor": Entry(CAPTURE, f"{_COMMANDS}.doctor", "What is wrong here, and its repair."),
    "login": Entry(CAPTURE, f"{_COMMANDS}.login", "Keep the key of the server."),
    "logout": Entry(CAPTURE, f"{_COMMANDS}.logout", "Forget it."),
    "store": Entry(UPKEEP, f"{_COMMANDS}.store", "Backup, restore, prune, check."),
    "uninstall": Entry(UPKEEP, f"{_COMMANDS}.uninstall", "Remove what we put on this machine."),
    "context": Entry(TEAM, f"{_COMMANDS}.context", "Contexts by hand: create, append, fork, …"),
    "serve": Entry(TEAM, f"{_COMMANDS}.serve", "The HTTP server over a store."),
    "keys": Entry(TEAM, f"{_COMMANDS}.keys", "Create, list and revoke a server's keys."),
    "mcp": Entry(TEAM, f"{_COMMANDS}.mcp", "Agents read each other: MCP server, install."),
    "skills": Entry(TEAM, f"{_COMMANDS}.skills", "/switch and /recall for the agents."),
    "audit": Entry(TEAM, f"{_COMMANDS}.audit", "Which agent read which session, and when."),
    "export": Entry(UPKEEP, f"{_COMMANDS}.export", "Contexts with their history, to a file."),
    "import": Entry(UPKEEP, f"{_COMMANDS}.importing", "What `export` wrote, into a store."),
    "forget": Entry(CAPTURE, f"{_COMMANDS}.forget", "Wipe a session, here and for good."),
    "dashboard": Entry(UPKEEP, f"{_COMMANDS}.dashboard", "Watch live sessions, read them, switch."),
    "compat": Entry(UPKEEP, f"{_COMMANDS}.compat", "What is read and written, and the proof."),
}
LazyGroup.entries = ENTRIES

UNWRITABLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF})
"""What a write to stdout can meet."""

app = typer.Typer(
    cls=LazyGroup,
    name="ultracontext",
    help="Keeps the sessions of coding agents, masked, in a local store.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        output.write(f"ultracontext {__version__}")
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Keeps the sessions of coding agents, masked, in a local store."""
    del version
    if context.invoked_subcommand is None:
        if sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb":
            from ultracontext.cli.commands.dashboard import open_dashboard
            from ultracontext.cli.workspace import workspace

            place = workspace()
            if not place.paths.config_file.exists() and not place.paths.store_file.exists():
                from ultracontext.cli.commands.setup import first_setup

                first_setup(place)
            raise typer.Exit(open_dashboard(place))
        from ultracontext.cli.commands.status import print_status

        raise typer.Exit(print_status(as_json=False, hint=True))


def main() -> None:
    """The console script."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Runs one command line and gives its exit code. Never raises."""
    as_json = "--json" in arguments
    os.umask(0o077)
    try:
        code = _run(arguments, as_json=as_json)
    except KeyboardInterrupt:  # while a failure was told
        code = 130
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        with suppress(AttributeError):  # closed before we started
            try:
                stream.flush()
            except (OSError, ValueError):  # nothing shall complain about it at exit
                _drop(number)
    return code


def _run(arguments: list[str], *, as_json: bool) -> int:
    try:
        _arm(os.environ.get("ULTRACONTEXT_FAILPOINTS", ""))
        result = get_command(app).main(arguments, prog_name="ultracontext", standalone_mode=False)
    except UltraContextError as error:
        return _fail(error, as_json=as_json)
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:  # the reader of our output has left
        _drop(1)
        return 0
    except typer.Exit as error:
        return error.exit_code
    except OSError as error:
        return _fail(_of_the_system(error), as_json=as_json)
    except Exception as error:  # noqa: BLE001  # the last resort of a program for people
        return _fail(_as_ours(error), as_json=as_json)
    return result if isinstance(result, int) else 0


def _fail(error: UltraContextError, *, as_json: bool) -> int:
    with suppress(
        OSError, ValueError, output.OutputError
    ):  # stderr is gone; the exit code still says it
        output.fail(error, as_json=as_json)
    return error.exit_code


def _as_ours(error: Exception) -> UltraContextError:
    message = getattr(error, "format_message", None)
    if message is not None and hasattr(error, "exit_code"):  # of Typer's own parser
        return _usage(error, str(message()))
    return _unexpected(error)


_NUMBER = re.compile(r"^[Ii]nvalid value for '?([^':]+)'?: Input should be a valid integer.*")


def _usage(error: Any, message: str) -> UsageError:
    path = getattr(getattr(error, "ctx", None), "command_path", "ultracontext")
    text = " ".join(message.split()).partition(" (Possible options")[0].partition(" Did you")[0]
    text = _NUMBER.sub(r"\1 takes a whole number", text.rstrip(".:( "))
    close = getattr(error, "possibilities", None)
    name = str(getattr(error, "option_name", ""))
    best = get_close_matches(name, close, n=1, cutoff=0) if close else []
    hint = f"Did you mean {best[0]}?" if best else f"`{path} --help` shows how"
    return UsageError(text[:1].lower() + text[1:], hint=hint)


def _unexpected(error: Exception) -> UltraContextError:
    """One line without the exception's own text, which could quote a session."""
    name = type(error).__name__
    try:
        from ultracontext import logs
        from ultracontext.cli.workspace import workspace

        paths = workspace().paths
        paths.ensure()
        logs.configure(file=paths.logs_dir / "cli.log")
        logs.get_logger(__name__).error("command-failed", code="unexpected", **logs.where(error))
        hint = f"{paths.logs_dir / 'cli.log'} says where; please report it"
    except Exception:  # noqa: BLE001  # nothing more can be done about the log
        hint = "Please report it"
    return UltraContextError(f"failed unexpectedly ({name})", hint=hint, code="unexpected")


def _arm(text: str) -> None:
    if not text:
        return
    from ultracontext.model import failpoint

    try:
        failpoint.arm(text)
    except ValueError as error:
        raise UsageError(
            str(error), hint="See ULTRACONTEXT_FAILPOINTS in model/failpoint.py"
        ) from error


def _of_the_system(error: OSError) -> UltraContextError:
    """A full disk under the output; a file of ours that this user may not touch."""
    if error.filename is None and error.errno in UNWRITABLE:
        return output.unwritable(error)
    if not isinstance(error, PermissionError) or not isinstance(error.filename, str):
        return _unexpected(error)
    from ultracontext.cli.workspace import workspace

    try:
        folders = [str(folder) + os.sep for folder in workspace().paths.folders()]
    except UltraContextError as other:
        return other
    if not any((error.filename + os.sep).startswith(folder) for folder in folders):
        return _unexpected(error)
    return UltraContextError(
        f"cannot use {error.filename}: {error.strerror}",
        hint="It belongs to another user, or is closed; ULTRACONTEXT_HOME names a folder of yours",
        code="home",
    )


def _drop(number: int) -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    except OSError:
        return
