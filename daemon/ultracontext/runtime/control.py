"""The control socket: HTTP on a unix socket that only this user may talk to.

    GET  /status     what `ultracontext status --json` prints
    GET  /sessions   newest sessions (`?limit=50`)
    GET  /events     commits as server-sent events; `Last-Event-ID` or `?cursor=` replays
    POST /pause /continue   capture as a whole, or `{"project": "/folder"}` in the body
    POST /forget     contexts were wiped and leave the index: `{"contexts": [id, …]}`
    POST /sweep /stop

Every answer holds `protocol` and `version`; an error also `error: {code, message, hint}`.
"""

from __future__ import annotations

import asyncio
import errno
import json
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from ultracontext.errors import FatalError, UltraContextError
from ultracontext.logs import get_logger, where
from ultracontext.runtime.client import PROTOCOL
from ultracontext.runtime.hub import Hub, HubEvent, Subscriber
from ultracontext.runtime.peer import peer_uid

log = get_logger(__name__)

WRITE_SECONDS = 5.0
"""How long one write to a client may take."""
QUIET_SECONDS = 15.0
"""Pause after which a comment keeps a stream alive."""
MOST_SESSIONS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Actions:
    """What the daemon lets the socket do. The reading ones may block and run in a thread."""

    status: Callable[[], dict[str, Any]]
    sessions: Callable[[int], list[dict[str, Any]]]
    pause: Callable[[str | None], None]
    go_on: Callable[[str | None], None]
    """Both take a project's folder, or None for all of capture."""
    sweep: Callable[[], None]
    forget: Callable[[list[str]], bool]
    """Contexts were wiped: capture and the search index learn of it. Whether the index holds no
    byte of them; may block for `indexing.FORGET_SECONDS`."""
    stop: Callable[[], None]


class ControlSocket:
    """The file that clients connect to."""

    def __init__(self, runner: web.AppRunner, path: Path) -> None:
        self._runner = runner
        self._path = path
        self._site: web.SockSite | None = None
        self._own: tuple[int, int] | None = None

    async def open(self) -> None:
        """Binds and listens; clients of an earlier file stay. Raises FatalError."""
        bound, earlier = _bind(self._path), self._site
        found = self._path.stat()
        self._own = (found.st_dev, found.st_ino)
        self._site = web.SockSite(self._runner, bound)
        await self._site.start()
        if earlier is not None:
            await earlier.stop()

    async def mend(self) -> bool:
        """Makes the file again when it was removed or replaced; whether it was."""
        if self._identity() == self._own:
            return False
        await self.open()
        log.warning("socket-made-again", code="socket")
        return True

    def remove(self) -> None:
        if self._identity() == self._own:
            self._path.unlink(missing_ok=True)

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino


