"""`sessions`: what was captured, newest activity first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.commands.status import local
from ultracontext.cli.group import UsageError, command_app, with_default
from ultracontext.cli.table import Column, render
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.settings import parse_duration, parse_time

if TYPE_CHECKING:
    from ultracontext.capture.whereabouts import Whereabouts
    from ultracontext.store.base import ContextRow, SpaceStore

    Wanted = Callable[[ContextRow, Whereabouts], bool]

app = command_app()

SPARE = 50
"""Rows that are read beyond the limit, in the place of empty ones."""
COLUMNS = (
    Column(name="ID", least=12, weight=1),
    Column(name="Agent", least=6),
    Column(name="Last activity", least=16),
    Column(name="Messages", right=True),
    Column(name="Project", least=12, weight=3, keeps_end=True),
    Column(name="Title", least=16, weight=2),
)


SOON = "3d"
MOST_SECONDS = 10 * 365 * 86400.0


@app.command(cls=with_default("--expiring", SOON))
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
    gone: Annotated[
        bool, typer.Option("--gone", help="Those whose agent's file is gone: only we have them.")
    ] = False,
    hidden: Annotated[
        bool,
        typer.Option("--hidden", help="Those whose agent has the file, and does not list it."),
    ] = False,
    expiring: Annotated[
        str | None,
        typer.Option(
            metavar="[DURATION]", help=f"Those that their agent deletes within this time ({SOON})."
        ),
    ] = None,
    store: Annotated[str | None, typer.Option(metavar="URL", help="Another store.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    *,
    context: typer.Context,
) -> None:
    """Captured sessions, newest activity first.

    Sub-agents are folded under their parent; `--all` lists them too."""
    if limit < 0:
        raise UsageError("--limit is negative", hint="0 lists all")
    place = workspace()
    now = datetime.now(UTC)
    given = context.get_parameter_source("limit")
    if everything and (given is None or given.name == "DEFAULT"):
        limit = 0
    wanted = _wanted(gone, hidden, expiring, now)
    asked = {
        "agent": known_agent(agent),
        "project": place.absolute(project) if project else None,
        "since": parse_time(since, now=now) if since else None,
        "children": everything,
    }
    with place.reading(store) as space:
        rows: list[dict[str, Any]] = []
        empty = space is None or not space.contexts(limit=1, children=True)
        if space is not None:
            if wanted is None and not everything:
                rows = _rows(place, space, asked, limit, _holds_something, spare=SPARE)
            else:
                rows = _rows(place, space, asked, limit, wanted)
    if json:
        output.write_json(rows)
    elif not rows:
        output.note(_nothing(empty, any((agent, project, since)), gone, hidden, expiring))
    else:
        for line in render(
            COLUMNS, [_cells(row, str(place.home)) for row in rows], output.columns()
        ):
            output.write(line)
        if limit and len(rows) == limit:
            output.note(f"The newest {limit}; --limit 0 lists all.")


def _wanted(gone: bool, hidden: bool, expiring: str | None, now: datetime) -> Wanted | None:
    """The filter on where a session is, None when all are wanted."""
    if gone + hidden + (expiring is not None) > 1:
        raise UsageError("--gone, --hidden and --expiring exclude each other", hint="Give one")
    if gone or hidden:
        place = "gone" if gone else "hidden"
        return lambda _, found: found.place == place
    if expiring is None:
        return None
    until = now + timedelta(seconds=min(parse_duration(expiring), MOST_SECONDS))
    return lambda _, found: found.expires_at is not None and found.expires_at <= until


def _holds_something(row: ContextRow, found: Whereabouts) -> bool:
    """Whether a session is one to a person: not what a program opened, put its own context into and
    left, which its agent does not list either."""
    facts = row.facts
    return row.stale or facts.title is not None or facts.messages > 1 or found.place == "listed"


def _rows(
    place: Workspace,
    space: SpaceStore,
    asked: dict[str, Any],
    limit: int,
    wanted: Wanted | None,
    *,
    spare: int | None = None,
) -> list[dict[str, Any]]:
    """A filter looks through all sessions, or `spare` more than wanted, until there are enough."""
    from itertools import islice

    from ultracontext.capture.listing import fresh_row, placed_rows, with_place

    more = limit + (spare or 0) if limit else 0
    found = space.contexts(**asked, limit=0 if wanted and spare is None else more)
    placed = with_place(space, found, place.places())
    kept = islice((pair for pair in placed if wanted is None or wanted(*pair)), limit or None)
    return placed_rows(
        space,
        [
            (place.masked(fresh_row(space, row, lambda: place.redactor)), where)
            for row, where in kept
        ],
    )


def known_agent(name: str | None) -> str | None:
    """A known slug; a mistyped one is refused rather than listing nothing."""
    if name is None:
        return None
    from ultracontext.agents import known

    if name in known():
        return name
    raise UsageError(f"no agent {name!r}", hint=f"Known agents: {', '.join(known())}")


def _nothing(empty: bool, filtered: bool, gone: bool, hidden: bool, expiring: str | None) -> str:
    """Why the list is empty, and what to do."""
    if empty:
        return "Nothing captured yet. Run `ultracontext daemon run --once`, or `ultracontext demo`."
    among = " among these" if filtered else ""
    if gone:
        return f"None is gone{among}: the agents still have every captured session."
    if hidden:
        return f"None is hidden{among}: the agents list every captured session that they have."
    if expiring is not None:
        return f"None expires within {expiring}{among}. `--expiring 30d` looks further ahead."
    return "No such session. `ultracontext sessions` lists all."


def _cells(row: dict[str, Any], home: str) -> tuple[str, ...]:
    project = row["project_path"] or ""
    if home != "/" and (project == home or project.startswith(home + "/")):
        project = "~" + project[len(home) :]
    title = row["title"] or ""
    marks = [row["relation"], row["place"] if row["place"] in ("gone", "hidden") else None]
    told = ", ".join(mark for mark in marks if mark)
    title = f"({told}) {title}" if told else title
    if row["children"]:
        title += f" (+{row['children']} sub-agent{'s' if row['children'] > 1 else ''})"
    return (
        row["id"][:16],
        row["agent"],
        local(row["updated_at"] or row["started_at"]),
        str(row["messages"]),
        project,
        title,
    )
