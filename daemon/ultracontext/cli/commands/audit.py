"""`audit`: what a person should be able to look up later."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import workspace

app = command_app()


@app.command()
def audit(
    action: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only these: mcp-read, mcp-write, …")
    ] = None,
    context: Annotated[
        str | None, typer.Option(metavar="ID", help="Only what touched this context.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="The newest N; 0: all.")] = 50,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Which agent read which session and when, unmasked copies, and starts without masking.

    Oldest first."""
    from ultracontext.runtime.audit import entries

    if limit < 0:
        raise UsageError("--limit is a number from 0")
    found = [
        entry
        for entry in entries(workspace().paths)
        if (action is None or entry.get("action") == action) and _touches(entry, context)
    ][-limit:]
    if json:
        output.write_json(found)
        return
    for entry in found:
        output.write(output.one_line(_line(entry)))
    if not found:
        output.note("Nothing was recorded.")


def _touches(entry: dict[str, Any], context: str | None) -> bool:
    if context is None:
        return True
    named = entry.get("contexts")
    names = [*named] if isinstance(named, list) else []
    names += [entry.get("context"), entry.get("session")]
    return any(isinstance(name, str) and name.startswith(context) for name in names)


def _line(entry: dict[str, Any]) -> str:
    told = [str(entry.get("at", "")), str(entry.get("action", ""))]
    for name, value in entry.items():
        if name in ("at", "action", "pid"):
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        told.append(f"{name}={text}")
    return "  ".join(told)
