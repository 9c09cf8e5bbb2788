"""The daemon: capture in a thread of its own, the control socket on the event loop.

It ends on SIGTERM, SIGINT or `POST /stop`, within two seconds; what is committed by then stays, the
rest is read again at the next start. It starts no program and writes only inside its home.
"""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import msgspec

from ultracontext import __version__
from ultracontext.agents import known
from ultracontext.capture import Committed, Progress, SourceError, Summary
from ultracontext.capture.listing import session_rows
from ultracontext.capture.roots import missing_roots
from ultracontext.capture.whereabouts import Places
from ultracontext.errors import (
    FatalError,
    StoreError,
    TransportError,
    UltraContextError,
    WriteRefusedError,
)
from ultracontext.logs import get_logger, where
from ultracontext.runtime import health
from ultracontext.runtime.assembly import Line, Setup, capture_line, local_store, store_path
from ultracontext.runtime.client import ControlClient
from ultracontext.runtime.control import Actions, ControlSocket, serve_control
from ultracontext.runtime.hub import Hub
from ultracontext.runtime.indexing import Indexing
from ultracontext.runtime.lock import DaemonLock, Holder, holding
from ultracontext.runtime.notify import Notifier
from ultracontext.runtime.process import has_terminal
from ultracontext.runtime.reload import Reloading
from ultracontext.runtime.upkeep import Upkeep
from ultracontext.runtime.waiting import until_masking
from ultracontext.runtime.watched import Watched
from ultracontext.store.masking import masked_row

log = get_logger(__name__)

STOP_SECONDS = 4.5
"""How long capture may take to commit what it has read; then the process leaves without it."""
RELOAD_SECONDS = 60.0
"""As `STOP_SECONDS`, when it goes on with other settings: nobody waits for the end."""
LOOK_SECONDS = 5.0
"""Between two looks at the files that the daemon stands on."""


def run_once(
    setup: Setup, *, progress: Callable[[Progress], None] | None = None
) -> tuple[Summary, bool]:
    """Reads everything to its end and commits it. (summary, whether it was interrupted)"""
    local_store(setup)
    setup.paths.ensure()
    lock = DaemonLock(setup.paths.lock_file)
    stop = threading.Event()
    with (
        holding(lock, version=__version__, socket="", once=True),
        _stopping(stop.set),
        capture_line(setup) as line,
    ):
        summary = line.engine.run_once(progress=progress, stop=stop)
        upkeep = Upkeep(line, gently=False)
        if not stop.is_set():
            upkeep.once(stop)
        if upkeep.problem is not None:
            place = SourceError(agent="", path="", position=0, code="redaction")
            summary.errors.append(place)
        for slug, folder in missing_roots(setup.settings, setup.home):
            path = line.redactor.text(os.fsencode(folder).decode("utf-8", "backslashreplace"))
            summary.errors.append(
                SourceError(agent=slug, path=path, position=0, code=health.MISSING_ROOT)
            )
    return summary, stop.is_set()


def run_daemon(setup: Setup) -> int:
    """Runs until it is told to stop. The exit code."""
    local_store(setup)
    setup.paths.ensure()
    lock = DaemonLock(setup.paths.lock_file)
    socket = str(setup.paths.socket)
    early = threading.Event()
    with (
        holding(lock, version=__version__, socket=socket, once=False) as earlier,
        _stopping(early.set),
        _deaf_to_hangups(),
    ):
        _refuse_beside_another(setup)
        if earlier is not None:
            log.warning("lock-taken-over", pid=earlier.pid)
        notifier = Notifier(setup.env)
        try:
            masking = until_masking(setup, _signals_to, notifier)
            if masking is None:
                return 0
            watched = Watched(lock=lock, unclean=earlier is not None)
            return _follow(masking, watched, early, notifier)
        finally:
            notifier.stopping()


