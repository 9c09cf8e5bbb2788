"""All known sources, and how a file that is met is told from them."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ultracontext.capture.backfill import Backfill
from ultracontext.capture.discover import Found, Walk, look_of
from ultracontext.capture.places import keyed_digest, opened
from ultracontext.capture.source import Look, Source, fingerprint, skip_of
from ultracontext.formats import AgentSpec, Engine, SourceFacts
from ultracontext.redaction import Redactor
from ultracontext.store.base import CaptureBatch, Checkpoint, SpaceStore

ACTIVE_FILES = 64


class Registry:
    """Sources by path and by inode. Checkpoints whose file is not met yet wait in `_unmet`."""

    def __init__(
        self,
        *,
        store: SpaceStore,
        redactor: Redactor,
        secret: bytes,
        agents: Sequence[AgentSpec],
        roots: Mapping[str, Sequence[Path]],
        backfill: str,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._redactor = redactor
        self._secret = secret
        self.walk = Walk(agents, roots, self._facts_of, self._unchanged_since)
        self._sweep = 0
        self.real_roots: dict[str, list[str]] = {
            slug: [os.path.realpath(root) for root in found] for slug, found in roots.items()
        }
        self._backfill = Backfill(store, secret, roots, backfill, now)
        self._by_path: dict[str, Source] = {}
        self._by_inode: dict[tuple[int, int], Source] = {}
        self._by_id: dict[int, Source] = {}
        self._grown: OrderedDict[int, Source] = OrderedDict()
        self._unmet: dict[tuple[int, int], list[Checkpoint]] = {}
        self._all_unmet: dict[int, Checkpoint] = {}
        self._loaded = False

    def __len__(self) -> int:
        return len(self._by_path)

    def sweep(self) -> Iterator[Source]:
        """Sources that may have something to read. Raises StoreError when checkpoints cannot be
        read."""
        self._load()
        self._backfill.begin()
        self._sweep += 1
        met: set[str] = set()
        fresh: list[Source] = []
        due: list[Source] = []
        for found in self.walk:
            if found.path in met:
                continue
            met.add(found.path)
            known = found.path in self._by_path
            source = self._meet(found)
            if source is None:
                continue
            source.sweep = self._sweep
            if not known and not source.stored:
                fresh.append(source)
            if source.look != source.seen:
                due.append(source)
        self._forget_gone()
        self._remember(fresh)
        self._backfill.end()
        return iter(due)

    def _unchanged_since(self, path: str, found: os.stat_result) -> bool:
        """The quick way of a sweep: a source read to its end whose file is as it was then."""
        source = self._by_path.get(path)
        if source is None or source.seen is None or source.look is not source.seen:
            return False
        if source.facts.engine is Engine.DATABASE:  # its log beside it may have grown
            return False
        seen = source.seen
        if (
            found.st_mtime_ns != seen.mtime_ns
            or found.st_ctime_ns != seen.ctime_ns
            or found.st_size != seen.size
            or found.st_ino != seen.inode
            or found.st_dev != seen.device
        ):
            return False
        source.sweep = self._sweep
        return True

    def _facts_of(self, path: str) -> SourceFacts | None:
        """What was found out about a path at an earlier sweep."""
        known = self._by_path.get(path)
        return known.facts if known is not None else None

    def _remember(self, fresh: list[Source]) -> None:
        """Decisions to leave a part out are durable before the first byte is read."""
        skipping = [s for s in fresh if s.skip_until]
        for start in range(0, len(skipping), 500):
            part = skipping[start : start + 500]
            batch = CaptureBatch(
                events=[], facts=[], checkpoints=[s.checkpoint(self._secret) for s in part]
            )
            self._store.append(batch, now=self._backfill.now())
            for source, checkpoint in zip(part, batch.checkpoints, strict=True):
                source.saved, source.stored = checkpoint, True

    def _load(self) -> None:
        if self._loaded:
            return
        for checkpoint in self._store.checkpoints():
            key = (checkpoint.device, checkpoint.inode)
            self._unmet.setdefault(key, []).append(checkpoint)
            self._all_unmet[checkpoint.source_id] = checkpoint
        self._loaded = True

    def meet_path(self, path: str) -> Source | None:
        """The source at a path that was hinted at, if it is one with something to read."""
        found = self.walk.locate(path)
        if found is None:
            return None
        source = self._meet(found)
        return source if source is not None and source.look != source.seen else None

    def _meet(self, found: Found) -> Source | None:
        inode = (found.look.device, found.look.inode)
        source = self._by_path.get(found.path)
        if source is not None:
            if (source.look.device, source.look.inode) == inode:
                if source.look != found.look:
                    source.look = found.look
                return source
            self.detach(source)
        moved = self._by_inode.get(inode)
        if moved is not None and moved.path != found.path:
            if self.look(moved) is not None and _is(self.look(moved), inode):
                return None
            if self._same_head(moved.saved, found.path):
                self._rename(moved, found)
                return moved
            self.detach(moved)
        return self._from_checkpoint(found) or self._new(found)

    def _from_checkpoint(self, found: Found) -> Source | None:
        """The source as an earlier run left it."""
        for checkpoint in self._unmet.get((found.look.device, found.look.inode), []):
            if checkpoint.agent != found.spec.slug:
                continue
            if not (
                self._unchanged(checkpoint, found.look)
                or checkpoint.path_digest == keyed_digest(self._secret, os.fsencode(found.path))
                or self._same_head(checkpoint, found.path)
            ):
                continue
            self._unmet[found.look.device, found.look.inode].remove(checkpoint)
            self._all_unmet.pop(checkpoint.source_id, None)
            source = self._source(found, checkpoint, stored=True)
            saved = Look(
                checkpoint.device, checkpoint.inode, checkpoint.size, checkpoint.mtime_ns,
                checkpoint.ctime_ns,
            )  # fmt: skip
            if saved == found.look and checkpoint.problem is None:
                source.seen = saved
            else:
                source.seen = None
                source.verify_from = found.look.size >= checkpoint.position > 0
            return source
        return None

    @staticmethod
    def _unchanged(checkpoint: Checkpoint, look: Look) -> bool:
        return (checkpoint.size, checkpoint.mtime_ns, checkpoint.ctime_ns) == (
            look.size, look.mtime_ns, look.ctime_ns,
        )  # fmt: skip

    def _same_head(self, checkpoint: Checkpoint, path: str) -> bool:
        length = checkpoint.fingerprint_length
        if not length:
            return False
        try:
            with opened(path) as descriptor:
                if os.fstat(descriptor).st_size < length:
                    return False
                return fingerprint(self._secret, descriptor, length) == checkpoint.fingerprint
        except OSError:
            return False

    def _new(self, found: Found) -> Source:
        checkpoint = Checkpoint(
            source_id=self._store.new_source_id(),
            agent=found.spec.slug,
            path="",
            path_digest=keyed_digest(self._secret, os.fsencode(found.path)),
            device=found.look.device,
            inode=found.look.inode,
            fingerprint=b"",
            fingerprint_length=0,
            size=0,
            mtime_ns=0,
            ctime_ns=0,
            position=0,
            ordinal=0,
            prefix=b"",
        )
        source = self._source(found, checkpoint, stored=False)
        source.skip_until = self._backfill.skip(found)
        return source

    def _source(self, found: Found, checkpoint: Checkpoint, *, stored: bool) -> Source:
        source = Source(
            spec=found.spec,
            path=found.path,
            masked_path=self.masked(found.path),
            facts=self._masked_facts(found.facts),
            look=found.look,
            saved=checkpoint,
            position=checkpoint.position,
            ordinal=checkpoint.ordinal,
            branch=checkpoint.branch,
            skip_until=skip_of(checkpoint.mode),
            state=checkpoint.state,
            stored=stored,
        )
        self._by_path[found.path] = source
        self._by_inode[found.look.device, found.look.inode] = source
        self._by_id[checkpoint.source_id] = source
        return source

    def masked(self, text: str) -> str:
        """A path or a part of one as it may be stored and shown: masked, and valid text."""
        clean = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        masked = self._redactor.text(clean)
        return text if masked == text else masked

    def _masked_facts(self, facts: SourceFacts) -> SourceFacts:
        changed: dict[str, Any] = {}
        for name in ("session_hint", "parent_hint"):
            value = getattr(facts, name)
            if value is not None and (masked := self.masked(value)) != value:
                changed[name] = masked
        extra = {k: self.masked(v) for k, v in facts.extra.items()}
        if extra != facts.extra:
            changed["extra"] = extra
        return replace(facts, **changed) if changed else facts

    def _rename(self, source: Source, found: Found) -> None:
        self._by_path.pop(source.path, None)
        source.path, source.masked_path = found.path, self.masked(found.path)
        source.facts, source.look = self._masked_facts(found.facts), found.look
        source.dirty = True
        self._by_path[found.path] = source

    def detach(self, source: Source) -> None:
        """The path holds another file, or none; the source may turn up elsewhere by its inode."""
        if self._by_path.get(source.path) is source:
            del self._by_path[source.path]

    def lost(self, source: Source) -> None:
        """The file is gone from its path; what was captured stays."""
        self.detach(source)
        self._grown.pop(source.saved.source_id, None)

    def _forget_gone(self) -> None:
        """Sources whose path was not met in this sweep, unless it merely cannot be read now."""
        unreadable = [path for _, path, _ in self.walk.unreadable]
        for path in [p for p, s in self._by_path.items() if s.sweep != self._sweep]:
            if any(path == u or path.startswith(u + os.sep) for u in unreadable):
                continue
            if not os.path.exists(path):
                self.lost(self._by_path[path])
        limit = len(self._by_path) + 1000
        if len(self._by_inode) > limit:
            for key, source in list(self._by_inode.items()):
                if self._by_path.get(source.path) is not source:
                    del self._by_inode[key]
                    self._by_id.pop(source.saved.source_id, None)

    def by_id(self, source_id: int) -> Source | None:
        """A source that was met since the start."""
        return self._by_id.get(source_id)

    def look(self, source: Source) -> Look | None:
        """A fresh stat of the source's path, None when it is gone."""
        try:
            return look_of(source.path, os.stat(source.path), source.facts)
        except OSError:
            return None

    def still_there(self, source_id: int) -> bool:
        """Whether a source's file is still at its path."""
        source = self._by_id.get(source_id)
        if source is not None:
            return _is(self.look(source), (source.look.device, source.look.inode))
        checkpoint = self._all_unmet.get(source_id)
        if checkpoint is None:
            return False
        try:
            found = os.stat(checkpoint.path)
        except (OSError, ValueError):
            return False
        return (found.st_dev, found.st_ino) == (checkpoint.device, checkpoint.inode)

    def grew(self, source: Source, at: float) -> None:
        """A complete record came; `at` is monotonic."""
        source.grown_at = at
        key = source.saved.source_id
        self._grown[key] = source
        self._grown.move_to_end(key)
        if len(self._grown) > ACTIVE_FILES:
            self._grown.popitem(last=False)[1].rest()

    def is_active(self, source: Source) -> bool:
        return source.saved.source_id in self._grown

    def active(self, since: float) -> list[Source]:
        """The at most 64 sources that grew last by a complete record, after `since`."""
        return [s for s in list(self._grown.values()) if s.grown_at > since]


def _is(look: Look | None, inode: tuple[int, int]) -> bool:
    return look is not None and (look.device, look.inode) == inode
