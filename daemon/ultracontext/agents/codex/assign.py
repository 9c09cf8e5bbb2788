"""Whose record it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultracontext.agents.codex.instant import utc
from ultracontext.agents.codex.layout import IMPORTS_ROLE, NAMES_ROLE
from ultracontext.agents.codex.line import as_dict, as_text
from ultracontext.agents.codex.rollbacks import Turns
from ultracontext.formats import Assigner, Assignment, SourceFacts
from ultracontext.redaction import MaskedRecord


def assigner(facts: SourceFacts, state: Mapping[str, Any] | None) -> Assigner:
    """The assigner of one source."""
    if facts.role == NAMES_ROLE:
        return NamesAssigner(state)
    if facts.role == IMPORTS_ROLE:
        return ImportsAssigner()
    return RolloutAssigner(facts.session_hint, state)


class RolloutAssigner:
    """All records of a rollout belong to one session: the id of its first `session_meta`.

    A fork by copy has the metas of its ancestors further down, so only a meta that comes before
    any other sound record counts. Where the first sound record is no meta (a damaged first line),
    and for damaged records before it, the UUID of the file name stands in: it equals the id in
    every file that Codex writes, and the meta of a fork's parent that follows would be wrong.
    Without such a name the records belong to nobody until a meta comes. Rollout records have no
    id of their own.
    """

    __slots__ = ("_answer", "_decided", "_hint", "_session", "_turns")

    def __init__(self, hint: str | None, state: Mapping[str, Any] | None) -> None:
        saved = state or {}
        self._hint = hint
        self._session: str | None = saved.get("session")
        self._decided = self._session is not None
        self._answer = Assignment(self._session)
        self._turns = Turns(as_dict(saved.get("turns")))

    def assign(self, record: MaskedRecord) -> Assignment:
        native = record.native
        version = self._turns.next(native if type(native) is dict else {})
        if not self._decided:
            if type(native) is not dict:
                return Assignment(self._hint)
            self._decide(native)
        if version is not None:
            return Assignment(self._session, version=version)
        return self._answer

    def _decide(self, native: dict[str, Any]) -> None:
        session = meta_id(native) or self._hint
        if session is not None:
            self._session = session
            self._decided = True
            self._answer = Assignment(session)

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"turns": self._turns.state()}
        return {"session": self._session, **state} if self._decided else state


class NamesAssigner:
    """Lines of `session_index.jsonl`: each belongs to the session that it names.

    A line's own id is its `updated_at`, which has nanoseconds, so the same line in a copied index
    is the same record. Only lines without a readable time are counted instead.
    """

    __slots__ = ("_odd",)

    def __init__(self, state: Mapping[str, Any] | None) -> None:
        self._odd: dict[str, int] = dict((state or {}).get("odd") or {})

    def assign(self, record: MaskedRecord) -> Assignment:
        native = record.native
        if type(native) is not dict:
            return Assignment(None)
        session = native.get("id")
        if type(session) is not str or not session:
            return Assignment(None)
        written = native.get("updated_at")
        if type(written) is str and utc(written) is not None:
            return Assignment(session, f"name@{written}")
        number = self._odd[session] = self._odd.get(session, 0) + 1
        return Assignment(session, f"name#{number}")

    def state(self) -> dict[str, Any]:
        return {"odd": dict(self._odd)} if self._odd else {}


class ImportsAssigner:
    """The ledger of imports: each entry belongs to the thread that was made."""

    def assign(self, record: MaskedRecord) -> Assignment:
        session = as_text(as_dict(record.native).get("imported_thread_id"))
        if not session:
            return Assignment(None, None, "no-session")
        return Assignment(session, "import")

    def state(self) -> dict[str, Any]:
        return {}


def meta_id(native: dict[str, Any]) -> str | None:
    """The session id in a `session_meta`, None for every other record.

    Until September 2025 the first line was the bare meta, without an envelope (openai/codex,
    codex-rs/core/src/rollout.rs; read in the source, not run).
    """
    payload = native.get("payload")
    if native.get("type") == "session_meta":
        found = payload.get("id") if type(payload) is dict else None
    elif "type" not in native and payload is None and "timestamp" in native:
        found = native.get("id")
    else:
        return None
    return found if type(found) is str and found else None