def _follow(setup: Setup, watched: Watched, early: threading.Event, notifier: Notifier) -> int:
    """Captures to the end; anew whenever the store's file or the settings are others."""
    reloading = Reloading(setup)
    while True:
        with _stopping(early.set):
            with capture_line(setup) as line:
                if early.is_set():
                    return 0
                watched.open(store_path(setup))
                daemon = Daemon(line, watched, reloading, notifier)
                code = asyncio.run(daemon.run())
            watched.close()
            if daemon.told_to_stop or not daemon.goes_on:
                return code
            setup = daemon.next_setup or setup
            setup.paths.ensure()


def _refuse_beside_another(setup: Setup) -> None:
    """A daemon whose lock file was removed still answers at its socket."""
    try:
        answer = ControlClient(setup.paths.socket, timeout_seconds=1.0).get("/status")
    except TransportError:
        return
    pid = answer.get("daemon", {}).get("pid")
    raise WriteRefusedError(
        f"a daemon is running already (pid {pid}), though its lock file is gone",
        code="locked",
        hint="Stop it by `ultracontext daemon stop`",
    )


class Daemon:
    """One running daemon."""

    def __init__(
        self, line: Line, watched: Watched, reloading: Reloading, notifier: Notifier
    ) -> None:
        self._line = line
        self._watched = watched
        self._notifier = notifier
        self._reloading = reloading
        self._reload_wanted = asyncio.Event()
        self._on_terminal = has_terminal()
        self.next_setup: Setup | None = None
        """With other settings; the daemon stops for a line that is made with them."""
        self._hub = Hub(f"{os.getpid():x}.{time.time_ns():x}")
        self._halt = threading.Event()
        self._stopping = asyncio.Event()
        self.told_to_stop = False
        """By a person or the system; it also stops for a store that has to be opened anew."""
        self._committed = asyncio.Event()
        self._failure: BaseException | None = None
        self._upkeep = Upkeep(line, unclean=watched.unclean)
        self._upkept = asyncio.Event()
        self._indexing = Indexing(
            line.setup.paths.index_file, line.space, line.redactor, busy=lambda: line.engine.busy
        )
        self._started = time.monotonic()

    @property
    def goes_on(self) -> bool:
        """Whether this end is followed by another beginning."""
        return self._watched.changed or self.next_setup is not None

    async def run(self) -> int:
        loop = asyncio.get_running_loop()
        self._line.engine.listen(lambda rows: self._tell(loop, rows))
        paths = self._line.setup.paths
        with _signals_to(loop, self._stop, self._hangup):
            async with serve_control(
                paths.socket, self._actions(), self._hub, version=__version__
            ) as control:
                log.info("daemon-started", pid=os.getpid(), version=__version__)
                self._notifier.ready()
                left = await self._work(loop, control)
        log.info("daemon-stopped", pid=os.getpid(), clean=left)
        if self._failure is not None:
            raise _as_fatal(self._failure)
        if not left:  # the commit that still runs is whole or not at all
            os._exit(1 if self.goes_on and not self.told_to_stop else 0)
        return 0

    async def _work(self, loop: asyncio.AbstractEventLoop, control: ControlSocket) -> bool:
        """Runs capture and upkeep until the end; False when they did not return in time."""
        done = self._in_thread(loop, "capture", lambda: self._capture(loop))
        indexed = self._in_thread(loop, "index", lambda: self._indexing.run(self._halt))
        async with asyncio.TaskGroup() as group:
            chores = [
                group.create_task(self._care(loop)),
                group.create_task(self._watch(control)),
                group.create_task(self._beat()),
                group.create_task(self._reload()),
            ]
            try:
                await self._stopping.wait()
            finally:
                self._halt.set()
                self._line.engine.hint("")  # wakes the loop at once
                self._indexing.tell(set())
                for chore in chores:
                    chore.cancel()
        with suppress(TimeoutError):
            limit = STOP_SECONDS if self.told_to_stop or not self.next_setup else RELOAD_SECONDS
            async with asyncio.timeout(limit):
                await done.wait()
                await indexed.wait()
                if self.goes_on:  # the next line must find the file left alone
                    await self._upkept.wait()
                return True
        return False

    def _hangup(self) -> None:
        """Reload; the end, where it came because the terminal that we run on is gone."""
        if self._on_terminal and not has_terminal():
            self._stop()
        else:
            self._reload_wanted.set()

    def _stop(self) -> None:
        self.told_to_stop = True
        self._stopping.set()

    def _capture(self, loop: asyncio.AbstractEventLoop) -> None:
        """Its end before it is told to is a failure of the daemon."""
        try:
            self._line.engine.run(self._halt)
        except BaseException as error:
            self._failure = error
            raise
        finally:
            with suppress(RuntimeError):  # the loop has ended already
                loop.call_soon_threadsafe(self._stopping.set)

    def _in_thread(
        self, loop: asyncio.AbstractEventLoop, name: str, work: Callable[[], None]
    ) -> asyncio.Event:
        """Runs `work` in a thread that nobody waits for at exit; the event is set at its end."""
        done = asyncio.Event()

        def body() -> None:
            try:
                work()
            except BaseException as error:  # noqa: BLE001  # the end of a thread
                _report(name, error)
            finally:
                with suppress(RuntimeError):  # the loop has ended already
                    loop.call_soon_threadsafe(done.set)

        threading.Thread(target=body, name=name, daemon=True).start()
        return done

    async def _care(self, loop: asyncio.AbstractEventLoop) -> None:
        """One pass at the start, one a while after commits, one a day in any case."""
        while True:
            self._committed.clear()
            self._upkept = self._in_thread(loop, "upkeep", lambda: self._upkeep.once(self._halt))
            await self._upkept.wait()
            await asyncio.sleep(Upkeep.PAUSE_SECONDS)
            longest = Upkeep.SOON_SECONDS if self._upkeep.unfinished else Upkeep.LONGEST_SECONDS
            with suppress(TimeoutError):
                async with asyncio.timeout(longest):
                    await self._committed.wait()

    async def _watch(self, control: ControlSocket) -> None:
        """Lock, socket and store are looked at every few seconds: anyone may remove a file."""
        paths = self._line.setup.paths
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            try:
                self._watched.keep_lock(paths)
                await control.mend()
            except UltraContextError as error:
                _report("places", error)
                if isinstance(error, WriteRefusedError):
                    self._failure = error
                    self._stopping.set()
            if self._watched.store_changed():
                self._stopping.set()

    async def _beat(self) -> None:
        """The loop lives; a manager that asked for this ends a daemon whose loop hangs."""
        every = self._notifier.watchdog_seconds
        while every is not None:
            self._notifier.alive()
            await asyncio.sleep(every)

    async def _reload(self) -> None:
        """Settings are read anew on SIGHUP, and when their file changed."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._reload_wanted.wait()
            told = self._reload_wanted.is_set()
            self._reload_wanted.clear()
            if not self._reloading.changed() and not told:
                continue
            if told:
                self._notifier.reloading()
            self.next_setup = await asyncio.to_thread(self._reloading.fresh)
            if self.next_setup is not None:
                self._stopping.set()
                return
            if told:
                self._notifier.ready()

    def _tell(self, loop: asyncio.AbstractEventLoop, rows: Sequence[Committed]) -> None:
        """In the engine's thread, after a commit."""
        data = [msgspec.to_builtins(row) for row in rows]
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(self._publish, data)

    def _publish(self, rows: list[dict[str, Any]]) -> None:
        self._committed.set()
        self._indexing.tell({str(row["context_id"]) for row in rows})
        self._hub.publish("committed", rows)

    def _actions(self) -> Actions:
        engine = self._line.engine
        return Actions(
            status=self._status,
            sessions=self._sessions,
            pause=engine.pause,
            go_on=engine.resume,
            sweep=engine.request_sweep,
            forget=self._forget,
            stop=self._stop,
        )

    def _forget(self, contexts: list[str]) -> bool:
        """Capture learns of the tombstones by a sweep: it counts what it leaves out, and remembers
        in which files it stands."""
        self._line.engine.request_sweep()
        return self._indexing.forget(contexts)

    def _sessions(self, limit: int) -> list[dict[str, Any]]:
        space, redactor = self._line.space, self._line.redactor
        places = Places(known(), self._line.roots)
        rows = [masked_row(row, redactor) for row in space.contexts(limit=limit, children=True)]
        return session_rows(space, rows, places)

    def _status(self) -> dict[str, Any]:
        setup, now = self._line.setup, self._line.engine.status()
        problems = [dict(found) for found in now.problems]
        dedup = health.no_dedup()
        try:
            dedup = msgspec.to_builtins(self._line.space.dedup_status())
        except StoreError as error:
            problems.append(health.problem(error.code, error.message, error.hint))
        problems += health.standing_problems(setup.paths, setup.settings, setup.home)
        problems += self._watched.problems()
        problems += health.damage_problems(setup.paths, problems, self._line.store.damaged)
        if self._reloading.problem is not None:
            problems.append(self._reloading.problem)
        if self._indexing.problem is not None:
            problems.append(self._indexing.problem)
        if self._upkeep.problem is not None:
            problems.append(self._upkeep.problem)
        problems += health.ignored_problems(self._upkeep.ignored)
        return {
            "daemon": {
                "running": True,
                "pid": os.getpid(),
                "version": __version__,
                "uptime_seconds": round(time.monotonic() - self._started, 1),
                "memory_bytes": health.own_memory_bytes(),
                "clients": self._hub.clients,
            },
            "capture": {
                "paused": now.paused,
                "paused_projects": now.paused_projects,
                "waiting_sessions": now.waiting,
                "watcher": now.watcher,
                "backlog_bytes": now.backlog_bytes,
                "backlog_seconds": round(now.backlog_seconds, 3),
                "sources": now.sources,
                "active": now.active,
                "events": now.events,
                "duplicates": now.duplicates,
                "masked": now.masked,
                "skipped": now.skipped,
                "last_sweep_at": now.last_sweep_at,
            },
            "redaction": health.masking(
                setup.settings,
                self._line.space,
                self._line.redactor.rule_set,
                self._line.redactor.rules,
            ),
            "remote": health.remote(setup.settings),
            "dedup": dedup,
            "store": health.store(setup.paths),
            "index": self._indexing.state(),
            "problems": problems,
        }


