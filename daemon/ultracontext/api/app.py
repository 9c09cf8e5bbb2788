"""The aiohttp application: one handler for every request, and what surrounds it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from aiohttp import web

from ultracontext.api.access import AccessLog, request_id
from ultracontext.api.gate import Gate, Visit, headers_of, refusal
from ultracontext.api.service import Service
from ultracontext.errors import UltraContextError
from ultracontext.logs import get_logger, where
from ultracontext.store.exchange import Answer, json_answer
from ultracontext.wire import iso_of
from ultracontext.wire.faults import RequestError

log = get_logger(__name__)

CORS = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, POST, PATCH, DELETE, OPTIONS",
    "Access-Control-Allow-Headers": "Authorization, Content-Type",
    "Access-Control-Max-Age": "86400",
    "Vary": "Origin",
}
JSON = "application/json"
MOST_HEADER_BYTES = 8190


class Application:
    """Makes the `web.Application` of a service."""

    def __init__(self, service: Service, access: AccessLog | None = None) -> None:
        self._service = service
        self._gate = Gate(service)
        self._access = access or AccessLog(None)

    def build(self) -> web.Application:
        app = web.Application(client_max_size=self._service.options.body_bytes)
        app.router.add_route("*", r"/{path:[\s\S]*}", self.handle)
        return app

    async def handle(self, request: web.Request) -> web.StreamResponse:
        begun = time.perf_counter()
        name, visit = request_id(request.headers.get("X-Request-Id")), Visit()
        metrics = self._service.metrics
        status = 499
        with metrics.in_flight.track_inprogress():
            self._service.running += 1
            try:
                response = await self._respond(request, visit, name)
                status = response.status
                return response
            finally:
                self._service.running -= 1
                seconds = time.perf_counter() - begun
                metrics.requests.labels(request.method[:8], visit.route, str(status)).inc()
                metrics.seconds.labels(visit.route).observe(seconds)
                metrics.received.inc(visit.received)
                self._write(request, visit, name, status, seconds)

    async def _respond(self, request: web.Request, visit: Visit, name: str) -> web.StreamResponse:
        headers = self._headers(request, name)
        if request.method == "OPTIONS":
            visit.route = "OPTIONS"
            return web.Response(status=204, headers=headers)
        try:
            self._refuse_when_stopping(headers)
            found = await self._gate.answer(request, visit)
        except Exception as error:  # noqa: BLE001  # whatever it is, the client gets JSON
            found = self._failed(error, name, headers)
        if isinstance(found, web.StreamResponse):
            found.headers.update(headers)
            return found
        self._service.metrics.messages.inc(found.messages)
        if found.rest is None:
            return web.Response(
                status=found.status, body=found.body, content_type=JSON, headers=headers
            )
        return await self._stream(request, found, headers)

    def _refuse_when_stopping(self, headers: dict[str, str]) -> None:
        if self._service.stopping:
            headers["Connection"] = "close"
            raise RequestError(503, "The server is stopping")

    def _headers(self, request: web.Request, name: str) -> dict[str, str]:
        """`POST /mcp` answers carry no CORS headers, as in the original."""
        plain = {"X-Request-Id": name, "X-Content-Type-Options": "nosniff"}
        if request.method == "POST" and request.path == "/mcp":
            return plain
        return CORS | plain

    def _failed(self, error: Exception, name: str, headers: dict[str, str]) -> Answer:
        told = refusal(error)
        headers |= headers_of(told)
        if told.status >= 500:
            code = error.code if isinstance(error, UltraContextError) else type(error).__name__
            log.error("request-failed", request=name, code=code, **where(error))
        return json_answer(told.body(), told.status)

    async def _stream(
        self, request: web.Request, found: Answer, headers: dict[str, str]
    ) -> web.StreamResponse:
        """Sends a large answer piece by piece; one that breaks off ends the connection, so that no
        client takes it for whole."""
        response = web.StreamResponse(status=found.status, headers=headers)
        response.content_type = JSON
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        try:
            await self._send(response, found.body)
            while (piece := await self._service.blocking(lambda: _next(found.rest))) is not None:
                await self._send(response, piece)
            await response.write_eof()
        except (UltraContextError, TimeoutError) as error:
            log.error("answer-broken-off", **where(error))  # noqa: TRY400  (no payload text)
            if request.transport is not None:
                request.transport.abort()
        return response

    async def _send(self, response: web.StreamResponse, piece: bytes) -> None:
        async with asyncio.timeout(self._service.options.write_seconds):
            await response.write(piece)

    def _write(
        self, request: web.Request, visit: Visit, name: str, status: int, seconds: float
    ) -> None:
        from datetime import UTC, datetime

        self._access.write(
            {
                "timestamp": iso_of(datetime.now(UTC)),
                "request": name,
                "method": request.method[:8],
                "route": visit.route,
                "status": status,
                "seconds": round(seconds, 6),
                "received_bytes": visit.received,
                "key": visit.key,
                "remote": request.remote,
            }
        )


def _next(pieces: Iterator[bytes] | None) -> bytes | None:
    return next(pieces, None) if pieces is not None else None
