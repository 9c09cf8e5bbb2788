"""A daemon whose rules do not load: it captures nothing, says so at its socket, and tries again.

Nothing passes unmasked, and nobody has to start it anew once the rules are mended: the settings of
`redaction` and the rules are read again every few seconds.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ultracontext import __version__
from ultracontext.agents import known
from ultracontext.errors import RedactionError, UltraContextError, WriteRefusedError
from ultracontext.logs import get_logger
from ultracontext.redaction.opening import open_redactor
from ultracontext.runtime import health
from ultracontext.runtime.assembly import Setup
from ultracontext.runtime.control import Actions, serve_control
from ultracontext.runtime.hub import Hub
from ultracontext.runtime.notify import Notifier
from ultracontext.settings import load_settings

log = get_logger(__name__)

RETRY_SECONDS = 3.0

Signals = Callable[[asyncio.AbstractEventLoop, Callable[[], None]], Any]


def until_masking(setup: Setup, signals: Signals, notifier: Notifier | None = None) -> Setup | None:
    """The setup with which the rules load, at once as a rule; None when told to stop first."""
    try:
        open_redactor(setup.paths, setup.settings)
    except RedactionError as error:
        log.error("redaction-failed", code=error.code, error=error.message)  # noqa: TRY400
        return asyncio.run(Waiting(setup, error, notifier).run(signals))
    return setup


class Waiting:
    """The time until the rules load."""

    def __init__(
        self, setup: Setup, error: UltraContextError, notifier: Notifier | None = None
    ) -> None:
        self._setup = setup
        self._notifier = notifier or Notifier({})
        self._error = error
        self._started = time.monotonic()
        self._stopping = asyncio.Event()
        self._wanted = asyncio.Event()

    async def run(self, signals: Signals) -> Setup | None:
        loop = asyncio.get_running_loop()
        hub = Hub(f"{os.getpid():x}.{time.time_ns():x}")
        path = self._setup.paths.socket
        with signals(loop, self._stop):
            async with serve_control(path, self._actions(), hub, version=__version__) as control:
                self._notifier.ready()
                while not self._stopping.is_set():
                    self._notifier.alive()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(RETRY_SECONDS):
                            await self._wanted.wait()
                    self._wanted.clear()
                    with suppress(UltraContextError):
                        await control.mend()
                    if await asyncio.to_thread(self._loads):
                        log.info("redaction-mended")
                        return self._setup
        return None

    def _stop(self) -> None:
        self._stopping.set()
        self._wanted.set()

    def _loads(self) -> bool:
        setup = self._setup
        try:
            fresh = load_settings(setup.paths.config_file, setup.env, agents=known())
            settings = replace(setup.settings, redaction=fresh.redaction)
            settings.check()
            open_redactor(setup.paths, settings)
        except UltraContextError as error:
            self._error = error
            return False
        self._setup = replace(setup, settings=settings)
        return True

    def _actions(self) -> Actions:
        return Actions(
            status=self.status,
            sessions=lambda _limit: [],
            pause=_refused,
            go_on=_refused,
            sweep=self._wanted.set,
            forget=lambda _contexts: False,
            stop=self._stop,
        )

    def status(self) -> dict[str, Any]:
        """As of a daemon that captures nothing."""
        setup, error = self._setup, self._error
        found = health.stopped(setup.paths, setup.settings, setup.home, health.no_dedup())
        found["daemon"] = {
            "running": True,
            "pid": os.getpid(),
            "version": __version__,
            "uptime_seconds": round(time.monotonic() - self._started, 1),
            "memory_bytes": health.own_memory_bytes(),
            "clients": 0,
        }
        message = f"nothing is captured: {error.message}"
        found["problems"].append(health.problem("redaction", message, error.hint))
        return found


def _refused(_project: str | None) -> None:
    raise WriteRefusedError(
        "nothing is captured until the redaction rules load", hint="See `ultracontext status`"
    )
