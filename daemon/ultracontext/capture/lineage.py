"""Which captured sessions are forks of each other, where the files do not say so themselves."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import combinations

from ultracontext.capture.readers import stored_records
from ultracontext.formats import AgentSpec
from ultracontext.model import SessionFacts
from ultracontext.redaction import Redactor
from ultracontext.store.base import SpaceStore


class Lineage:
    """Sessions by lineage key; relates a new one to its kin when there is time."""

    def __init__(self, store: SpaceStore, redactor: Redactor, agents: Sequence[AgentSpec]) -> None:
        self._store = store
        self._redactor = redactor
        self._specs = {spec.slug: spec for spec in agents if spec.relate is not None}
        self._kin: dict[tuple[str, str], tuple[str, ...]] = {}
        self._due: deque[tuple[str, str, str]] = deque()
        self._loaded = False

    def note(self, agent: str, session_id: str, facts: SessionFacts | None) -> None:
        """Called after each commit with the facts of a session."""
        if facts is None or facts.lineage_key is None or agent not in self._specs:
            return
        self._load()
        kin = self._kin.get((agent, facts.lineage_key), ())
        if session_id not in kin:
            self._due.extend((agent, session_id, other) for other in sorted(kin))
            self._kin[agent, facts.lineage_key] = (*kin, session_id)

    def _load(self) -> None:
        """Families of what is stored; pairs that an earlier run did not come to relate are due
        again."""
        if self._loaded:
            return
        self._loaded = True
        orphans: set[tuple[str, str]] = set()
        for slug in self._specs:
            for row in self._store.contexts(agent=slug, limit=0, children=True):
                if row.facts.lineage_key is None:
                    continue
                key = (slug, row.facts.lineage_key)
                self._kin[key] = (*self._kin.get(key, ()), row.session_id)
                if row.facts.parent_session is None:
                    orphans.add((slug, row.session_id))
        for (slug, _), members in self._kin.items():
            pairs = combinations(sorted(members), 2)
            self._due.extend(
                (slug, a, b) for a, b in pairs if (slug, a) in orphans and (slug, b) in orphans
            )

    def step(self) -> bool:
        """Relates one pair; False when none is due."""
        if not self._due:
            return False
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
        return True
