"""`export`: contexts with their history as JSON lines."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.group import command_app
from ultracontext.cli.stores import editing
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import NotFoundError, UltraContextError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ultracontext.store import ContextInfo, SpaceStore

app = command_app()


@app.command()
def export(
    idents: Annotated[
        list[str] | None, typer.Argument(metavar="[ID]…", help="Contexts; none: all.")
    ] = None,
    project: Annotated[
        str | None, typer.Option(metavar="DIR", help="Only those of this folder and below.")
    ] = None,
    out: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="A new file (0600).")
    ] = None,
    raw: Annotated[bool, typer.Option("--raw", help="As stored, secrets too.")] = False,
    store: Annotated[str | None, typer.Option(metavar="URL", help="Another store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="With -o: print JSON.")] = False,
) -> None:
    """Writes contexts with all versions, and tombstones, one JSON object a line. Secrets are
    masked."""
    from ultracontext.store.transfer import export_lines

    place = workspace()
    counts = {"contexts": 0, "messages": 0, "tombstones": 0}
    with editing(place, store) as space, _writing(out) as write:
        rows = list(chosen_contexts(place, space, idents or [], project))
        mask = None if raw else masking(place)[0]
        for line in export_lines(space, rows, mask=mask, now=datetime.now(UTC)):
            write(output.json_bytes(line) + b"\n")
            if f"{line['type']}s" in counts:
                counts[f"{line['type']}s"] += 1
    if json and out is not None:
        output.write_json({"file": out, **counts})
    else:
        output.note(f"{counts['contexts']} contexts with {counts['messages']} messages.")


@contextmanager
def _writing(file: str | None) -> Iterator[Callable[[bytes], None]]:
    if file is None:
        yield output.write_bytes
        return
    try:
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UltraContextError(
            f"cannot write {output.one_line(file)}: {reason}", hint="Name a new file"
        ) from error
    with os.fdopen(handle, "wb") as opened:

        def write(data: bytes) -> None:
            opened.write(data)

        yield write


def chosen_contexts(
    place: Workspace, space: SpaceStore, idents: list[str], project: str | None
) -> Iterator[ContextInfo]:
    """Those that were named, or all; of a project those of its folder and below."""
    from ultracontext.store.transfer import all_contexts

    folder = None if project is None else place.absolute(project).rstrip("/")
    found = 0
    for info in [named(space, one) for one in idents] if idents else all_contexts(space):
        if folder is None or is_below(info, folder):
            found += 1
            yield info
    if not found and folder is not None:
        raise NotFoundError("no context of this folder", hint="`ultracontext sessions` lists them")


def is_below(info: ContextInfo, folder: str) -> bool:
    metadata: Any = info.metadata
    path = metadata.get("project_path") if isinstance(metadata, dict) else None
    return isinstance(path, str) and (path == folder or path.startswith(folder + "/"))


def named(space: SpaceStore, ident: str) -> ContextInfo:
    """By its whole id, or by what the store knows it by."""
    from ultracontext.cli.contexts import WHOLE_ID
    from ultracontext.model import ContextId

    if WHOLE_ID.fullmatch(ident):
        return space.context(ContextId(ident))
    return space.context(space.find(ident).context_id)


def masking(place: Workspace) -> tuple[Callable[[Any], Any], int]:
    """Masks JSON values, also where capture does not; and the number of the rules."""
    from ultracontext.redaction.opening import masking_redactor
    from ultracontext.wire.masking import masked

    place.paths.ensure()
    redactor = masking_redactor(place.paths, place.settings)
    return lambda value: masked(redactor, value) if value else value, redactor.rule_set
