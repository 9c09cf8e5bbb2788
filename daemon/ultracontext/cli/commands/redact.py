"""`redact`: the redactor as a filter, and as a check of files and folders."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import UltraContextError

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor

app = command_app()

BLOCK_BYTES = 1 << 16
IDLE_SECONDS = 0.3


@app.command()
def redact(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]…", help="Files; with --check folders too. None: stdin."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Only say what is found; exit 1 when something is.")
    ] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON; goes with --check.")] = False,
) -> int:
    """Masks the secrets in text: stdin, or files, to stdout.

    With --check nothing is written but what was found where, masked. Binary files and .git are left
    out and counted."""
    if json and not check:
        raise UsageError("--json goes with --check", hint="Without it the text itself is printed")
    place = workspace()
    if check:
        return _check(place, files or [], as_json=json)
    redactor = _redactor(place)
    for name in files or ["-"]:
        _filter(redactor, name)
    return 0


def _redactor(place: Workspace) -> Redactor:
    """Masks also where capture does not."""
    from ultracontext.redaction.opening import masking_redactor

    place.paths.ensure()
    return masking_redactor(place.paths, place.settings)


def _filter(redactor: Redactor, name: str) -> None:
    from ultracontext.cli.masking import pieces

    try:
        handle = sys.stdin.fileno() if name == "-" else os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            for _, masked in pieces(redactor, _blocks(handle)):
                output.write_bytes(masked)
        finally:
            if name != "-":
                os.close(handle)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        raise _unreadable(name, error) from error


def _blocks(handle: int) -> Iterator[bytes | None]:
    """What comes, as it comes; None after a while without anything."""
    while True:
        if not select.select([handle], [], [], IDLE_SECONDS)[0]:
            yield None
            continue
        block = os.read(handle, BLOCK_BYTES)
        if not block:
            return
        yield block


def _check(place: Workspace, names: list[str], *, as_json: bool) -> int:
    from ultracontext.cli.finding import check, kinds

    if not names:
        raise UsageError("--check needs a FILE or a DIR", hint="`ultracontext redact --check .`")
    for name in names:
        if not os.path.lexists(name):
            raise UltraContextError(f"no such file {output.one_line(name)}", hint="Check its name")
    report = check(_redactor(place), [Path(name) for name in names])
    if as_json:
        import msgspec

        output.write_json(msgspec.to_builtins(report) | {"kinds": kinds(report)})
        return 1 if report.found else 0
    for find in report.found:
        where = output.one_line(f"{find.file}:{find.line}: {find.kind} {find.fingerprint}")
        output.write(f"{where}  {output.one_line(find.text)}")
    skipped = ", ".join(f"{n} {reason}" for reason, n in sorted(report.skipped.items()))
    count = len(report.found)
    output.note(
        f"{count} secret{'' if count == 1 else 's'} in {report.files} files"
        + (f" (left out: {skipped})" if skipped else "")
    )
    return 1 if report.found else 0


def _unreadable(name: str, error: OSError) -> UltraContextError:
    reason = error.strerror or type(error).__name__
    return UltraContextError(
        f"cannot read {output.one_line(name)}: {reason}", hint="Check its name and permissions"
    )
