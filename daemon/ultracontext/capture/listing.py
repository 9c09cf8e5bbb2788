"""Rows of `sessions`: what lists show of a context, the same from the store and over the socket."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ultracontext.capture.whereabouts import MASK, UNKNOWN, Places, Whereabouts
from ultracontext.errors import NotFoundError, StoreError
from ultracontext.model import ContextId, captured_context_id
from ultracontext.store.base import ContextRow, SpaceStore

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor

PAGE = 50


def fresh_rows(
    space: SpaceStore, rows: Iterable[ContextRow], redactor: Callable[[], Redactor]
) -> list[ContextRow]:
    """The rows with facts by today's readers; `redactor` is asked for only when one lags behind."""
    return [fresh_row(space, row, redactor) for row in rows]


def fresh_row(space: SpaceStore, row: ContextRow, redactor: Callable[[], Redactor]) -> ContextRow:
    """One row; computing its facts reads the session."""
    if not row.stale:
        return row
    from ultracontext.store.session import compute_facts

    facts = compute_facts(space, row, redactor())
    return msgspec.structs.replace(row, facts=facts, stale=False, rule_set=redactor().rule_set)


def with_place(
    space: SpaceStore, rows: Sequence[ContextRow], places: Places | None
) -> Iterator[tuple[ContextRow, Whereabouts]]:
    """Each row and where its session is, looked up page by page as the rows are asked for."""
    for start in range(0, len(rows), PAGE):
        page = rows[start : start + PAGE]
        paths = space.source_paths([row.context_id for row in page]) if places is not None else {}
        for row in page:
            sources = paths.get(row.context_id, ())
            if places is None:
                yield row, UNKNOWN
            else:
                yield row, places.of(row.agent, row.session_id, row.facts, sources)


def session_rows(
    space: SpaceStore,
    rows: Iterable[ContextRow],
    places: Places | None = None,
) -> list[dict[str, Any]]:
    """JSON rows, in the order given. Without `places` nothing is said of where they are."""
    return placed_rows(space, list(with_place(space, list(rows), places)))


def placed_rows(
    space: SpaceStore, placed: Sequence[tuple[ContextRow, Whereabouts]]
) -> list[dict[str, Any]]:
    """The same for rows whose place is known."""
    present: dict[str, bool] = {row.context_id: True for row, _ in placed}
    children = space.child_counts() if placed else {}
    return [_row(space, row, present) | _more(row, children, place) for row, place in placed]


def _more(row: ContextRow, children: Mapping[ContextId, int], found: Whereabouts) -> dict[str, Any]:
    facts = row.facts
    return {
        "children": children.get(row.context_id, 0),
        "folder_exists": _exists(facts.project_path),
        "usage": facts.usage,
        "files": facts.files,
        "place": found.place,
        "place_reason": found.reason,
        "expires_at": _iso(found.expires_at),
    }


def _exists(folder: str | None) -> bool | None:
    """Null for a folder that is not known, or whose name is masked."""
    if folder is None or MASK in folder or "\0" in folder:
        return None
    return Path(folder).is_dir()


def _iso(when: datetime | None) -> str | None:
    if when is None:
        return None
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _row(space: SpaceStore, row: ContextRow, present: dict[str, bool]) -> dict[str, Any]:
    facts = row.facts
    return {
        "id": row.context_id,
        "session_id": row.session_id,
        "agent": row.agent,
        "project_path": facts.project_path,
        "title": facts.title,
        "title_source": facts.title_source,
        "messages": facts.messages,
        "started_at": facts.started_at,
        "updated_at": facts.updated_at,
        "model": facts.model,
        "parent_id": _parent_id(space, row, present),
        "parent_session": facts.parent_session,
        "relation": facts.relation,
        "version": row.version,
        "git_branch": facts.git_branch,
        "agent_version": facts.agent_version,
        "tokens": facts.tokens,
    }


def _parent_id(space: SpaceStore, row: ContextRow, present: dict[str, bool]) -> str | None:
    """Context id of the parent, if it is captured."""
    context = row.parent_id
    if context is None:
        if not row.facts.parent_session:
            return None
        context = captured_context_id(row.facts.parent_agent or row.agent, row.facts.parent_session)
    if context not in present:
        present[context] = _is_captured(space, context)
    return context if present[context] else None


def _is_captured(space: SpaceStore, context: str) -> bool:
    try:
        space.find(context)
    except NotFoundError:
        return False
    except StoreError as error:
        if error.code != "ambiguous":
            raise
    return True
