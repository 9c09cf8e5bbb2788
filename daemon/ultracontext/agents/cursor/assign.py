"""Whose record a line or a row is.

The stores that hold one conversation give its records names of their own (`db:`, `kv:`, `txt`, and
the place of a transcript's line), so that none is taken for another; the reader joins them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultracontext.agents.cursor.orders import Orders
from ultracontext.agents.cursor.values import identifier, mapping
from ultracontext.formats import Assignment, Need, SourceFacts
from ultracontext.redaction import MaskedRecord

META = "meta"
WORKSPACE = "workspace"
TRUSTED = "trusted"
WORKER = "worker"
WORKER_BYTES = 512


class CursorAssigner:
    """Assigns the records of one source."""

    __slots__ = ("_facts", "_orders", "_session")

    def __init__(self, facts: SourceFacts, saved: Mapping[str, Any] | None) -> None:
        self._facts = facts
        self._session = identifier((saved or {}).get("session")) or facts.session_hint
        self._orders = Orders((saved or {}).get("orders"))

    def assign(self, record: MaskedRecord) -> Assignment:
        role = self._facts.role
        if role == "store":
            return self._store(mapping(record.native))
        if role in ("global", "workspace"):
            return self._state(mapping(record.native))
        text = self._facts.engine.value == "document"
        return Assignment(self._session, "txt" if text else None, None, self._needs(record))

    def state(self) -> dict[str, Any]:
        changed = self._session is not None and self._session != self._facts.session_hint
        state: dict[str, Any] = {"session": self._session} if changed else {}
        if orders := self._orders.state():
            state["orders"] = orders
        return state

    def _needs(self, record: MaskedRecord) -> tuple[Need, ...]:
        """The first record says where the project lies; the folder's own name does not."""
        if record.start != 0:
            return ()
        up = "../" * int(self._facts.extra.get("depth", "1"))
        return (
            Need(name=TRUSTED, path=f"{up}.workspace-trusted"),
            Need(name=WORKER, path=f"{up}worker.log", length=WORKER_BYTES),
        )

    def _store(self, native: dict[str, Any]) -> Assignment:
        key = identifier(native.get("key"))
        if native.get("table") == META:
            value = mapping(native.get("value"))
            self._session = identifier(value.get("agentId")) or self._session
            needs = (Need(name=META, path="meta.json"),)
            version = self._orders.next(self._session or "", value.get("order"))
            return Assignment(self._session, "db:meta", None, needs, None, None, version)
        return Assignment(self._session, f"db:{key}" if key else None)

    def _state(self, native: dict[str, Any]) -> Assignment:
        key = native.get("key")
        session = identifier(key.split(":")[1]) if type(key) is str and ":" in key else None
        if session is None:
            return Assignment(None, None, "no-session")
        workspace = self._facts.extra.get("workspace")
        order = mapping(native.get("value")).get("order")
        version = self._orders.next(session, order, bubbles=f"kv:bubbleId:{session}:")
        if workspace is None:
            return Assignment(session, f"kv:{key}", version=version)
        listed = native.get("table") in ("head", "tab")
        needs = (Need(name=WORKSPACE, path="workspace.json"),) if listed else ()
        name = f"kv:{workspace}:{key}"
        return Assignment(session, name, None, needs, None, None, version)
