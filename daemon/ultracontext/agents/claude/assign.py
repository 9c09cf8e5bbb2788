"""Whose record a line is.

Left out, and counted by capture under the reason: `vendor-request` (`api-request`: hashes and
parameters of a request; `api-request-shape`: system prompt and tool schemas; `api-request-blob` of
the system's part) and `vendor-prompt` (`attachment`/`prompt_snapshot`: system prompt and tool
schemas). None of them holds anything of the person's that does not stand elsewhere in the file:
what the system's part quotes is the `rendered` text of the attachments before it. Blobs of user and
assistant messages are kept, as `meta`: they are copies, but that cannot be proven line by line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ultracontext.agents.claude.layout import UUID
from ultracontext.agents.claude.rewinds import Branches
from ultracontext.agents.claude.spill import needs
from ultracontext.agents.claude.values import identifier, mapping
from ultracontext.formats import Assignment, Need, SourceFacts
from ultracontext.redaction import MaskedRecord

MOST_ROOTS = 16
MOST_MEMBERS = 32
"""Bounds of what is remembered of inline side chains: a record's parent lies close before it."""

SIDECHAIN = "sidechain-"


def sidechain_session(root: str, session: str) -> str:
    """Session id of a side chain that stands inside its parent's file (1.0)."""
    return f"{SIDECHAIN}{root}@{session}"


class ClaudeAssigner:
    """Assigns the records of one file.

    A main file's session is its stem; where that is no UUID, the first `sessionId` that is one. A
    sub-agent's session is the `agentId` of its records, else of its file name. Records of an inline
    side chain (1.0) go to a session of their own, found by following `parentUuid` to the root.
    """

    __slots__ = ("_branches", "_fixed", "_hint", "_open", "_roots", "_session", "_subagent")

    def __init__(self, facts: SourceFacts, saved: Mapping[str, Any] | None) -> None:
        saved = saved or {}
        self._subagent = facts.role == "subagent"
        self._hint = facts.session_hint
        named = self._hint is not None and UUID.fullmatch(self._hint) is not None
        self._fixed = named and not self._subagent
        self._branches = Branches(mapping(saved.get("branch")))
        self._session = self._hint if self._fixed else identifier(saved.get("session"))
        self._open = self._session is None
        side = saved.get("side")
        self._roots: list[list[str]] = [list(chain) for chain in side] if type(side) is list else []

    def assign(self, record: MaskedRecord) -> Assignment:
        native = record.native
        if type(native) is not dict:
            return Assignment(self._session or self._hint)
        if self._open:
            self._decide(native)
        session = self._session
        uuid = identifier(native.get("uuid"))
        if native.get("isSidechain") is True and not self._subagent and uuid is not None:
            session = self._beside(native, uuid)
        skip = skipped(native)
        if skip is not None:
            return Assignment(session, None, skip)
        if uuid is None or session != self._session:
            return Assignment(session, uuid, None, _unmet(native, record))
        version = self._branches.next(native, uuid)
        parent = identifier(native.get("parentUuid"))
        return Assignment(session, uuid, None, _unmet(native, record), None, parent, version)

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = {}
        if self._session is not None and not self._fixed:
            state["session"] = self._session
        if self._roots:
            state["side"] = [list(chain) for chain in self._roots]
        if branch := self._branches.state():
            state["branch"] = branch
        return state

    def _decide(self, native: dict[str, Any]) -> None:
        """Takes the first record that says whose file this is."""
        if self._subagent:
            self._session = identifier(native.get("agentId")) or self._hint
        else:
            named = identifier(native.get("sessionId"))
            if named is None and native.get("uuid") is None:
                return
            self._session = named if named and UUID.fullmatch(named) else self._hint
        self._open = self._session is None

    def _beside(self, native: dict[str, Any], uuid: str) -> str:
        agent = identifier(native.get("agentId"))
        if agent is not None:
            return agent
        parent = identifier(native.get("parentUuid"))
        chain = self._chain_of(parent) or self._chain_of(uuid)
        if chain is None:
            chain = [uuid]
            self._roots.append(chain)
            del self._roots[:-MOST_ROOTS]
        if uuid not in chain:
            chain.append(uuid)
            if len(chain) > MOST_MEMBERS:
                del chain[1]
        return sidechain_session(chain[0], self._session or self._hint or "")

    def _chain_of(self, parent: str | None) -> list[str] | None:
        if parent is None:
            return None
        return next((chain for chain in reversed(self._roots) if parent in chain), None)


def skipped(native: dict[str, Any]) -> str | None:
    """The reason to leave a record out, or None."""
    kind = native.get("type")
    if kind == "attachment":
        attached = native.get("attachment")
        snapshot = type(attached) is dict and attached.get("type") == "prompt_snapshot"
        return "vendor-prompt" if snapshot else None
    if type(kind) is not str or not kind.startswith("api-request"):
        return None
    if kind in ("api-request", "api-request-shape"):
        return "vendor-request"
    system = kind == "api-request-blob" and mapping(native.get("message")).get("role") == "system"
    return "vendor-request" if system else None


def _unmet(native: dict[str, Any], record: MaskedRecord) -> tuple[Need, ...]:
    if native.get("type") != "user":
        return ()
    return tuple(need for need in needs(native) if need.name not in record.companions)