@asynccontextmanager
async def serve_control(
    path: Path, actions: Actions, hub: Hub, *, version: str
) -> AsyncIterator[ControlSocket]:
    """Serves the socket for the length of the `async with`. The daemon lock must be ours."""
    endpoints = Endpoints(actions, hub, version)
    runner = web.AppRunner(endpoints.application(), access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    control = ControlSocket(runner, path)
    try:
        try:
            await control.open()
            yield control
        finally:
            control.remove()
    finally:
        endpoints.closing.set()
        await runner.cleanup()


def _bind(path: Path) -> socket.socket:
    """A socket at `path`. What lies there is of a dead daemon, since the lock is ours."""
    bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if path.is_socket():
            path.unlink()
        before = os.umask(0o177)
        try:
            bound.bind(str(path))
        finally:
            os.umask(before)
        bound.setblocking(False)
    except OSError as error:
        bound.close()
        reason = error.strerror or str(error)
        raise FatalError(
            f"cannot make the control socket {path}: {reason}", code="socket", hint=_way_out(error)
        ) from error
    return bound


def _way_out(error: OSError) -> str:
    if error.errno in (errno.EADDRINUSE, errno.EISDIR, errno.EEXIST):
        return "Something else lies there: remove it"
    if error.errno is None or error.errno == errno.ENAMETOOLONG:  # the kernel's limit is Python's
        return "Set ULTRACONTEXT_HOME to a shorter path"
    return "Put ULTRACONTEXT_HOME on a local disk that this user can write to"


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


class Endpoints:
    """The handlers of one control socket."""

    def __init__(self, actions: Actions, hub: Hub, version: str) -> None:
        self._actions = actions
        self._hub = hub
        self._stamp = {"protocol": PROTOCOL, "version": version}
        self.closing = asyncio.Event()

    def application(self) -> web.Application:
        application = web.Application(middlewares=[self._guard], client_max_size=4096)
        application.add_routes(
            [
                web.get("/status", self._status),
                web.get("/sessions", self._sessions),
                web.get("/events", self._events),
                web.post("/pause", self._about_project(self._actions.pause)),
                web.post("/continue", self._about_project(self._actions.go_on)),
                web.post("/forget", self._forget),
                web.post("/sweep", self._doing(self._actions.sweep)),
                web.post("/stop", self._doing(self._actions.stop)),
            ]
        )
        return application

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Only this user; every failure is an answer of ours."""
        connection = request.transport.get_extra_info("socket") if request.transport else None
        if connection is None or peer_uid(connection) != os.getuid():
            return self._error(403, "forbidden", "this socket belongs to another user")
        try:
            return await handler(request)
        except web.HTTPNotFound:
            return self._error(404, "not-found", f"no such path {request.path[:100]}")
        except web.HTTPMethodNotAllowed as error:
            allowed = ", ".join(sorted(error.allowed_methods))
            return self._error(405, "method", f"{request.path} takes {allowed}")
        except UltraContextError as error:
            return self._error(500, error.code, error.message, error.hint)
        except Exception as error:  # noqa: BLE001  # one bad request must not end the daemon
            return self._failed(request, error)

    def _failed(self, request: web.Request, error: Exception) -> web.Response:
        log.error("control-failed", code="internal", path=request.path, **where(error))
        return self._error(500, "internal", "the daemon failed to answer")

    async def _status(self, _request: web.Request) -> web.Response:
        return self._answer(await asyncio.to_thread(self._actions.status))

    async def _sessions(self, request: web.Request) -> web.Response:
        text = request.query.get("limit", "50")
        if not text.isdecimal() or not 0 < int(text[:9]) <= MOST_SESSIONS:
            return self._error(400, "usage", f"limit is a number from 1 to {MOST_SESSIONS}")
        rows = await asyncio.to_thread(self._actions.sessions, int(text))
        return self._answer({"sessions": rows, "cursor": self._hub.cursor()})

    def _doing(self, action: Callable[[], None]) -> Handler:
        async def handler(_request: web.Request) -> web.Response:
            action()
            return self._answer({})

        return handler

    def _about_project(self, action: Callable[[str | None], None]) -> Handler:
        async def handler(request: web.Request) -> web.Response:
            project = _project_in(await request.read())
            if project is not None and not project.startswith("/"):
                return self._error(400, "usage", "project is an absolute folder")
            await asyncio.to_thread(action, project)
            return self._answer({})

        return handler

    async def _forget(self, request: web.Request) -> web.Response:
        contexts = _contexts_in(await request.read())
        if contexts is None:
            return self._error(400, "usage", "contexts is a list of context ids")
        clean = await asyncio.to_thread(self._actions.forget, contexts)
        return self._answer({"clean": clean})

    async def _events(self, request: web.Request) -> web.StreamResponse:
        cursor = request.headers.get("Last-Event-ID") or request.query.get("cursor")
        subscriber, missed, reset = self._hub.subscribe(cursor)
        if subscriber is None:
            return self._error(503, "busy", "too many clients read events")
        stream = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"}
        )
        stream.force_close()
        try:
            await stream.prepare(request)
            start = self._hub.cursor(missed[0].number - 1 if missed else None)
            await _write(stream, _frame("hello", self._stamp | {"cursor": start}, start))
            if reset:
                await _write(stream, _frame("reset", self._stamp | {"cursor": start}, start))
            for event in missed:
                await self._send(stream, event)
            await self._follow(stream, subscriber)
        except ConnectionError:
            log.debug("client-left", clients=self._hub.clients)
        except TimeoutError:
            log.info("client-dropped", code="slow", clients=self._hub.clients)
            if request.transport is not None:
                request.transport.abort()
        finally:
            self._hub.unsubscribe(subscriber)
        return stream

    async def _follow(self, stream: web.StreamResponse, subscriber: Subscriber) -> None:
        while not self.closing.is_set():
            if subscriber.lost.is_set() and subscriber.queue.empty():
                await _write(stream, _frame("dropped", self._stamp, None))
                return
            try:
                async with asyncio.timeout(QUIET_SECONDS):
                    event = await self._next(subscriber)
            except TimeoutError:
                await _write(stream, b": quiet\n\n")
                continue
            if event is None:
                await _write(stream, _frame("bye", self._stamp, None))
                return
            await self._send(stream, event)

    async def _next(self, subscriber: Subscriber) -> HubEvent | None:
        """The next event, or None when the daemon stops."""
        async with asyncio.TaskGroup() as group:
            event = group.create_task(subscriber.queue.get())
            closing = group.create_task(self.closing.wait())
            await asyncio.wait((event, closing), return_when=asyncio.FIRST_COMPLETED)
            event.cancel()
            closing.cancel()
        return event.result() if event.done() and not event.cancelled() else None

    async def _send(self, stream: web.StreamResponse, event: HubEvent) -> None:
        cursor = self._hub.cursor(event.number)
        await _write(stream, _frame(event.name, event.data | {"cursor": cursor}, cursor))

    def _answer(self, body: dict[str, Any], status: int = 200) -> web.Response:
        text = json.dumps(self._stamp | body)
        return web.Response(text=text, status=status, content_type="application/json")

    def _error(self, status: int, code: str, message: str, hint: str = "") -> web.Response:
        return self._answer({"error": {"code": code, "message": message, "hint": hint}}, status)


def _project_in(body: bytes) -> str | None:
    """The folder that a request is about; empty for a body that names none properly."""
    if not body.strip():
        return None
    try:
        project = json.loads(body)["project"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""
    return project if project is None or isinstance(project, str) else ""


def _contexts_in(body: bytes) -> list[str] | None:
    try:
        contexts = json.loads(body)["contexts"]
    except (ValueError, KeyError, TypeError):
        return None
    known = isinstance(contexts, list) and all(isinstance(name, str) for name in contexts)
    return contexts if known else None


def _frame(name: str, data: dict[str, Any], cursor: str | None) -> bytes:
    head = f"id: {cursor}\n" if cursor else ""
    return f"{head}event: {name}\ndata: {json.dumps(data)}\n\n".encode("ascii")


async def _write(stream: web.StreamResponse, data: bytes) -> None:
    async with asyncio.timeout(WRITE_SECONDS):
        await stream.write(data)
