"""The sessions and contexts that one client may see, and their messages.

Every look-up goes through the scope: what is outside is not found, and nothing tells that it is
there but a count.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import msgspec

from ultracontext.errors import NotFoundError, StoreError
from ultracontext.mcp.budget import line
from ultracontext.mcp.desk import Desk
from ultracontext.mcp.scope import OPENED_BY, Scope
from ultracontext.model import ContextId
from ultracontext.store.base import ContextRow, SpaceStore
from ultracontext.store.contexts import ContextInfo
from ultracontext.store.masking import masked_row
from ultracontext.store.session import read_session
from ultracontext.store.values import iso
from ultracontext.wire import parse

SHORTEST = 4
NAMED = 5
PAGE = 1000


class Item(msgspec.Struct, kw_only=True):
    """A captured session, or a context that a program made."""

    context_id: ContextId
    agent: str
    session_id: str
    project_path: str | None
    remote: str | None
    title: str
    created_at: str
    updated_at: str
    messages: int
    files: list[str]
    metadata: dict[str, Any]
    row: ContextRow | None = None

    def brief(self) -> dict[str, Any]:
        """As lists show it."""
        made = {
            "id": self.context_id, "agent": self.agent, "session_id": self.session_id,
            "project_path": self.project_path, "title": self.title,
            "created_at": self.created_at, "updated_at": self.updated_at,
            "messages": self.messages,
        }  # fmt: skip
        return {k: line(v, 300) if isinstance(v, str) else v for k, v in made.items() if v}


class Library:
    """What of one space lies within a scope."""

    def __init__(self, desk: Desk, space: SpaceStore | None, scope: Scope) -> None:
        self.desk = desk
        self.space = space
        self.scope = scope
        self.hidden = 0
        """Sessions outside of the scope, once `items` was asked for."""
        self.read: list[ContextId] = []
        """Contexts of which text was given."""

    @cached_property
    def items(self) -> list[Item]:
        """Newest activity first."""
        if self.space is None:
            return []
        found = [_of_row(row) for row in self.space.contexts(limit=0, children=True)]
        captured = {item.context_id for item in found}
        found += [_of_info(i) for i in self._made() if i.context_id not in captured]
        seen = [self._masked(item) for item in found if self._sees(item)]
        self.hidden = len(found) - len(seen)
        return sorted(seen, key=lambda item: item.updated_at, reverse=True)

    def get(self, name: str) -> Item:
        """By context id, session id, or a beginning of either. Raises NotFoundError, StoreError."""
        exact = [i for i in self.items if name in (i.context_id, i.session_id)]
        found = exact or [
            i for i in self.items
            if len(name) >= SHORTEST and (
                i.context_id.startswith(name) or i.session_id.startswith(name))
        ]  # fmt: skip
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFoundError(
                f"no session {line(name, 80)!r} is visible here",
                hint=f"list_contexts gives the ids that are; {OPENED_BY}",
            )
        names = ", ".join(i.context_id for i in found[:NAMED])
        raise StoreError(
            f"{line(name, 80)!r} names {len(found)} sessions: {names}",
            hint="Give a whole id", code="ambiguous",
        )  # fmt: skip

    def messages(self, item: Item) -> list[dict[str, Any]]:
        """All that was said and done, bookkeeping left out; `index` is the place in this list."""
        assert self.space is not None  # noqa: S101  (an item came from it)
        self.read.append(item.context_id)
        if item.row is not None:
            return list(self._captured(item.row))
        return list(self._given(item.context_id))

    def row(self, item: Item) -> ContextRow:
        """A captured session's row, masked under today's rules."""
        if item.row is None:
            raise StoreError(
                f"{item.context_id} is a context of a program, no session of an agent",
                hint="get_context_messages reads it", code="no-session",
            )  # fmt: skip
        return item.row

    def _masked(self, item: Item) -> Item:
        """Under today's rules, as everything that is given."""
        if item.row is None:
            return item
        row = masked_row(item.row, self.desk.redactor())
        return item if row is item.row else _of_row(row)

    def _sees(self, item: Item) -> bool:
        return self.scope.allows(item.project_path, item.remote)

    def _made(self) -> Iterator[ContextInfo]:
        assert self.space is not None  # noqa: S101
        cursor = None
        while True:
            page = self.space.list_contexts(limit=PAGE, cursor=cursor)
            yield from page.contexts
            cursor = page.next_cursor
            if cursor is None:
                return

    def _captured(self, row: ContextRow) -> Iterator[dict[str, Any]]:
        assert self.space is not None  # noqa: S101
        session = read_session(self.space, row, self.desk.redactor())
        shown = (m for m in session.messages if m.kind != "meta")
        for index, message in enumerate(shown):
            made: dict[str, Any] = {"index": index, "role": message.role, "kind": message.kind}
            if message.timestamp:
                made["at"] = message.timestamp
            if message.tool is not None and message.tool.name:
                made["tool"] = line(message.tool.name, 100)
            if message.tool is not None and message.tool.is_error:
                made["failed"] = True
            yield {**made, "text": message.text}

    def _given(self, context_id: ContextId) -> Iterator[dict[str, Any]]:
        assert self.space is not None  # noqa: S101
        reading = self.space.read(context_id, redactor=self.desk.redactor())
        for message in reading.messages:
            content = parse(message.content)
            text = content.pop("content", None) if isinstance(content, dict) else content
            if isinstance(text, dict) and isinstance(text.get("message"), str):
                text = text["message"]
            role = content.pop("role", "user") if isinstance(content, dict) else "user"
            rest = {k: v for k, v in content.items() if k not in ("id", "index", "metadata")}
            told = text if isinstance(text, str) else _json(text)
            yield {
                "index": message.index, "role": line(str(role), 20), "kind": "message",
                "at": iso(message.created_at), "text": told + (f"\n{_json(rest)}" if rest else ""),
            }  # fmt: skip


def _json(value: Any) -> str:
    from ultracontext.mcp.budget import dumps

    return "" if value is None else dumps(value)


def _of_row(row: ContextRow) -> Item:
    facts = row.facts
    stored = iso(row.stored_at)
    return Item(
        context_id=row.context_id, agent=row.agent, session_id=row.session_id,
        project_path=facts.project_path, remote=facts.git_remote, title=facts.title or "",
        created_at=facts.started_at or stored, updated_at=facts.updated_at or stored,
        messages=facts.messages, files=facts.files, row=row,
        metadata={"source": row.agent, "session_id": row.session_id,
                  "project_path": facts.project_path or ""},
    )  # fmt: skip


def _of_info(info: ContextInfo) -> Item:
    known = info.metadata if isinstance(info.metadata, dict) else {}

    def text(name: str) -> str:
        value = known.get(name)
        return value if isinstance(value, str) else ""

    return Item(
        context_id=info.context_id, agent=text("source"), session_id=text("session_id"),
        project_path=text("project_path") or None, remote=None,
        title=text("title") or text("name"), created_at=iso(info.created_at),
        updated_at=iso(info.updated_at), messages=info.messages, files=[], metadata=known,
    )  # fmt: skip
