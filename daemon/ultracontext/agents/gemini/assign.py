"""Whose record a line, or a part of a document, is.

A session is named by the first `sessionId` in its file. Names of records:

    TYPE:ID             a message of a log; the n-th time that it comes it is revision n
    PROCESS@OFFSET      any other record of a log; PROCESS is the `startTime` of the file's first
                        metadata line, which tells the files of one session apart
    doc:head@PROJECT    a document without its messages
    doc:TYPE:ID         a message of a document; the twin in a log is found by its id
    doc:#PLACE          one without an id

Nothing is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from ultracontext.agents.gemini.compat import NOTICES, TURNS
from ultracontext.agents.gemini.layout import CHECKPOINT
from ultracontext.agents.gemini.project import needs as project_needs
from ultracontext.agents.gemini.rewinds import List
from ultracontext.agents.gemini.spill import needs as spill_needs
from ultracontext.agents.gemini.values import identifier, listing, mapping, moment
from ultracontext.formats import Assignment, Engine, Need, SourceFacts
from ultracontext.redaction import MaskedRecord

MOST_COUNTED = 256
"""Message ids whose repeats are counted: they come right after each other, or as part of a list."""

_TYPES = TURNS | NOTICES


class GeminiAssigner:
    """Assigns the records of one file."""

    __slots__ = (
        "_counts", "_document", "_hint", "_items", "_list", "_parent", "_place", "_process",
        "_project", "_role", "_session", "_spare", "_up",
    )  # fmt: skip

    def __init__(self, facts: SourceFacts, saved: Mapping[str, Any] | None) -> None:
        saved = saved or {}
        self._document = facts.engine is Engine.DOCUMENT
        self._items = facts.document.items if facts.document is not None else "messages"
        self._role, self._hint, self._parent = facts.role, facts.session_hint, facts.parent_hint
        self._up = facts.extra.get("up", "../")
        self._project = facts.extra.get("project", "")
        self._session = identifier(saved.get("session"))
        self._process = identifier(saved.get("process"))
        spare = saved.get("spare", facts.extra.get("spare", ""))
        self._spare = spare if type(spare) is str else ""
        place = saved.get("place")
        self._place = place if type(place) is int else 0
        self._counts: dict[str, int] = {
            name: count
            for name, count in mapping(saved.get("counts")).items()
            if type(count) is int
        }
        self._list = List(saved.get("list"), prefix=self._spare)

    def assign(self, record: MaskedRecord) -> Assignment:
        native = record.native
        if type(native) is not dict:
            return Assignment(self._session, None if self._document else self._elsewhere(record))
        self._decide(native)
        if self._document:
            return self._in_document(native, record)
        version = self._list.next(native)
        kind, name = native.get("type"), identifier(native.get("id"))
        if name is None or "$rewindTo" in native:
            name = self._elsewhere(record)
            unmet = self._unmet(native, record)
            return Assignment(self._session, name, None, unmet, None, None, version)
        named = f"{kind}:{name}" if type(kind) is str and kind in _TYPES else name
        unmet = self._unmet(native, record)
        return Assignment(self._session, self._spare + named, None, unmet, self._again(named))

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {"spare": self._spare}
        if self._session is not None:
            state["session"] = self._session
        if self._process is not None:
            state["process"] = self._process
        if self._place:
            state["place"] = self._place
        if self._counts:
            state["counts"] = dict(self._counts)
        if kept := self._list.state():
            state["list"] = kept
        return state

    # ---- session ---------------------------------------------------------------------------------
    def _decide(self, native: dict[str, Any]) -> None:
        """Takes the first record that says whose file this is; a message settles it."""
        if self._process is None and "sessionId" in native:
            self._process = moment(native.get("startTime")) or "-"
        if self._session is not None:
            return
        if self._role == CHECKPOINT:
            self._session = self._hint
            return
        told = native if "$set" not in native else mapping(native["$set"])
        named = identifier(told.get("sessionId"))
        if named is not None and not self._of_parent(named):
            self._session = named
        elif named is not None or "type" in native or self._document:
            self._session = self._hint

    def _of_parent(self, named: str) -> bool:
        """A sub-agent's file that names its parent's session is not the parent's."""
        return self._role == "subagent" and named == self._parent

    # ---- names -----------------------------------------------------------------------------------
    def _elsewhere(self, record: MaskedRecord) -> str:
        return f"{self._spare}{self._process or '-'}@{record.start}"

    def _again(self, named: str) -> int:
        """How often the id has come before in this file."""
        key = blake2b(named.encode("utf-8", "surrogatepass"), digest_size=5).hexdigest()
        count = self._counts.pop(key, -1) + 1
        self._counts[key] = count
        if len(self._counts) > MOST_COUNTED:
            del self._counts[next(iter(self._counts))]
        return count

    def _in_document(self, native: dict[str, Any], record: MaskedRecord) -> Assignment:
        if self._is_head(native):
            self._place = 0
            name = f"doc:{self._spare}head@{self._project}"
            version = self._list.head(listing(native.get(self._items)))
            unmet = self._unmet(native, record)
            return Assignment(self._session, name, None, unmet, None, None, version)
        kind, own = native.get("type"), identifier(native.get("id"))
        if own is not None:
            kind = kind if type(kind) is str and kind in _TYPES else ""
            name = f"doc:{self._spare}{kind}:{own}"
        elif "type" in native or "role" in native:
            name = f"doc:{self._spare}#{self._place}"
        else:
            name = f"doc:{self._elsewhere(record)}"
        self._place += 1
        return Assignment(self._session, name, None, self._unmet(native, record))

    def _is_head(self, native: dict[str, Any]) -> bool:
        return type(native.get(self._items)) is list and "id" not in native

    # ---- companions ------------------------------------------------------------------------------
    def _unmet(self, native: dict[str, Any], record: MaskedRecord) -> tuple[Need, ...]:
        wanted: list[Need] = []
        if "sessionId" in native or (self._document and self._is_head(native)):
            wanted += project_needs(self._up, self._project)
        elif listing(native.get("toolCalls")):
            wanted += spill_needs(native, self._up)
        return tuple(need for need in wanted if need.name not in record.companions)
