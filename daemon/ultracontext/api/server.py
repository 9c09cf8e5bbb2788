"""Runs a server: binds, serves, and finishes what it accepted."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from ultracontext.api.access import AccessLog
from ultracontext.api.app import Application
from ultracontext.api.service import Service
from ultracontext.errors import UltraContextError
from ultracontext.logs import get_logger

log = get_logger(__name__)

KEEP_ALIVE_SECONDS = 75.0
BACKLOG = 1024


@asynccontextmanager
async def serving(service: Service, access: AccessLog | None = None) -> AsyncIterator[int]:
    """Serves for the length of the `async with`, and gives the port. At its end accepted requests
    are finished, up to `stop_seconds`."""
    app = Application(service, access).build()
    runner = web.AppRunner(
        app, access_log=None, keepalive_timeout=KEEP_ALIVE_SECONDS,
        shutdown_timeout=service.options.stop_seconds, handler_cancellation=False,
    )  # fmt: skip
    await runner.setup()
    failed: Exception | None = None
    try:
        bound = _bind(service.options.host, service.options.port)
        site = web.SockSite(runner, bound, backlog=BACKLOG)
        await site.start()
        async with asyncio.TaskGroup() as group:
            upkeep = group.create_task(service.upkeep())
            port = bound.getsockname()[1]
            log.info("server-started", port=port)
            try:
                yield port
            except Exception as error:  # noqa: BLE001  # raised again, without a group around it
                failed = error
            log.info("server-stopping")
            upkeep.cancel()
        await site.stop()
        await service.finish()
    finally:
        await runner.cleanup()
        service.close()
    log.info("server-stopped")
    if failed is not None:
        raise failed


def _bind(host: str, port: int) -> socket.socket:
    try:
        family, kind, number, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, number)
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        bound.bind(address)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise UltraContextError(
            f"cannot listen on {host} port {port}: {reason}",
            hint="Choose another with --host and --port", code="listen",
        ) from error  # fmt: skip
    return bound


async def stop_signal() -> None:
    """Returns at SIGINT or SIGTERM; a second one then ends the process as it does by default."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, stop.set)
    try:
        await stop.wait()
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
