"""`heal`: a clean copy of a session that fails on every turn."""

from __future__ import annotations

from typing import Annotated

import typer

from ultracontext.cli.group import command_app

app = command_app()


@app.command()
def heal(
    ident: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A session; else the newest here.")
    ] = None,
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
    """Write a clean copy of a session that its agent's service refuses on every turn.

    Lone surrogates, broken tool pairs, pictures that are too large and proofs of thoughts are
    what a service refuses; the copy holds none of them. The session itself is left as it is."""
    from ultracontext.cli.restoring import heal as write
    from ultracontext.cli.switching import Order

    order = Order(
        target="", cwd=cwd, dry_run=dry_run, force=force, launch=launch,
        target_version=target_version, as_json=json,
    )  # fmt: skip
    return write(ident, order)
