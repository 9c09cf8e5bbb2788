"""`forget`: a session, or all of a project, gone for good and not captured again."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.commands.export import chosen_contexts, named
from ultracontext.cli.contexts import confirm
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.stores import editing, is_here
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import NotFoundError, UltraContextError

if TYPE_CHECKING:
    from ultracontext.store import ContextInfo, SpaceStore

app = command_app()

SCRUB_SECONDS = 10.0


@app.command()
def forget(
    ident: Annotated[
        str | None, typer.Argument(metavar="ID", help="Context id, session id, or a prefix.")
    ] = None,
    project: Annotated[
        str | None, typer.Option(metavar="DIR", help="All of this folder and below.")
    ] = None,
    keep_forks: Annotated[
        bool, typer.Option("--keep-forks", help="Leave forks, which hold some of the text.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    store: Annotated[str | None, typer.Option(metavar="URL", help="Another store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Wipes sessions with all versions and forks, for good. A tombstone stays: capture does not
    bring them back."""
    if (ident is None) == (project is None):
        raise UsageError("name a session or --project DIR", hint="One of both")
    place = workspace()
    here = is_here(place, store)
    with editing(place, store) as space:
        rows = _with_sub_agents(space, _rows(place, space, ident, project))
        forks = _forks(space, rows) + (_copies(place, space, rows) if here else [])
        if not json:
            _list(rows, forks, keep_forks=keep_forks)
        name = str(rows[0].context_id) if ident is not None else place.absolute(project or "")
        gone = len(rows) + (0 if keep_forks else len(forks))
        confirm(name, f"This wipes {gone} contexts and their history", yes=yes)
        done = _wipe(space, rows, [] if keep_forks else forks, forks=not keep_forks)
        if keep_forks:
            done["kept_forks"] = [str(fork.context_id) for fork in forks]
        clean = _scrub(space)
        if here:
            done["written"], clean = _beside(place, space, done["wiped"], clean=clean)
    _tell(done, clean=clean, as_json=json)
    return 0 if clean else 1


def _rows(
    place: Workspace, space: SpaceStore, ident: str | None, project: str | None
) -> list[ContextInfo]:
    if ident is not None:
        return [named(space, ident)]
    return list(chosen_contexts(place, space, [], project))


def _with_sub_agents(space: SpaceStore, rows: list[ContextInfo]) -> list[ContextInfo]:
    """Sub-agents are a part of their session: what they were asked and said goes with it."""
    from ultracontext.store.transfer import all_contexts

    found = {row.context_id: row for row in rows}
    parents: set[tuple[str | None, str | None]] = {
        (row.agent, row.session_id) for row in rows if row.session_id is not None
    }
    every = list(all_contexts(space)) if parents else []
    while True:
        new = [row for row in every
               if row.context_id not in found and _parent_of(row) in parents]  # fmt: skip
        if not new:
            return list(found.values())
        found |= {row.context_id: row for row in new}
        parents |= {(row.agent, row.session_id) for row in new}


def _parent_of(row: ContextInfo) -> tuple[str | None, str | None] | None:
    metadata: Any = row.metadata if isinstance(row.metadata, dict) else {}
    parent = metadata.get("parent_session")
    if row.session_id is None or metadata.get("relation") != "subagent" or not parent:
        return None
    return row.agent, str(parent)


def _copies(place: Workspace, space: SpaceStore, rows: list[ContextInfo]) -> list[ContextInfo]:
    """Captured sessions that a switch wrote from these: forks by another way."""
    from ultracontext.model import ContextId
    from ultracontext.runtime.forgetting import written_copies

    found = []
    for name in sorted(written_copies(place.paths, [str(row.context_id) for row in rows])):
        with suppress(NotFoundError):
            found.append(space.context(ContextId(name)))
    known = {row.context_id for row in (*rows, *_forks(space, rows))}
    return [row for row in found if row.context_id not in known]


def _beside(
    place: Workspace, space: SpaceStore, wiped: list[str], *, clean: bool
) -> tuple[list[str], bool]:
    """What lies beside the local store goes too; the sessions that a switch wrote and that their
    agents still have, and whether no byte is left."""
    from ultracontext.runtime.forgetting import leave_index, leave_ledger

    left = leave_ledger(place.paths, wiped)
    clean = leave_index(place.paths, space, lambda: place.redactor, wiped) and clean
    return [row.path for row in left], clean


def _forks(space: SpaceStore, rows: list[ContextInfo]) -> list[ContextInfo]:
    """Of all of them, each once, and none that goes anyway."""
    known = {row.context_id for row in rows}
    found = {fork.context_id: fork for row in rows for fork in space.forks(row.context_id)}
    return [fork for name, fork in found.items() if name not in known]


def _list(rows: list[ContextInfo], forks: list[ContextInfo], *, keep_forks: bool) -> None:
    for row in rows:
        output.note(_line(row))
    if forks:
        word = "stay, and hold some of the text" if keep_forks else "go too"
        output.note(f"Forks that {word}:")
        for fork in forks:
            output.note(f"  {_line(fork)}")


def _line(row: ContextInfo) -> str:
    metadata: Any = row.metadata if isinstance(row.metadata, dict) else {}
    told = (row.context_id, row.agent, metadata.get("title"), f"{row.messages} messages")
    return output.one_line("  ".join(str(part) for part in told if part))


def _wipe(
    space: SpaceStore, rows: list[ContextInfo], copies: list[ContextInfo], *, forks: bool
) -> dict[str, list[str]]:
    wiped: dict[str, None] = {}
    kept: dict[str, None] = {}
    for row in (*rows, *copies):
        if row.context_id in wiped:  # a fork of one before it
            continue
        try:
            done = space.wipe(row.context_id, forks=forks, reason="forget", now=datetime.now(UTC))
        except NotFoundError:
            continue
        wiped |= dict.fromkeys(map(str, done.contexts))
        kept |= dict.fromkeys(str(fork.context_id) for fork in done.kept_forks)
    left = [name for name in kept if name not in wiped]
    return {"wiped": list(wiped), "kept_forks": left}


def _scrub(space: SpaceStore) -> bool:
    """Waits a while for readers of an older state."""
    deadline = time.monotonic() + SCRUB_SECONDS
    while not space.scrub():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def _tell(done: dict[str, list[str]], *, clean: bool, as_json: bool) -> None:
    if as_json:
        output.write_json({**done, "clean": clean})
    else:
        output.write(f"Wiped {len(done['wiped'])}. What was in them is not captured again.")
        for name in done["kept_forks"]:
            output.write(f"kept {name}, a fork that holds some of the text")
        for path in done.get("written", ()):
            output.write(
                output.one_line(f"{path} was written by a switch and stays with its agent")
            )
    if not clean:
        raise UltraContextError(
            "bytes of it may still be in the files of the store or the index: another program is"
            " reading",
            hint="They go at the next upkeep of the daemon", code="not-scrubbed",
        )  # fmt: skip
