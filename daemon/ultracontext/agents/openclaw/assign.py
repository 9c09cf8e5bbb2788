"""Whose record a line or a row is.

The session is the one that the header names; a file whose header is missing is named after itself.
Records have ids of their own. Those of the database are named `db:ID`, so that a session which
stands in a file and in the database, during a migration, has both; the reader joins them by id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultracontext.agents.openclaw.branches import Leaves
from ultracontext.agents.openclaw.values import identifier, mapping
from ultracontext.formats import Assignment, Engine, Need, SourceFacts
from ultracontext.redaction import MaskedRecord

INDEX = "index"
TRACE = "trace"
INDEX_BYTES = 64 << 10
TRACE_BYTES = 4 << 10
"""The trace's first record names the session's key; the index may be long and lose it."""


class OpenClawAssigner:
    """Assigns the records of one source."""

    __slots__ = ("_database", "_facts", "_leaves", "_session")

    def __init__(self, facts: SourceFacts, saved: Mapping[str, Any] | None) -> None:
        self._facts = facts
        self._database = facts.engine is Engine.DATABASE
        self._session = identifier((saved or {}).get("session"))
        self._leaves = Leaves((saved or {}).get("leaves"))

    def assign(self, record: MaskedRecord) -> Assignment:
        native = mapping(record.native)
        if self._database:
            return self._row(native)
        kind = native.get("type")
        if self._session is None and native:
            named = identifier(native.get("id")) if kind == "session" else None
            self._session = named or self._facts.session_hint
        session = self._session or self._facts.session_hint
        if kind == "session":
            return self._header(session)
        version = self._leaves.next("", native)
        parent = identifier(native.get("parentId"))
        return Assignment(session, identifier(native.get("id")), None, (), None, parent, version)

    def _header(self, session: str | None) -> Assignment:
        if self._facts.role != "session":
            return Assignment(session, f"session@{self._facts.role}")
        stem = self._facts.extra.get("file", "")
        needs = (
            Need(name=INDEX, path="sessions.json", length=INDEX_BYTES),
            Need(name=TRACE, path=f"{stem}.trajectory.jsonl", length=TRACE_BYTES),
        )
        return Assignment(session, "session", None, needs)

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {} if self._session is None else {"session": self._session}
        if leaves := self._leaves.state():
            state["leaves"] = leaves
        return state

    def _row(self, native: dict[str, Any]) -> Assignment:
        key = native.get("key")
        if type(key) is not str or not key:
            return Assignment(None, None, "no-session")
        if native.get("table") == "window":
            return Assignment(key, "window")
        place, _, session = key.partition("/")
        event = mapping(native.get("value"))
        if event.get("type") == "session":
            return Assignment(session or None, "db:session")
        named = identifier(event.get("id"))
        version = self._leaves.next(session, event, prefix="db:")
        return Assignment(
            session or None, f"db:{named}" if named else f"db:#{place}", version=version
        )
