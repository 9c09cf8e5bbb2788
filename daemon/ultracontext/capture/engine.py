"""The capture engine: what is read when, and what commits together.

Files that grow now come first, the backfill after them, newest file first. All work happens in one
thread; hints, pause and status may come from any. The only durable state is in the store.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ultracontext.capture.admission import Admission
from ultracontext.capture.database import RowProgress, database_of, read_rows, skip_rows
from ultracontext.capture.document import UNFINISHED, read_document
from ultracontext.capture.idle import IdleWork
from ultracontext.capture.ingest import Batch, Ingest
from ultracontext.capture.lineage import Lineage
from ultracontext.capture.options import CaptureOptions, Progress
from ultracontext.capture.queue import WorkQueue
from ultracontext.capture.readers import Readers
from ultracontext.capture.registry import Registry
from ultracontext.capture.rules import Rules
from ultracontext.capture.source import Change, Look, Source
from ultracontext.capture.status import CaptureStatus, Committed, SourceError, Summary
from ultracontext.capture.tail import Slice, read_slice
from ultracontext.capture.watch import Watcher
from ultracontext.errors import RedactionError, StoreError, UltraContextError
from ultracontext.formats import AgentSpec, Engine
from ultracontext.logs import get_logger
from ultracontext.model import captured_context_id
from ultracontext.model.failpoint import failpoint
from ultracontext.redaction import Redactor
from ultracontext.store.base import AGAIN, CaptureBatch, SpaceStore

log = get_logger(__name__)

ACTIVE_SECONDS = 600.0
FAST_SECONDS = 30.0
SWEEP_GAP_SECONDS = 1.0
"""Wanted sweeps keep so far apart."""
UNFINISHED_SECONDS = 1.0
"""A document that was met half written is looked at again after so long."""
REREAD_GAP_SECONDS = 0.25
"""Sources whose records waited are read again at most so often, or when nothing else is due."""
JUMP_SECONDS = 5.0
"""The machine slept, or its clock was set: events may be missing, so all roots are looked at."""
LONGEST_WAIT_SECONDS = 5.0
FIRST_RETRY_SECONDS = 1.0
LAST_RETRY_SECONDS = 60.0


class CaptureEngine:
    """Captures all sources of the given agents into one space of the local store."""

    def __init__(
        self,
        *,
        store: SpaceStore,
        redactor: Redactor,
        secret: bytes,
        agents: Sequence[AgentSpec],
        roots: Mapping[str, Sequence[Path]],
        options: CaptureOptions | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._secret = secret
        self._options = options or CaptureOptions()
        self._now = now
        self._monotonic = monotonic
        self._registry = Registry(
            store=store, redactor=redactor, secret=secret, agents=agents, roots=roots,
            backfill=self._options.backfill, now=now,
        )  # fmt: skip
        self._readers = Readers(store, redactor, agents)
        self._lineage = Lineage(store, redactor, agents)
        self._admission = Admission(store, self._options.rules)
        self._reread_at = 0.0
        self._redactor = redactor
        self._ingest = Ingest(
            store, redactor, secret, self._registry.real_roots, self._readers,
            self._registry.still_there, self._admission,
        )  # fmt: skip
        self._queue = WorkQueue()
        self._batch = Batch()
        self._batch_since = 0.0
        self._batch_hot = False
        self._listeners: list[Callable[[Sequence[Committed]], None]] = []
        self._totals = Summary()
        self._sessions: set[tuple[str, str]] = set()
        self._looked: set[int] = set()
        self._bytes_total = 0
        self._idle = IdleWork(
            readers=self._readers,
            lineage=self._lineage,
            secret=secret,
            monotonic=monotonic,
            rewritten=lambda source: self._enqueue(source, hot=True),
        )
        self._problems: dict[str, dict[str, str]] = {}
        self._unmasked: set[int] = set()
        """Sources set aside because they could not be masked."""
        self._store_retry_at = 0.0
        self._store_failures = 0
        self._last_sweep: datetime | None = None
        self._paused = False
        self._wake = threading.Event()
        self._hints: set[str] = set()
        self._sweep_wanted = threading.Event()
        self._lock = threading.Lock()
        self._watcher: Watcher | None = None

    # ---- from any thread -------------------------------------------------------------------------
    def hint(self, path: str) -> None:
        """This file may have changed."""
        with self._lock:
            self._hints.add(path)
        self._wake.set()

    def request_sweep(self) -> None:
        """Look at all roots soon."""
        self._sweep_wanted.set()
        self._wake.set()

    def pause(self, project: str | None = None) -> None:
        """Stop reading; what is read is committed. With `project`: sessions of that folder and
        below wait, over restarts too."""
        if project is None:
            self._paused = True
        else:
            self._admission.pause(self._redactor.text(project))
        self._wake.set()

    def resume(self, project: str | None = None) -> None:
        """Read on, as a whole or one project; each pause ends by itself."""
        if project is None:
            self._paused = False
        else:
            self._admission.go_on(self._redactor.text(project))
        self._sweep_wanted.set()
        self._wake.set()

    @property
    def rules(self) -> Rules:
        """As they hold now, with the ignore files that were met."""
        return self._admission.rules

    @property
    def busy(self) -> bool:
        """Whether files wait to be read; safe to ask at any time."""
        return bool(self._queue) and not self._paused

    def listen(self, callback: Callable[[Sequence[Committed]], None]) -> None:
        """`callback` is called in the engine's thread after each commit, with what it holds."""
        self._listeners.append(callback)

    def status(self) -> CaptureStatus:
        """A picture of now; safe to ask at any time."""
        backlog = self._queue.backlog(self._monotonic())
        totals = self._totals
        return CaptureStatus(
            paused=self._paused,
            paused_projects=self._admission.paused,
            waiting=self._admission.waiting,
            watcher=self._watcher.mode if self._watcher is not None else "polling: by setting",
            backlog_bytes=backlog.bytes,
            backlog_seconds=backlog.seconds,
            sources=len(self._registry),
            active=len(self._active()),
            events=totals.events,
            duplicates=totals.duplicates,
            masked=totals.masked,
            skipped=dict(totals.skipped),
            last_sweep_at=self._last_sweep.isoformat() if self._last_sweep else None,
            problems=[dict(p) for p in list(self._problems.values())],
        )

    # ---- one run ---------------------------------------------------------------------------------
    def run_once(
        self,
        *,
        progress: Callable[[Progress], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Summary:
        """Reads everything that is there to its end and commits it."""
        started = self._monotonic()
        self.sweep()
        while not (stop is not None and stop.is_set()):
            worked = self._work()
            if progress is not None:
                progress(self._progress())
            if self._store_failures:
                self._wait_for_store(stop)
            elif not worked and not self._idle.step():
                break
        if not self._commit():
            self._wait_for_store(stop)
        self._purge()
        self._totals.sessions = len(self._sessions)
        self._totals.waiting = self._admission.waiting
        self._totals.files = len(self._looked)
        self._totals.seconds = round(self._monotonic() - started, 3)
        return self._totals

    def _wait_for_store(self, stop: threading.Event | None) -> None:
        """A single run gives a failing store three chances."""
        problem = self._problems.get("store", {})
        if self._store_failures > 3 or problem.get("code") not in ("store-busy", "store-io"):
            code, hint = problem.get("code"), problem.get("hint", "")
            raise StoreError(
                problem.get("message", "the store refused the events"),
                hint="Free some space and run it again" if code == "store-full" else hint,
                code=code,
            )
        (stop or threading.Event()).wait(max(0.0, self._store_retry_at - self._monotonic()))

    def _progress(self) -> Progress:
        return Progress(
            bytes_done=self._totals.bytes,
            bytes_total=max(self._bytes_total, self._totals.bytes),
            events=self._totals.events,
            files_done=len(self._looked),
            files_total=len(self._registry),
        )

    # ---- the live loop ---------------------------------------------------------------------------
    def run(self, stop: threading.Event) -> None:
        """Follows all sources until `stop` is set, then commits what is read and returns."""
        if self._options.watch:
            self._watcher = Watcher(self.hint, self.request_sweep)
            self._watcher.start()
        try:
            self._purge()
            self._loop(stop)
        finally:
            if self._watcher is not None:
                self._watcher.stop()
        self._commit()

    def _loop(self, stop: threading.Event) -> None:
        next_sweep = next_purge = self._monotonic()
        last_sweep = next_poll = 0.0
        clock = self._clock_offset()
        while not stop.is_set():
            now = self._monotonic()
            if abs(self._clock_offset() - clock) > JUMP_SECONDS:
                clock = self._clock_offset()
                self._sweep_wanted.set()
            if self._sweep_wanted.is_set():
                self._sweep_wanted.clear()
                next_sweep = min(next_sweep, max(now, last_sweep + SWEEP_GAP_SECONDS))
            if now >= next_sweep:
                self.sweep()
                last_sweep = self._monotonic()
                next_sweep = last_sweep + self._options.sweep_seconds
            if now >= next_poll:
                self._poll()
                next_poll = now + self._poll_interval()
            if now >= next_purge + 86400:
                self._purge()
                next_purge = now
            self._take_hints()
            if self._paused:
                self._commit()
            elif self._work() or self._idle.step():
                continue
            wait = min(next_sweep, next_poll if self._active() else next_sweep, self._next_retry())
            wait = min(wait, self._idle.due_at())
            self._wake.wait(max(0.005, min(wait - self._monotonic(), LONGEST_WAIT_SECONDS)))
            self._wake.clear()

    def _clock_offset(self) -> float:
        """Wall less monotonic clock: it moves when the machine slept or the clock was set."""
        return self._now().timestamp() - self._monotonic()

    def _next_retry(self) -> float:
        return min(
            self._queue.wakes_at(), self._store_retry_at if self._store_failures else float("inf")
        )

    def _poll_interval(self) -> float:
        now = self._monotonic()
        if any(now - s.grown_at < FAST_SECONDS for s in self._active()):
            return self._options.fast_poll_seconds
        return self._options.poll_seconds

    def _active(self) -> list[Source]:
        return self._registry.active(self._monotonic() - ACTIVE_SECONDS)

    def _poll(self) -> None:
        """Looks at the files that grew last, so that no event has to come for them."""
        for source in self._active():
            look = self._registry.look(source)
            if look is not None and look != source.seen:
                source.look = look if _same_file(look, source.look) else source.look
                self._enqueue(source, hot=True)

    def _take_hints(self) -> None:
        if not self._hints:
            return
        with self._lock:
            hints, self._hints = self._hints, set()
        for path in hints:
            source = self._registry.meet_path(database_of(path) or path)
            if source is not None:
                self._enqueue(source, hot=True)

    def sweep(self) -> None:
        """Looks at every root: what is new, grown, renamed or gone."""
        try:
            self._admission.look_again()
            for source in self._registry.sweep():
                age = time.time() - source.look.mtime_ns / 1e9
                self._enqueue(source, hot=source.stored and age < ACTIVE_SECONDS)
            self._take_back()
        except StoreError as error:
            self._store_failed(error)
            return
        self._last_sweep = self._now()
        now = {f"unreadable:{path}" for _, path, _ in self._registry.walk.unreadable}
        for key in [k for k in self._problems if k.startswith("unreadable:") and k not in now]:
            del self._problems[key]
        for agent, path, reason in self._registry.walk.unreadable:
            text = f"{agent}: a folder or file cannot be read ({reason})"
            if f"unreadable:{path}" not in self._problems:
                self._totals.errors.append(
                    SourceError(
                        agent=agent, path=self._registry.masked(path), position=0, code="unreadable"
                    )
                )
            self._problem(f"unreadable:{path}", "unreadable", text, "Check its permissions.")
        if self._watcher is not None and self._watcher.watch(self._registry.walk.folders):
            self.request_sweep()

    def _take_back(self) -> None:
        """Reads sources of sessions that may be captured again from their start."""
        again = self._store.noted(AGAIN)
        if not again:
            return
        sources = [found for name in again if (found := self._registry.by_id(name)) is not None]
        for source in sources:
            source.rewind()
            source.seen = None
        checkpoints = [source.checkpoint(self._secret) for source in sources]
        batch = CaptureBatch(events=[], facts=[], checkpoints=checkpoints)
        self._store.append(batch, now=self._now())
        for source, checkpoint in zip(sources, checkpoints, strict=True):
            source.saved, source.stored = checkpoint, True
            self._enqueue(source, hot=True)
        self._store.note(AGAIN, [])

    def _enqueue(self, source: Source, *, hot: bool) -> None:
        if source.waiting_since == 0.0:
            source.waiting_since = self._monotonic()
            self._bytes_total += source.pending_bytes
        self._queue.add(source, hot=hot)

    # ---- work ------------------------------------------------------------------------------------
    def _work(self) -> bool:
        """One slice of one source, or a commit; False when there is nothing to do now."""
        now = self._monotonic()
        if self._store_failures and now < self._store_retry_at:
            return False
        self._admission.refresh()
        if now - self._reread_at >= REREAD_GAP_SECONDS:
            self._read_again(now)
        taken = self._queue.take(now)
        if taken is None:
            if self._read_again(now):
                return True
            return self._commit() if self._batch else False
        source, hot = taken
        if self._read(source):
            self._queue.put_back(source, hot=hot)
        self._batch_hot = self._batch_hot or hot
        if not self._batch_since:
            self._batch_since = now
        if self._batch_full():
            self._commit()
        return True

    def _read_again(self, now: float) -> bool:
        """Puts sources whose records need not wait any longer back to their checkpoints."""
        if not self._admission.has_released:
            return False
        for source in self._admission.released():
            source.restore()
            self._enqueue(source, hot=True)
        self._reread_at = now
        return True

    def _batch_full(self) -> bool:
        batch, options = self._batch, self._options
        if len(batch.events) >= options.batch_events or batch.bytes >= options.batch_bytes:
            return True
        if self._batch_hot and not self._queue.has_hot:
            return True
        return self._monotonic() - self._batch_since >= options.batch_seconds

    def _read(self, source: Source) -> bool:
        """Reads one slice; True when the source may have more. One source's fault stays with it."""
        try:
            part = self._slice(source)
            if part.change is Change.REPLACED:
                self._replaced(source)
                return False
            self._take(source, part)
        except Exception as error:  # noqa: BLE001 - the others go on; it is named in the status
            return self._failed(source, error)
        return self._went_well(source, part)

    def _went_well(self, source: Source, part: Slice) -> bool:
        self._problems.pop(f"source:{source.saved.source_id}", None)
        self._masks_again(source)
        if not part.more:
            self._at_end(source, bool(part.records) or part.change is Change.REWRITTEN)
        return part.more

    def _masks_again(self, source: Source) -> None:
        """The one problem of all sources that could not be masked ends with the last of them."""
        if self._unmasked:
            self._unmasked.discard(source.saved.source_id)
            if not self._unmasked:
                self._problems.pop("redaction", None)

    def _slice(self, source: Source) -> Slice:
        match source.facts.engine:
            case Engine.DOCUMENT:
                return read_document(source, self._secret)
            case Engine.DATABASE:
                return self._rows(source)
            case Engine.APPEND_LOG | Engine.COMPRESSED_LOG:
                return read_slice(source, self._secret)

    def _rows(self, source: Source) -> Slice:
        if source.rows is None:
            source.rows = RowProgress(self._secret, source.state.get("rows"))
        if source.skip_until:
            skip_rows(source, source.rows)
            source.skip_until, source.dirty = 0, True
        return read_rows(source, source.rows)

    def _replaced(self, source: Source) -> None:
        self._registry.detach(source)
        found = self._registry.meet_path(source.path)
        if found is not None:
            self._enqueue(found, hot=True)

    def _take(self, source: Source, part: Slice) -> None:
        if part.records:
            self._ingest.take(source, part.records, self._batch)
        if part.records:
            if time.time() - source.look.mtime_ns / 1e9 < ACTIVE_SECONDS:
                self._registry.grew(source, self._monotonic())
            source.failures, source.problem = 0, None
            self._looked.add(source.saved.source_id)
        elif source.dirty:
            self._batch.sources[source.saved.source_id] = source

    def _failed(self, source: Source, error: Exception) -> bool:
        """Takes back what was read ahead, and sets the source aside; True when it is to go on."""
        match error:
            case StoreError():
                self._batch.sources[source.saved.source_id] = source
                self._roll_back(self._batch)
                self._store_failed(error)
                return False
            case FileNotFoundError():
                self._registry.lost(source)
                self._masks_again(source)
                source.waiting_since = 0.0
            case RedactionError():
                source.restore()
                self._set_aside(source, "redaction", error.message, error.hint)
            case UltraContextError():
                source.restore()
                self._set_aside(source, error.code, error.message, error.hint)
            case OSError():
                source.restore()
                reason = error.strerror or type(error).__name__
                self._set_aside(source, "unreadable", f"a file cannot be read ({reason})", "")
            case _:
                source.restore()
                name = type(error).__name__
                log.error("source_failed", agent=source.spec.slug, error=name)
                self._set_aside(source, "internal", f"a source failed ({name})", "Report it.")
        return False

    def _at_end(self, source: Source, grown: bool) -> None:
        before = source.seen
        source.seen = source.look
        source.waiting_since = 0.0
        if source.problem == UNFINISHED:
            source.retry_at = self._monotonic() + UNFINISHED_SECONDS
            self._queue.sleep(source)
            return
        if grown and self._registry.is_active(source):
            self._idle.grown(source)
        changed = before is not None and before != source.look
        if not grown and changed and source.position:
            self._idle.verify(source)
        elif grown and source.verify_from and source.position:
            source.verify_from = False
            self._idle.verify(source)

    def _set_aside(self, source: Source, code: str, message: str, hint: str) -> None:
        """Back-off for one source; the others go on."""
        source.failures += 1
        delay = min(FIRST_RETRY_SECONDS * 2 ** min(source.failures, 6), LAST_RETRY_SECONDS)
        source.retry_at = self._monotonic() + delay
        source.problem = code
        source.waiting_since = 0.0
        if source.failures == 1:
            self._totals.errors.append(
                SourceError(
                    agent=source.spec.slug, path=source.masked_path,
                    position=source.position, code=code,
                )
            )  # fmt: skip
            log.warning(
                "source_set_aside", agent=source.spec.slug, code=code, position=source.position
            )
        if code == "redaction":
            self._unmasked.add(source.saved.source_id)
        key = "redaction" if code == "redaction" else f"source:{source.saved.source_id}"
        self._problem(key, code, f"{source.spec.slug}: {message}", hint)
        self._queue.sleep(source)

    def _problem(self, key: str, code: str, message: str, hint: str) -> None:
        if len(self._problems) < 200 or key in self._problems:
            self._problems[key] = {"code": code, "message": message, "hint": hint}

    # ---- commit ----------------------------------------------------------------------------------
    def _commit(self) -> bool:
        """Makes the batch durable; False when the store refused it and all was taken back."""
        batch = self._batch
        if not batch:
            self._batch_since = 0.0
            return True
        closed = self._ingest.close(batch, self._secret)
        now = self._now()
        try:
            self._store.append(closed, now=now)
        except StoreError as error:
            self._roll_back(batch)
            self._store_failed(error)
            return False
        failpoint("after_acknowledge")
        self._store_failures = 0
        self._problems.pop("store", None)
        self._batch, self._batch_since, self._batch_hot = Batch(), 0.0, False
        for checkpoint in closed.checkpoints:
            source = batch.sources[checkpoint.source_id]
            source.saved, source.stored, source.dirty = checkpoint, True, False
            if source.seen is source.look and not self._registry.is_active(source):
                source.rest()
        self._account(batch)
        for update in closed.facts:
            self._lineage.note(update.agent, update.session_id, update.facts)
            if update.facts is None:
                self._idle.catch_up(update.agent, update.session_id)
            for child in self._readers.orphans.pop((update.agent, update.session_id), ()):
                self._idle.catch_up(update.agent, child)
        self._readers.trim()
        self._tell(batch, now)
        return True

    def _roll_back(self, batch: Batch) -> None:
        self._readers.drop(list(batch.touched))
        for source in batch.sources.values():
            self._back(source)
        self._batch, self._batch_since, self._batch_hot = Batch(), 0.0, False

    def _back(self, source: Source) -> None:
        source.restore()
        self._queue.put_back(source, hot=False)

    def _store_failed(self, error: StoreError) -> None:
        """The files are the buffer: reading stops until the store takes events again."""
        self._store_failures += 1
        delay = min(FIRST_RETRY_SECONDS * 2 ** (self._store_failures - 1), LAST_RETRY_SECONDS / 2)
        self._store_retry_at = self._monotonic() + delay
        if self._store_failures == 1:
            log.error("store_failed", code=error.code, error=error.message)
        self._problem("store", error.code, error.message, error.hint)

    def _account(self, batch: Batch) -> None:
        totals = self._totals
        totals.events += len(batch.events)
        totals.bytes += batch.bytes
        totals.masked += batch.masked
        totals.errors.extend(batch.errors[: max(0, 1000 - len(totals.errors))])
        self._sessions.update(batch.touched)
        for name, count in batch.counts.items():
            if name == "duplicates":
                totals.duplicates += count
            elif name.startswith("skipped."):
                reason = name.removeprefix("skipped.")
                totals.skipped[reason] = totals.skipped.get(reason, 0) + count

    def _tell(self, batch: Batch, now: datetime) -> None:
        if not self._listeners or not batch.touched:
            return
        at = now.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        told = [
            Committed(
                context_id=captured_context_id(agent, session_id), agent=agent,
                session_id=session_id, events=len(kinds), kinds=tuple(kinds[:100]), at=at,
            )
            for (agent, session_id), kinds in batch.touched.items()
        ]  # fmt: skip
        for callback in self._listeners:
            callback(told)

    def _purge(self) -> None:
        older = self._now() - timedelta(seconds=self._options.dedup_ttl_seconds)
        try:
            self._store.purge_dedup(older_than=older, now=self._now())
        except StoreError as error:
            self._store_failed(error)


def _same_file(a: Look, b: Look) -> bool:
    return (a.device, a.inode) == (b.device, b.inode)
