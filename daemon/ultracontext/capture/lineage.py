"""Which captured sessions are forks of each other, where the files do not say so themselves, and
what a fork's file holds of its parent's records: that is stored once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import combinations

from ultracontext.capture.readers import stored_records
from ultracontext.errors import NotFoundError, StoreError
from ultracontext.formats import AgentSpec
from ultracontext.model import SessionFacts
from ultracontext.redaction import Redactor
from ultracontext.store.base import ContextRow, SpaceStore

SHARED = "capture.shared."
"""Notes in the store, by context: records of a fork when its bodies were shared."""


class Lineage:
    """Sessions by lineage key; relates a new one to its kin when there is time."""

    def __init__(self, store: SpaceStore, redactor: Redactor, agents: Sequence[AgentSpec]) -> None:
        self._store = store
        self._redactor = redactor
        self._specs = {spec.slug: spec for spec in agents if spec.relate is not None}
        self._kin: dict[tuple[str, str], tuple[str, ...]] = {}
        self._due: deque[tuple[str, str, str]] = deque()
        self._copies: dict[tuple[str, str], None] = {}
        """Forks whose bodies may be their parents'."""
        self._awaited: dict[str, set[tuple[str, str]]] = {}
        """Such forks by the parent, an own session or another agent's, that is not captured yet."""
        self._fresh: dict[tuple[str, str], SessionFacts] = {}
        """What was committed since the last step."""
        self._sharing: Iterator[object] = iter(())
        self._loaded = False

    def note(self, agent: str, session_id: str, facts: SessionFacts | None) -> None:
        """Called after each commit with the facts of a session."""
        if facts is not None and (facts.lineage_key is not None or facts.relation == "fork"):
            self._fresh[agent, session_id] = facts
        elif not self._loaded or session_id in self._awaited:
            self._fresh[agent, session_id] = SessionFacts()

    def _load(self) -> None:
        """Families of what is stored; pairs that an earlier run did not come to relate are due
        again."""
        self._loaded = True
        orphans: set[tuple[str, str]] = set()
        for row in self._store.contexts(limit=0, children=True):
            if _is_copy(row.facts):
                self._copies[row.agent, row.session_id] = None
            if row.facts.lineage_key is None or row.agent not in self._specs:
                continue
            key = (row.agent, row.facts.lineage_key)
            self._kin[key] = (*self._kin.get(key, ()), row.session_id)
            if row.facts.parent_session is None:
                orphans.add((row.agent, row.session_id))
        for (slug, _), members in self._kin.items():
            pairs = combinations(sorted(members), 2)
            self._due.extend(
                (slug, a, b) for a, b in pairs if (slug, a) in orphans and (slug, b) in orphans
            )

    def _take(self, agent: str, session_id: str, facts: SessionFacts) -> None:
        """What a commit brought may have relatives."""
        for child in sorted(self._awaited.pop(session_id, ())):
            row = self._store.by_session(*child)
            if row is not None and row.facts.parent_session == session_id:
                self._adopt(child, row)
        if _is_copy(facts):
            self._copies[agent, session_id] = None
        if facts.lineage_key is None or agent not in self._specs:
            return
        kin = self._kin.get((agent, facts.lineage_key), ())
        if session_id not in kin:
            self._due.extend((agent, session_id, other) for other in sorted(kin))
            self._kin[agent, facts.lineage_key] = (*kin, session_id)

    def step(self) -> bool:
        """Relates one pair, or stores a bit of a fork once; False when there is nothing to do."""
        if self._fresh and not self._loaded:
            self._load()
        while self._fresh:
            (agent, session_id), facts = self._fresh.popitem()
            self._take(agent, session_id, facts)
        if self._due:
            return self._relate()
        if next(self._sharing, None) is not None:
            return True
        if not self._copies:
            return False
        key = next(iter(self._copies))
        del self._copies[key]
        self._sharing = self._share(*key)
        return True

    def _share(self, agent: str, session_id: str) -> Iterator[object]:
        """Once, and again when the fork is twice as long: its copies are at its beginning."""
        copy = self._store.by_session(agent, session_id)
        if copy is None or copy.parent_id is None or not _is_copy(copy.facts):
            return
        key = f"{SHARED}{copy.context_id}"
        if self._original(copy) is None and self._adopt((agent, session_id), copy):
            return
        if self._original(copy) is None:
            self._awaited.setdefault(copy.facts.parent_session or "", set()).add(
                (agent, session_id)
            )
            return
        if copy.nodes < 2 * (self._store.noted(key) or 0):
            return
        yield from self._store.share_bodies(copy.context_id, copy.parent_id)
        self._store.note(key, copy.nodes)

    def _adopt(self, child: tuple[str, str], row: ContextRow) -> bool:
        """Whether the parent is there; it may be of another agent."""
        parent = row.facts.parent_session or ""
        if self._original(row) is None:
            with suppress(StoreError):
                if self._store.find(parent).session_id == parent:
                    self._store.set_relation(row.context_id, parent_session=parent, relation="fork")
        row = self._store.by_session(*child) or row
        if self._original(row) is None:
            return False
        self._copies[child] = None
        return True

    def _original(self, copy: ContextRow) -> ContextRow | None:
        """None while it is not captured."""
        with suppress(NotFoundError):
            return self._store.find(copy.parent_id or "")
        return None

    def _relate(self) -> bool:
        agent, first, second = self._due.popleft()
        relate = self._specs[agent].relate
        a = self._store.by_session(agent, first)
        b = self._store.by_session(agent, second)
        if relate is None or a is None or b is None:
            return True
        if a.facts.parent_session and b.facts.parent_session:
            return True
        verdict = relate(
            stored_records(self._store, a, self._redactor),
            stored_records(self._store, b, self._redactor),
        )
        child, parent = (a, b) if verdict == "a" else (b, a)
        if verdict is not None and child.facts.parent_session is None:
            self._store.set_relation(
                child.context_id, parent_session=parent.session_id, relation="fork"
            )
            self._copies[agent, child.session_id] = None
        return True


def _is_copy(facts: SessionFacts) -> bool:
    """Whether a session's own records may repeat its parent's."""
    return facts.relation == "fork" and facts.parent_session is not None and facts.base is None
