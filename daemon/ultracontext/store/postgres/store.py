"""The PostgreSQL backend as a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import psycopg

from ultracontext.chain import shown
from ultracontext.errors import NotFoundError, StoreError
from ultracontext.model import ContextId, EventId, SessionFacts, captured_context_id
from ultracontext.store import readers
from ultracontext.store.base import ContextRow, StoredNode
from ultracontext.store.history import History, Root, Row, Rows
from ultracontext.store.nocapture import NoCapture
from ultracontext.store.postgres import statements as sql
from ultracontext.store.postgres.connection import Server, closing_on_error
from ultracontext.store.postgres.rows import PostgresRows, root_of
from ultracontext.store.values import milliseconds, moment

T = TypeVar("T")
PAGE_ROWS = 200
NAMED = 5
SHORTEST = 4
END = 2**31 - 1


class PostgresStore:
    """One database. `within` is all that it offers for reading and writing."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._spaces: dict[str, PostgresSpaceStore] = {}
        self._lock = Lock()

    def within(self, space: str) -> PostgresSpaceStore:
        if not space or "\0" in space:
            raise ValueError("a space has a name")
        with self._lock:
            if space not in self._spaces:
                self._spaces[space] = PostgresSpaceStore(space, self._server)
            return self._spaces[space]

    def maintain(self) -> None:
        """The server looks after itself."""

    def sound(self, halted: Callable[[], bool]) -> bool | None:
        """The server checks its own pages."""
        del halted
        return True

    @property
    def damaged(self) -> bool:
        return False

    def close(self) -> None:
        self._server.close()


def open_postgres(url: str, *, migrate: bool) -> PostgresStore:
    """Opens the store in a database; `migrate` makes it or brings it up to date first."""
    server = Server(url)
    server.reach()
    with closing_on_error(server):
        if migrate:
            server.migrate()
        server.check()
    return PostgresStore(server)


class PostgresSpaceStore(NoCapture, History):
    """One space of the database."""

    def __init__(self, space: str, server: Server) -> None:
        self.space = space
        self._server = server

    def _in_read(self, work: Callable[[Rows], T]) -> T:
        return self._server.read(lambda cursor: work(PostgresRows(cursor, self.space)))

    def _in_write(self, work: Callable[[Rows], T], *, context: str = "") -> T:
        return self._server.write(
            lambda cursor: work(PostgresRows(cursor, self.space)), key=f"{self.space}/{context}"
        )

    def scrub(self) -> bool:
        """Rows that are gone are overwritten when the server needs their place."""
        return True

    # sessions that were captured elsewhere
    def position_of(self, event: EventId) -> int | None:
        found = self._in_read(lambda rows: rows.by_name(event))
        return None if found is None else found[1].position

    def contexts(
        self,
        *,
        agent: str | None = None,
        project: str | None = None,
        since: datetime | None = None,
        limit: int = 50,
        children: bool = False,
    ) -> list[ContextRow]:
        query, values = sql.SESSIONS, dict[str, Any]()
        if agent is not None:
            query, values["agent"] = query + " AND agent = %(agent)s", agent
        if project is not None:
            query += sql.IN_PROJECT
            values["project"] = project.rstrip("/") or "/"
        if since is not None:
            query, values["since"] = query + " AND updated_ms >= %(since)s", milliseconds(since)
        query += " ORDER BY updated_ms DESC, context_id"
        rows = [self._row(root) for root in self._roots(query, **values)]
        found = [row for row in rows if children or row.facts.relation != "subagent"]
        return found[:limit] if limit else found

    def find(self, name: str) -> ContextRow:
        name = name.replace("\0", "").encode("utf-8", "replace").decode()
        found = self._roots(sql.SESSIONS + sql.NAMED_EXACTLY, name=name)
        if not found and len(name) >= SHORTEST:
            found = self._roots(sql.SESSIONS + sql.NAMED_SO, name=name)
        if not found:
            raise NotFoundError(
                f"no session named {name!r}", hint="`ultracontext sessions --all` lists them"
            )
        if len(found) > 1:
            shown = ", ".join(f"{r.context_id} ({r.agent} {r.session_id})" for r in found[:NAMED])
            raise StoreError(
                f"{name!r} could be {shown}", hint="Give more of the id", code="ambiguous"
            )
        return self._row(found[0])

    def by_session(self, agent: str, session_id: str) -> ContextRow | None:
        name = captured_context_id(agent, session_id)
        found = self._in_read(lambda rows: rows.root(name))
        return None if found is None or found.session_id is None else self._row(found)

    def nodes(
        self,
        context_id: ContextId,
        *,
        first: int = 0,
        until: int | None = None,
        all_revisions: bool = False,
        version: int | None = None,
    ) -> Iterator[StoredNode]:
        root = self._in_read(lambda rows: rows.root(context_id))
        after = (first, -1, -1)
        while root is not None:
            end = END if until is None else until
            page, after = self._in_read(partial(_nodes, root, after, end))
            if not page:
                return
            for node, row in page:
                wanted = all_revisions or row.superseded is None
                if wanted if version is None else shown(row.born, row.superseded, version):
                    yield node

    def stale(self, limit: int) -> list[ContextRow]:
        return []

    def pulse(self) -> int | None:
        return None

    def child_counts(self) -> dict[ContextId, int]:
        counts: dict[ContextId, int] = {}
        for root in self._roots(sql.SESSIONS):
            row = self._row(root)
            if row.facts.relation == "subagent" and row.parent_id is not None:
                counts[row.parent_id] = counts.get(row.parent_id, 0) + 1
        return counts

    def _roots(self, query: str, **values: Any) -> list[Root]:
        def work(cursor: psycopg.Cursor[Any]) -> list[Root]:
            rows = cursor.execute(query.encode(), {"space": self.space, **values})
            return [root_of(row) for row in rows.fetchall()]

        return self._server.read(work)

    def _row(self, root: Root) -> ContextRow:
        facts = root.facts or SessionFacts()
        agent = root.agent or ""
        parent = facts.parent_session and captured_context_id(agent, facts.parent_session)
        return ContextRow(
            context_id=ContextId(root.context_id),
            agent=agent,
            session_id=root.session_id or "",
            version=root.version,
            nodes=root.next_position,
            facts=facts,
            stale=not readers.reader_digest(agent) and root.facts is None,
            parent_id=ContextId(parent) if parent else None,
            stored_at=moment(root.written_ms),
        )


def _nodes(
    root: Root, after: tuple[int, int, int], until: int, rows: Rows
) -> tuple[list[tuple[StoredNode, Row]], tuple[int, int, int]]:
    found = rows.page(root, after, until, PAGE_ROWS)
    nodes = rows.nodes(root, found)
    return list(zip(nodes, found, strict=True)), found[-1].key if found else after
