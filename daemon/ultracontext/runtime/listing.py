"""Rows of `sessions`: what lists show of a context, the same from the store and over the socket."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from ultracontext.errors import NotFoundError, StoreError
from ultracontext.model import captured_context_id
from ultracontext.store.base import ContextRow, SpaceStore

if TYPE_CHECKING:
    from ultracontext.redaction import Redactor


def fresh_rows(
    space: SpaceStore, rows: Iterable[ContextRow], redactor: Callable[[], Redactor]
) -> list[ContextRow]:
    """The rows with facts by today's readers; `redactor` is asked for only when one lags behind."""
    return [_fresh(space, row, redactor) if row.stale else row for row in rows]


def _fresh(space: SpaceStore, row: ContextRow, redactor: Callable[[], Redactor]) -> ContextRow:
    from ultracontext.store.session import compute_facts

    facts = compute_facts(space, row, redactor())
    return msgspec.structs.replace(row, facts=facts, stale=False)


def session_rows(space: SpaceStore, rows: Iterable[ContextRow]) -> list[dict[str, Any]]:
    """JSON rows, in the order given."""
    listed = list(rows)
    present: dict[str, bool] = {row.context_id: True for row in listed}
    return [_row(space, row, present) for row in listed]


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
        context = captured_context_id(row.agent, row.facts.parent_session)
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
