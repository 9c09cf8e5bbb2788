"""`relocate`: sessions follow to a folder that moved."""

from __future__ import annotations

from typing import Annotated

import typer

from ultracontext.cli.group import command_app

app = command_app()


@app.command()
def relocate(
    old: Annotated[str, typer.Argument(metavar="OLD", help="Where the project was.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Where it is now.")],
    write: Annotated[
        bool, typer.Option("--write", help="Write them; else only say which.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Also for an untested version.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Write the sessions of a folder that moved once more, where their agents look now.

    The old ones stay; `ultracontext switch undo` takes the new ones back."""
    from ultracontext.cli.restoring import relocate as follow
    from ultracontext.cli.switching import Order

    order = Order(target="", force=force, as_json=json)
    return follow(old, new, order, write_them=write)