def _report(name: str, error: BaseException) -> None:
    log.error("part-failed", code=getattr(error, "code", name), part=name, **where(error))


def _as_fatal(error: BaseException) -> UltraContextError:
    if isinstance(error, UltraContextError):
        return error
    return FatalError(
        f"the daemon stopped after an unexpected {type(error).__name__}",
        hint="The log has the place: `ultracontext daemon logs`",
    )


@contextmanager
def _signals_to(
    loop: asyncio.AbstractEventLoop,
    stop: Callable[[], None],
    reload: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """SIGTERM and SIGINT stop, SIGHUP reloads the settings."""
    handlers = {signal.SIGTERM: stop, signal.SIGINT: stop, signal.SIGHUP: reload}
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in handlers}
    for number, handler in handlers.items():
        loop.add_signal_handler(number, handler)
    try:
        yield
    finally:
        for number, earlier in before.items():
            loop.remove_signal_handler(number)  # leaves the system's own answer, which is the end
            signal.signal(number, earlier)


@contextmanager
def _deaf_to_hangups() -> Iterator[None]:
    """While there is no loop, there is nothing to reload either."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGHUP, before)


@contextmanager
def _stopping(stop: Callable[[], None]) -> Iterator[None]:
    """The first SIGTERM or SIGINT asks for the end, the second SIGINT does not wait for it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handler(number: int, _frame: object) -> None:
        stop()
        if number == signal.SIGINT:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    before = {number: signal.signal(number, handler) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


__all__ = ["Daemon", "Holder", "run_daemon", "run_once"]
