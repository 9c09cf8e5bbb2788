"""`sessions`: what was captured, newest activity first."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.commands.status import local
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.table import Column, render
from ultracontext.cli.workspace import workspace
from ultracontext.settings import parse_time

app = command_app()

COLUMNS = (
    Column(name="ID", least=12, weight=1),
    Column(name="Agent", least=6),
    Column(name="Last activity", least=16),
    Column(name="Messages", right=True),
    Column(name="Project", least=10, weight=2),
    Column(name="Title", least=10, weight=3),
)


@app.command()
def sessions(
    agent: Annotated[str | None, typer.Option(help="Only this agent's.")] = None,
    project: Annotated[
        str | None, typer.Option(metavar="DIR", help="Only those of this folder and below.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Active since: 2h, 1d, or ISO 8601.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="At most so many; 0 lists all.")] = 50,
    everything: Annotated[
        bool, typer.Option("--all", help="Sub-agents too, and no limit unless one is given.")
    ] = False,
    store: Annotated[str | None, typer.Option(metavar="URL", help="Another store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    *,
    context: typer.Context,
) -> None:
    """Captured sessions, newest activity first."""
    if limit < 0:
        raise UsageError("--limit is negative", hint="0 lists all")
    place = workspace()
    now = datetime.now(UTC)
    given = context.get_parameter_source("limit")
    if everything and (given is None or given.name == "DEFAULT"):
        limit = 0
    with place.reading(store) as space:
        rows: list[dict[str, Any]] = []
        if space is not None:
            from ultracontext.runtime.listing import fresh_rows, session_rows

            found = space.contexts(
                agent=_agent(agent),
                project=place.absolute(project) if project else None,
                since=parse_time(since, now=now) if since else None,
                limit=limit,
                children=everything,
            )
            rows = session_rows(space, fresh_rows(space, found, lambda: place.redactor))
    if json:
        output.write_json(rows)
    elif not rows:
        output.note(_nothing(any((agent, project, since))))
    else:
        for line in render(
            COLUMNS, [_cells(row, str(place.home)) for row in rows], output.columns()
        ):
            output.write(line)
        if limit and len(rows) == limit:
            output.note(f"The newest {limit}; --limit 0 lists all.")


def _agent(name: str | None) -> str | None:
    """A known slug; a mistyped one is refused rather than listing nothing."""
    if name is None:
        return None
    from ultracontext.agents import known

    if name in known():
        return name
    raise UsageError(f"no agent {name!r}", hint=f"Known agents: {', '.join(known())}")


def _nothing(filtered: bool) -> str:
    if filtered:
        return "No such session. `ultracontext sessions` lists all."
    return "Nothing captured yet. Run `ultracontext daemon run --once`, or `ultracontext demo`."


def _cells(row: dict[str, Any], home: str) -> tuple[str, ...]:
    project = row["project_path"] or ""
    if home != "/" and (project == home or project.startswith(home + "/")):
        project = "~" + project[len(home) :]
    title = row["title"] or ""
    if row["relation"]:
        title = f"({row['relation']}) {title}"
    return (
        row["id"][:16],
        row["agent"],
        local(row["updated_at"] or row["started_at"]),
        str(row["messages"]),
        project,
        title,
    )
