"""Work that can wait for a quiet moment, done a bit at a time so that live files never wait for it.

Files that changed while nobody looked are compared with what was read of them; readers of sessions
that an earlier run captured are caught up; forks are related.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator

from ultracontext.capture.lineage import Lineage
from ultracontext.capture.readers import Readers
from ultracontext.capture.source import Source, verify_blocks
from ultracontext.formats import Engine
from ultracontext.logs import get_logger

log = get_logger(__name__)

REST_SECONDS = 60.0
"""A file that has not grown for so long is compared once with what was read of it."""
RESTING_FILES = 128


class IdleWork:
    """The queue of such work of one engine."""

    def __init__(
        self,
        *,
        readers: Readers,
        lineage: Lineage,
        secret: bytes,
        monotonic: Callable[[], float],
        rewritten: Callable[[Source], None],
    ) -> None:
        self._readers = readers
        self._lineage = lineage
        self._secret = secret
        self._monotonic = monotonic
        self._rewritten = rewritten
        """Told of a source that was rewound, to be read again."""
        self._tasks: deque[Iterator[None]] = deque()
        self._resting: OrderedDict[int, tuple[float, Source]] = OrderedDict()
        self._catching: set[tuple[str, str]] = set()

    def step(self) -> bool:
        """A bit of work; False when there is none."""
        self._take_rested()
        if self._tasks:
            self._advance()
            return True
        try:
            return self._lineage.step()
        except Exception as error:  # noqa: BLE001 - as below
            log.warning("lineage_failed", error=type(error).__name__)
            return True

    def _advance(self) -> None:
        task = self._tasks[0]
        try:
            next(task)
        except StopIteration:
            self._tasks.remove(task)
        except Exception as error:  # noqa: BLE001 - a reader's bug must not stop capture
            log.warning("idle_task_failed", error=type(error).__name__)
            self._tasks.remove(task)

    def due_at(self) -> float:
        """When a resting file is to be compared, monotonic; infinity when none rests."""
        return next((due for due, _ in self._resting.values()), float("inf"))

    def grown(self, source: Source) -> None:
        """A live file grew: it is compared once it has come to rest."""
        key = source.saved.source_id
        self._resting[key] = (self._monotonic() + REST_SECONDS, source)
        self._resting.move_to_end(key)
        if len(self._resting) > RESTING_FILES:
            self._resting.popitem(last=False)

    def _take_rested(self) -> None:
        now = self._monotonic()
        while self.due_at() <= now:
            _, (_, source) = self._resting.popitem(last=False)
            if source.seen is not None and source.position:
                self.verify(source)

    def verify(self, source: Source) -> None:
        """Compares all that was read of a log with the file; rewinds when it differs."""
        if source.facts.engine is Engine.APPEND_LOG:
            self._tasks.append(self._verifying(source))

    def _verifying(self, source: Source) -> Iterator[None]:
        position = source.position
        for same in verify_blocks(source, self._secret):
            if source.position != position:
                return
            if same is None:
                yield
            elif not same:
                log.info("source_rewritten", agent=source.spec.slug, position=position)
                source.rewind()
                self._rewritten(source)

    def catch_up(self, agent: str, session_id: str) -> None:
        """Computes the facts of a session from the store and keeps its reader."""
        if (agent, session_id) not in self._catching:
            self._catching.add((agent, session_id))
            self._tasks.append(self._catching_up(agent, session_id))

    def _catching_up(self, agent: str, session_id: str) -> Iterator[None]:
        try:
            yield from self._readers.catch_up(agent, session_id)
            facts = self._readers.facts(agent, session_id)
            if facts is not None:
                self._readers.save(agent, session_id, facts)
                self._lineage.note(agent, session_id, facts)
        finally:
            self._catching.discard((agent, session_id))
