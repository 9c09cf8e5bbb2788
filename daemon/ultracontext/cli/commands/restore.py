"""`restore`: stored sessions back for their own agent."""

from __future__ import annotations

from typing import Annotated

import typer

from ultracontext.cli.group import UsageError, command_app

app = command_app()


@app.command()
def restore(
    ident: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="Context id, native id, or a prefix.")
    ] = None,
    gone: Annotated[bool, typer.Option("--gone", help="All whose files are gone.")] = False,
    hidden: Annotated[
        bool, typer.Option("--hidden", help="All that their agent does not list.")
    ] = False,
    version: Annotated[int | None, typer.Option(metavar="N", help="As of this version.")] = None,
    cwd: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where to go on; else the session's folder.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Also for an untested version.")] = False,
    launch: Annotated[bool, typer.Option("--launch/--no-launch", help="Run it here.")] = False,
    target_version: Annotated[
        str | None, typer.Option(metavar="V", help="Of the program that will open it.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Write stored sessions back, so that their own agent lists and resumes them.

    Each gets a new id; secrets stay masked. `ultracontext switch undo` takes it back."""
    if sum((ident is not None, gone, hidden)) != 1:
        raise UsageError("restore takes an id, --gone or --hidden", hint="Give one of them")
    if ident is None and (version is not None or launch or cwd):
        raise UsageError("--version, --cwd and --launch go with an id", hint="Leave them out")
    from ultracontext.cli.restoring import restore_many, restore_one
    from ultracontext.cli.switching import Order

    order = Order(
        target="", cwd=cwd, dry_run=dry_run, force=force, launch=launch,
        target_version=target_version, as_json=json,
    )  # fmt: skip
    if ident is not None:
        return restore_one(ident, order, version)
    return restore_many("gone" if gone else "hidden", order)
