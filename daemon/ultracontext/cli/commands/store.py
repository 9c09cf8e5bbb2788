"""`store`: backup, restore, prune, check."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ultracontext import __version__
from ultracontext.cli import output
from ultracontext.cli.commands.status import size
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import StoreError, WriteRefusedError

if TYPE_CHECKING:
    from ultracontext.store.base import SpaceStore

app = command_app(help="The local store: copies of it, and whether it is sound.")
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
KEY = "The masking key is not in it: `ultracontext config key export FILE` saves it."


@app.command("backup")
def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.")], json: Json = False
) -> None:
    """Copies the store while the daemon runs, into one file that is looked through."""
    from ultracontext.store.files import copy_store

    place = workspace()
    target = Path(place.absolute(str(file)))
    if target.is_dir():
        raise UsageError(f"{target} is a folder", hint="Name a file in it")
    written = copy_store(place.paths.store_file, target)
    if json:
        output.write_json({"file": str(target), "bytes": written})
        return
    output.note(output.one_line(f"Wrote {target}, {size(written)}."))
    output.note(KEY)


@app.command("restore")
def restore(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `store backup` wrote.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Puts a backup in the place of the store; the store before it is kept beside it."""
    from ultracontext.runtime.lock import DaemonLock, holding
    from ultracontext.store.files import put_in_place

    place = workspace()
    source = Path(place.absolute(str(file)))
    if not source.is_file():
        raise StoreError(f"there is no file {source}", hint="Name a backup", code="store-missing")
    _check_key(place, source)
    if not yes and not typer.confirm(
        f"Put {source.name} in the place of the store?", default=False, err=True
    ):
        raise WriteRefusedError("nothing was restored", hint="Say so by --yes")
    place.paths.ensure()
    lock = DaemonLock(place.paths.lock_file)
    with holding(lock, version=__version__, socket="", once=True):
        aside = put_in_place(source, place.paths.store_file)
        _drop_index(place)
    if json:
        output.write_json({"store": str(place.paths.store_file), "before": aside and str(aside)})
        return
    output.note(output.one_line(f"Restored {place.paths.store_file}."))
    if aside is not None:
        output.note(output.one_line(f"The store before it is {aside}; remove it when all is well."))


def _check_key(place: Workspace, source: Path) -> None:
    """A store of another key could not be captured into."""
    from ultracontext.redaction.fingerprint import load_secret
    from ultracontext.runtime.key import NOTE, check_value

    place.paths.ensure()
    with place.reading(source) as space:
        noted = None if space is None else space.noted(NOTE)
    if noted is not None and noted != check_value(load_secret(place.paths.secret_file)):
        raise WriteRefusedError(
            "the backup was written with another masking key",
            code="key",
            hint="Bring its key back first: `ultracontext config key import FILE`",
        )


def _drop_index(place: Workspace) -> None:
    """The search index is of the earlier store; the daemon fills another."""
    index = place.paths.index_file
    for suffix in ("", "-wal", "-shm"):
        index.with_name(index.name + suffix).unlink(missing_ok=True)


@app.command("check")
def check(json: Json = False) -> int:
    """Looks through the whole store for damage. Exit 1 when there is any."""
    from ultracontext.store.base import MEND
    from ultracontext.store.files import sound

    place = workspace()
    path = place.paths.store_file
    if not path.exists():
        raise StoreError(
            f"there is no store at {path}", hint="Run `ultracontext daemon start`",
            code="store-missing",
        )  # fmt: skip
    whole = sound(path)
    sessions = 0
    if whole:
        with place.reading(path) as space:
            sessions = _count(space)
    if json:
        output.write_json({"sound": whole, "file": str(path), "sessions": sessions})
    elif whole:
        output.write(output.one_line(f"{path} is sound: {sessions} sessions."))
    else:
        output.write(output.one_line(f"{path} is damaged. {MEND}."))
    return 0 if whole else 1


@app.command("prune")
def prune(
    older_than: Annotated[
        str | None, typer.Option("--older-than", metavar="TIME", help="Not active since, as 90d.")
    ] = None,
    project: Annotated[
        str | None, typer.Option(metavar="GLOB", help="Only sessions of these folders.")
    ] = None,
    to_mb: Annotated[
        int | None, typer.Option("--to-mb", metavar="N", help="Oldest first, down to this size.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: Json = False,
) -> None:
    """Removes old sessions for good; capture does not bring them back, `capture again` does.

    Sub-agents go with their session. What is chosen for the remote and not there stays."""
    from ultracontext.cli import pruning

    place = workspace()
    if older_than is None and project is None and to_mb is None:
        raise UsageError(
            "store prune needs to know what", hint="Give --older-than, --project or --to-mb"
        )
    wish = pruning.Wish(older_than=older_than, project=project, to_mb=to_mb)
    with pruning.opened(place) as (store, space):
        choice = pruning.chosen(place, space, wish)
        sessions = sum(len(family.rows) for family in choice.families)
        gone = 0
        if not dry_run and choice.families:
            limit = "" if to_mb is None else f", oldest first until the store takes {to_mb} MB"
            if not yes and not typer.confirm(
                f"Remove {sessions} sessions for good{limit}?", default=False, err=True
            ):
                raise WriteRefusedError("nothing was removed", hint="Say so by --yes")
            gone = pruning.carry_out(place, store, space, choice, wish)
    if json:
        output.write_json({"chosen": sessions, "pruned": gone, "waiting": choice.waiting})
        return
    output.note(f"{sessions} sessions would go." if dry_run else f"Removed {gone} sessions.")
    if choice.waiting:
        output.note(f"{choice.waiting} stay: they are chosen for the remote and not there yet.")


def _count(space: SpaceStore | None) -> int:
    return 0 if space is None else len(space.contexts(limit=0, children=True))
