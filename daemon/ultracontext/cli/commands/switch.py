"""`switch`: a session continues in another agent; `switch list`, `switch undo`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ultracontext.cli.group import UsageError, command_app

app = command_app()

LIST, UNDO = "list", "undo"
FIDELITIES = ("faithful", "text")


@app.command()
def switch(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="[AGENT]", help="The target; or `list`, or `undo ID`."),
    ] = None,
    to: Annotated[str | None, typer.Option(metavar="AGENT", help="The same as AGENT.")] = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="AGENT", help="Only sessions of this agent.")
    ] = None,
    session: Annotated[
        str | None, typer.Option(metavar="ID|PATH", help="This session; else the newest here.")
    ] = None,
    cwd: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where to go on; else the session's folder.")
    ] = None,
    last: Annotated[int | None, typer.Option(metavar="N", help="Only the last N turns.")] = None,
    full: Annotated[bool, typer.Option("--full", help="What was compacted, too.")] = False,
    budget: Annotated[
        int | None, typer.Option(metavar="N", help="The newest turns of about N tokens.")
    ] = None,
    fidelity: Annotated[
        str, typer.Option(metavar="HOW", help="faithful, or text: thoughts as text.")
    ] = "faithful",
    handoff: Annotated[
        bool, typer.Option("--handoff", help="A document in place of a session.")
    ] = False,
    unmasked: Annotated[
        bool, typer.Option("--unmasked", help="With the secrets, from the agent's own file.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan and its losses; write nothing.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Also for an untested version.")] = False,
    launch: Annotated[
        bool, typer.Option("--launch/--no-launch", help="Run the target here.")
    ] = False,
    go_on: Annotated[
        bool,
        typer.Option("--continue/--no-continue", help="Send a last prompt that nobody answered."),
    ] = True,
    target_version: Annotated[
        str | None, typer.Option(metavar="V", help="Of the program that will open it.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Ask nothing.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Every session, as a batch.")] = False,
    project: Annotated[
        str | None, typer.Option(metavar="DIR", help="With --all: of this folder.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="T", help="With --all: with a turn since then.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Continue a session in another agent, with its whole history.

    The newest session of this folder is read to its end, written as a session that the target
    opens natively, read back, and the command that opens it is printed."""
    from ultracontext.cli import switching

    given = list(words or [])
    if given[:1] == [LIST]:
        _no_more(given[1:])
        switching.print_list(as_json=json)
        return 0
    if given[:1] == [UNDO]:
        if len(given) != 2:
            raise UsageError("undo takes one id", hint="`ultracontext switch list` shows them")
        switching.undo(given[1], force=force, as_json=json)
        return 0
    target = _target(given, to)
    if fidelity not in FIDELITIES:
        raise UsageError(f"no fidelity {fidelity!r}", hint=f"One of {', '.join(FIDELITIES)}")
    for name, value in (("--last", last), ("--budget", budget)):
        if value is not None and value < 1:
            raise UsageError(f"{name} takes a number above 0", hint="Leave it out for all")
    order = switching.Order(
        target=target, source=source, session=session, cwd=cwd, last=last, full=full,
        budget=budget, fidelity=fidelity, handoff=handoff, unmasked=unmasked, dry_run=dry_run,
        force=force, launch=launch, go_on=go_on, target_version=target_version, yes=yes,
        project=project, since=since, as_json=json,
    )  # fmt: skip
    _check(order, every=every)
    if every:
        return switching.switch_all(order)
    return switching.switch_one(order)


def _no_more(words: list[str]) -> None:
    if words:
        raise UsageError(f"{words[0]!r} is too much", hint="`ultracontext switch list` is all")


def _target(given: list[str], to: str | None) -> str:
    if len(given) > 1:
        raise UsageError("one target at a time", hint="Name one agent")
    if given and to is not None and given[0] != to:
        raise UsageError(f"{given[0]} and --to {to} differ", hint="Name one agent")
    found = to or (given[0] if given else None)
    if found is None:
        from ultracontext.agents import known

        raise UsageError("no target", hint=f"Name one of {', '.join(known())}")
    return found


def _check(order: Any, *, every: bool) -> None:
    if not every and (order.project or order.since):
        raise UsageError("--project and --since go with --all", hint="Add --all")
    if every and (order.session or order.launch or order.handoff or order.cwd):
        raise UsageError(
            "--all does not go with --session, --cwd, --launch or --handoff", hint="Leave them out"
        )
    if order.as_json and order.launch:
        raise UsageError("--json does not go with --launch", hint="Leave one out")
    if order.last is not None and order.budget is not None:
        raise UsageError("--last does not go with --budget", hint="Leave one out")
