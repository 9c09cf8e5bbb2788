"""Which records may be stored now, by the person's rules.

A record that waits pins its source: the checkpoint stays where it is, other sessions of the source
are read on, and once the answer is known the source is read again from there; what is stored
already is dropped by its id. A session that waits once waits whole, so its order is kept.
"""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ultracontext.capture.ignorefiles import IgnoreFiles, holds
from ultracontext.capture.rules import Rules, Verdict
from ultracontext.capture.source import Source
from ultracontext.formats import SessionReader
from ultracontext.model import captured_context_id, message_id
from ultracontext.store.base import REFUSED, SpaceStore

if TYPE_CHECKING:
    from ultracontext.capture.ingest import Batch, Candidate

Key = tuple[str, str]
"""(agent, session), a fork's under the session that it is of."""

PAUSED, STOPPED, IGNORED = "capture.paused_projects", "capture.stopped", "capture.ignored"
"""Notes in the store."""
MOST_KNOWN = 20_000
MOST_SCOUTS = 256
SCOUTED = 200
"""Records in which a reader looks for a session's folder, where records do not say it."""


class Admission:
    """Used in the engine's thread; `pause` and `go_on` may come from any."""

    def __init__(self, store: SpaceStore, rules: Rules) -> None:
        self._store = store
        self._files = IgnoreFiles()
        self._projects: dict[Key, str] = {}
        self._folders: dict[Key, str] = {}
        self._taken: dict[Key, str] = {}
        """Sessions that the rules take, with their project; as of these rules."""
        self._parents: dict[Key, str | None] = {}
        """Whose sub-agent a session is; only while sessions are left out."""
        self._scouts: dict[Key, tuple[SessionReader, int]] = {}
        self._waiting: dict[Key, dict[int, Source]] = {}
        self._released: dict[int, Source] = {}
        self._lock = threading.Lock()
        ignored = frozenset(f for f in store.noted(IGNORED) or () if holds(f))
        self._wanted = frozenset(store.noted(PAUSED) or ())
        self.rules = replace(rules, ignored=ignored, paused=self._wanted)
        stopped = store.noted(STOPPED) or []
        self._stopped = {(a, s): f for a, s, f in stopped if self.rules.excludes(f)}
        self._wiped = _wiped(store)
        self._refused: dict[str, set[int]] = {
            name: set(ids) for name, ids in (store.noted(REFUSED) or {}).items()
        }

    # ---- from any thread -------------------------------------------------------------------------
    def pause(self, folder: str) -> None:
        """Durable when it returns, in force with the next slice that is read."""
        self._want(self._wanted | {folder})

    def go_on(self, folder: str) -> None:
        self._want(self._wanted - {folder})

    def _want(self, folders: frozenset[str]) -> None:
        with self._lock:
            if folders != self._wanted:
                self._store.note(PAUSED, sorted(folders))
                self._wanted = folders

    @property
    def paused(self) -> list[str]:
        return sorted(self._wanted)

    @property
    def waiting(self) -> int:
        """Sessions that wait."""
        return len(self._waiting)

    # ---- in the engine's thread ------------------------------------------------------------------
    def refresh(self) -> None:
        """Takes over what changed meanwhile; all that waits is judged again."""
        if self._wanted is not self.rules.paused:
            self._change(replace(self.rules, paused=self._wanted))

    def look_again(self) -> None:
        """Ignore files that were removed no longer count, sessions that were wiped do. Once a
        sweep."""
        self._wiped = _wiped(self._store)
        there = frozenset(folder for folder in self.rules.ignored if holds(folder))
        if there != self.rules.ignored:
            self._store.note(IGNORED, sorted(there))
            self._change(replace(self.rules, ignored=there))
            self._stopped = {k: f for k, f in self._stopped.items() if self.rules.excludes(f)}

    def _change(self, rules: Rules) -> None:
        self.rules, self._taken = rules, {}
        for key in list(self._waiting):
            self._release(key)

    def released(self) -> list[Source]:
        """Sources to be read again from their checkpoint, each once."""
        found, self._released = list(self._released.values()), {}
        for source in found:
            source.pinned = False
        return found

    @property
    def has_released(self) -> bool:
        return bool(self._released)

    def sift(self, source: Source, candidates: list[Candidate], batch: Batch) -> list[Candidate]:
        """Those that may be stored now. The others are counted as `ignored`, or wait."""
        if self._wiped:
            candidates = self._not_wiped(source, candidates, batch)
        self._discover(source, candidates)
        if source.saved.source_id in self._released:
            return []  # it is read again from further up
        if not self.rules and not self._stopped and not self._waiting:
            return candidates
        self._learn(source, candidates)
        if source.saved.source_id in self._released:
            return []
        kept = []
        for candidate in candidates:
            verdict = self._judge(source, candidate)
            if verdict is Verdict.TAKE:
                kept.append(candidate)
            elif verdict is Verdict.IGNORE:
                batch.count("skipped.ignored")
            else:
                source.pinned = True
                held = self._waiting.setdefault(_key(source, candidate), {})
                held[source.saved.source_id] = source
        return kept

    def _not_wiped(
        self, source: Source, candidates: list[Candidate], batch: Batch
    ) -> list[Candidate]:
        """Without the records of sessions that a person wiped, in whatever file they stand. The
        store refuses those that were wiped since the last sweep."""
        kept = []
        for candidate in candidates:
            name = captured_context_id(*_key(source, candidate))
            if name not in self._wiped:
                kept.append(candidate)
                continue
            batch.count("skipped.wiped")
            self._refuse(name, source.saved.source_id)
        return kept

    def _refuse(self, name: str, source_id: int) -> None:
        """Remembers where the session would come from, for `capture again`."""
        known = self._refused.setdefault(name, set())
        if source_id not in known:
            known.add(source_id)
            refused = {n: sorted(ids) for n, ids in self._refused.items() if n in self._wiped}
            self._store.note(REFUSED, refused)

    # ---- what is known of a session --------------------------------------------------------------
    def _discover(self, source: Source, candidates: list[Candidate]) -> None:
        """Finds ignore files above the folders that the records name."""
        folder_of = source.spec.folder_of
        if folder_of is not None:
            folders = {folder_of(candidate.record) for candidate in candidates}
        else:
            self._learn(source, candidates)
            keys = {_key(source, candidate) for candidate in candidates}
            folders = {self._projects.get(key) for key in keys}
        for folder in folders:
            place = None if folder is None else self._files.above(folder)
            if place is not None and place not in self.rules.ignored:
                ignored = self.rules.ignored | {place}
                self._store.note(IGNORED, sorted(ignored))
                self.rules, self._taken = replace(self.rules, ignored=ignored), {}

    def _learn(self, source: Source, candidates: list[Candidate]) -> None:
        """Finds the projects of sessions that are new here."""
        unknown = {key for c in candidates if (key := _key(source, c)) not in self._projects}
        if not unknown:
            return
        for key in unknown:
            row = self._store.by_session(*key)
            if row is not None and row.facts.project_path is not None:
                self._know(key, row.facts.project_path)
        for candidate in candidates:
            key = _key(source, candidate)
            if key not in self._projects:
                folder = self._folder_in(source, candidate, key)
                if folder is not None:
                    self._know(key, folder)

    def _folder_in(self, source: Source, candidate: Candidate, key: Key) -> str | None:
        if source.spec.folder_of is not None:
            return source.spec.folder_of(candidate.record)
        kept = self._scouts.pop(key) if key in self._scouts else None
        scout, fed = kept or (source.spec.reader(key[1]), 0)
        if fed < SCOUTED:
            with suppress(Exception):  # a reader's bug must not cost the record
                scout.feed(candidate.record, message_id(candidate.event_id))
                if (found := scout.facts().project_path) is not None:
                    return found
        self._scouts[key] = (scout, fed + 1)
        if len(self._scouts) > MOST_SCOUTS:
            del self._scouts[next(iter(self._scouts))]
        return None

    def _know(self, key: Key, project: str) -> None:
        self._projects[key] = project
        if len(self._projects) > MOST_KNOWN:
            del self._projects[next(iter(self._projects))]
        if not self.rules.pauses(project):
            self._release(key)

    def _release(self, key: Key) -> None:
        self._released.update(self._waiting.pop(key, {}))

    # ---- judgement -------------------------------------------------------------------------------
    def _judge(self, source: Source, candidate: Candidate) -> Verdict:
        key = _key(source, candidate)
        if key in self._waiting:
            return Verdict.WAIT
        if key in self._stopped or self._left_out(source, candidate, key):
            return Verdict.IGNORE
        project = self._taken.get(key)
        if project is None:
            project = self._projects.get(key)
            verdict = self.rules.verdict(key[1], project)
            if verdict is not Verdict.TAKE or project is None:
                return verdict
            if len(self._taken) > MOST_KNOWN:
                self._taken = {}
            self._taken[key] = project
        return self._where(source, candidate, key, project)

    def _left_out(self, source: Source, candidate: Candidate, key: Key) -> bool:
        """Whether a session is a sub-agent's of one that is left out."""
        if not self.rules.sessions:
            return False
        if key not in self._parents:
            parent = source.facts.parent_hint or self._parent_in(source, candidate, key)
            if len(self._parents) > MOST_KNOWN:
                self._parents = {}
            self._parents[key] = parent
        return self._parents[key] in self.rules.sessions

    def _parent_in(self, source: Source, candidate: Candidate, key: Key) -> str | None:
        """What the first record says, for agents whose folders do not."""
        scout = source.spec.reader(key[1])
        with suppress(Exception):  # a reader's bug must not cost the record
            scout.feed(candidate.record, message_id(candidate.event_id))
            facts = scout.facts()
            return facts.parent_session if facts.relation == "subagent" else None
        return None

    def _where(self, source: Source, candidate: Candidate, key: Key, project: str) -> Verdict:
        """A session that goes elsewhere: it stops in a folder that is left out, for good."""
        folder_of = source.spec.folder_of
        said = folder_of(candidate.record) if folder_of is not None else None
        folder = said or self._folders.get(key, project)
        if folder == project:
            self._folders.pop(key, None)
            return Verdict.TAKE
        self._folders[key] = folder
        if self.rules.excludes(folder):
            self._stopped[key] = folder
            noted = [[agent, session, f] for (agent, session), f in self._stopped.items()]
            self._store.note(STOPPED, noted[-MOST_KNOWN:])
            return Verdict.IGNORE
        return Verdict.WAIT if self.rules.pauses(folder) else Verdict.TAKE


def _wiped(store: SpaceStore) -> frozenset[str]:
    """Context ids of sessions that capture leaves alone."""
    return frozenset(t.context_id for t in store.tombstones() if t.lifted_at is None)


def _key(source: Source, candidate: Candidate) -> Key:
    return source.spec.slug, candidate.session_id.partition("~")[0]
