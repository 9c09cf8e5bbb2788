"""`search`: full text over everything that was captured."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ultracontext.cli import output
from ultracontext.cli.commands.status import local
from ultracontext.cli.group import UsageError, command_app
from ultracontext.cli.workspace import Workspace, workspace
from ultracontext.errors import StoreError
from ultracontext.settings import parse_time

if TYPE_CHECKING:
    from ultracontext.search import Asked, Hit
    from ultracontext.store.base import SpaceStore

app = command_app()
ROLES = ("user", "assistant", "tool", "system", "reasoning", "tool_call", "tool_result")


@app.command()
def search(
    query: Annotated[
        list[str], typer.Argument(help='Words are AND, "…" is a phrase, x* a prefix.')
    ],
    agent: Annotated[str | None, typer.Option(help="Only this agent's.")] = None,
    project: Annotated[
        str | None, typer.Option(metavar="DIR", help="Only those of this folder and below.")
    ] = None,
    since: Annotated[
        str | None, typer.Option(metavar="TIME", help="Not older: 2h, 1d, or ISO 8601.")
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="Not newer.")] = None,
    role: Annotated[str | None, typer.Option(help=f"One of {', '.join(ROLES)}.")] = None,
    tool: Annotated[str | None, typer.Option(help="Only calls of this tool.")] = None,
    file: Annotated[
        str | None, typer.Option(metavar="PATH", help="Only sessions that changed this file.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", help="At most so many.")] = 20,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Full text over everything.

    Identifiers are found whole and by their parts: `retry_count`, `retryCount`, `count`."""
    if not 0 < limit <= 1000:
        raise UsageError("--limit is a number from 1 to 1000")
    if role is not None and role not in ROLES:
        raise UsageError(f"no role {role!r}", hint=f"One of {', '.join(ROLES)}")
    place = workspace()
    now = datetime.now(UTC)
    from ultracontext.search import Asked

    asked = Asked(
        query=" ".join(query),
        agent=_agent(agent),
        projects=(place.absolute(project),) if project else None,
        since=parse_time(since, now=now) if since else None,
        until=parse_time(until, now=now) if until else None,
        role=role, tool=tool, file=file, limit=limit,
    )  # fmt: skip
    hits = _find(place, asked, now)
    if json:
        from ultracontext.search.query import as_rows

        output.write_json(as_rows(hits))
    elif not hits:
        output.note("Nothing found. `ultracontext status` says whether the index is complete.")
    else:
        for line in _lines(hits):
            output.write(line)


def _agent(name: str | None) -> str | None:
    from ultracontext.cli.commands.sessions import known_agent

    return known_agent(name)


def _find(place: Workspace, asked: Asked, now: datetime) -> list[Hit]:
    from ultracontext.search import find

    with place.reading() as space:
        if space is None:
            return []
        index = index_of(place, space)
        try:
            return find(index, space, place.redactor, asked, now=now)
        finally:
            index.close()


def index_of(place: Workspace, space: SpaceStore) -> Any:
    """The daemon's; without a daemon it is brought up to date first."""
    from ultracontext.runtime.lock import running
    from ultracontext.search import Filler, Index

    holder = running(place.paths.lock_file)
    if holder is not None and not holder.once:
        try:
            return Index(place.paths.index_file, write=False)
        except StoreError as error:
            if error.code == "index-missing":
                raise StoreError(
                    "the daemon has not made the search index yet", code=error.code,
                    hint="Try again in a moment; `ultracontext status` says how far it is",
                ) from error  # fmt: skip
            raise
    place.paths.ensure()
    index = Index(place.paths.index_file, write=True)
    for _ in Filler(index, space, place.redactor).catch_up():
        pass
    return index


def _lines(hits: list[Hit]) -> list[str]:
    lines: list[str] = []
    for hit in hits:
        project = (hit.project_path or "").rstrip("/").rpartition("/")[2]
        told = [hit.agent, project, hit.kind.replace("_", " "), hit.tool or ""]
        told += [
            local(hit.timestamp) if hit.timestamp else "",
            f"{hit.context_id[:16]} #{hit.index}",
        ]
        head = " · ".join(output.one_line(part) for part in told if part)
        lines += [head, f"    {output.one_line(hit.snippet)}", ""]
    return lines[:-1]
