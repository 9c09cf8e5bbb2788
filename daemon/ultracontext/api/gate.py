"""The way of every request: host, key, role, rate, body; then the exchange; then the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn
from urllib.parse import unquote

from aiohttp import web

from ultracontext.api import docs, mcp, openapi
from ultracontext.api.auth import bearer
from ultracontext.api.metrics import CONTENT_TYPE
from ultracontext.api.service import Service
from ultracontext.errors import StoreError, UltraContextError
from ultracontext.store.exchange import Answer, Call, json_answer
from ultracontext.store.exchange.faults import request_error
from ultracontext.store.exchange.routes import find
from ultracontext.store.keys import Key
from ultracontext.wire.faults import RequestError

READERS = frozenset({"read", "write", "admin"})
WRITERS = frozenset({"write", "admin"})
HIDDEN_HEADERS = {"WWW-Authenticate": "Bearer"}


@dataclass(slots=True)
class Visit:
    """What the access log says of a request."""

    route: str = "unknown"
    key: str | None = None
    received: int = 0


class Gate:
    """Answers requests; `answer` raises RequestError for what is refused."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def answer(self, request: web.Request, visit: Visit) -> Answer | web.StreamResponse:
        service = self._service
        if not service.hosts.allows(request.headers.get("Host")):
            service.metrics.refused.labels("host").inc()
            raise RequestError(421, "This name of the server is not allowed")
        path = _path(request)
        parts = path.split("/")
        match parts[1] if len(parts) > 1 else "":
            case "contexts":
                return await self._contexts(request, path, visit)
            case "v1":
                return await self._v1(request, path, parts, visit)
            case "mcp" if len(parts) == 2:
                return await self._mcp(request, visit)
        return await self._open(request, path, visit)

    # open
    async def _open(self, request: web.Request, path: str, visit: Visit) -> web.Response | Answer:
        if request.method not in ("GET", "HEAD"):
            _unknown()
        match path:
            case "/":
                found: web.Response | Answer = json_answer(openapi.GREETING)
            case "/healthz":
                found = await self._health()
            case "/metrics":
                text = self._service.metrics.text()
                found = web.Response(body=text, headers={"Content-Type": CONTENT_TYPE})
            case "/openapi.json":
                found = Answer(body=openapi.text())
            case "/docs":
                found = docs.page()
            case _:
                _unknown()
        visit.route = path
        return found

    async def _health(self) -> Answer:
        from ultracontext import __version__

        well = await self._service.blocking(self._service.is_well, seconds=5)
        body = {"status": "ok" if well else "unavailable", "version": __version__}
        return json_answer(body, 200 if well else 503)

    # with a key
    async def _contexts(self, request: web.Request, path: str, visit: Visit) -> Answer:
        key = await self._key(request, visit)
        found = find("GET" if request.method == "HEAD" else request.method, path)
        if found is None:
            _unknown()
        visit.route = found[0].path
        self._permit(key, READERS if found[0].need == "read" else WRITERS)
        call = Call(
            method=request.method,
            path=path,
            query=request.query,
            body=await self._body(request, visit),
            content_type=request.headers.get("Content-Type", ""),
            minimal=_wants_minimal(request),
            may_set_time=key.role == "admin",
        )
        return await self._service.blocking(lambda: self._service.exchange(key).answer(call))

    async def _v1(self, request: web.Request, path: str, parts: list[str], visit: Visit) -> Answer:
        if parts[2:3] == ["tombstones"]:
            return await self._contexts(request, path, visit)
        if parts[2:3] != ["keys"] or len(parts) > 4:
            _unknown()
        visit.route = "/v1/keys" if len(parts) == 3 else "/v1/keys/{prefix}"
        who = await self._administrator(request, visit)
        body = await self._body(request, visit)
        prefix = parts[3] if len(parts) == 4 else None
        desk = self._service.desk
        return await self._service.blocking(lambda: desk.answer(request.method, prefix, body, who))

    async def _administrator(self, request: web.Request, visit: Visit) -> Key | None:
        """None for the server's own admin key."""
        if self._service.admin.is_it(bearer(request.headers.get("Authorization"))):
            self._limit("admin")
            return None
        key = await self._key(request, visit)
        if key.role != "admin":
            self._refuse_key()
        return key

    async def _mcp(self, request: web.Request, visit: Visit) -> web.Response:
        visit.route = "/mcp"
        key = await self._key(request, visit)
        if request.method != "POST":
            return mcp.not_allowed()
        self._permit(key, READERS)
        refused = mcp.refused(request.headers)
        if refused is not None:
            return refused
        body = await self._body(request, visit)
        service = self._service
        return await service.blocking(
            lambda: mcp.answer(body, service.exchange(key), service.more(key))
        )

    # pieces
    async def _key(self, request: web.Request, visit: Visit) -> Key:
        text = bearer(request.headers.get("Authorization"))
        if text is None:
            self._refuse_key()
        ring = self._service.ring
        key = ring.known(text) or await self._service.blocking(partial(ring.look_up, text))
        if key is None:
            self._refuse_key()
        visit.key = key.prefix
        self._limit(key.prefix)
        return key

    def _refuse_key(self) -> NoReturn:
        self._service.metrics.refused.labels("key").inc()
        raise RequestError(401, "Unauthorized")

    def _permit(self, key: Key, roles: frozenset[str]) -> None:
        if key.role not in roles:
            self._service.metrics.refused.labels("role").inc()
            raise RequestError(403, f"A key of the role {key.role} may not do this")

    def _limit(self, name: str) -> None:
        wait = self._service.limit.wait(name)
        if wait:
            self._service.metrics.refused.labels("rate").inc()
            raise RequestError(429, "Too many requests", retry_after_seconds=round(wait, 3))

    async def _body(self, request: web.Request, visit: Visit) -> bytes:
        """All of it, up to the limit."""
        if not request.can_read_body:
            return b""
        options = self._service.options
        limit = options.body_bytes
        if (request.content_length or 0) > limit:
            _too_large(limit)
        pieces: list[bytes] = []
        try:
            async with asyncio.timeout(options.body_seconds):
                async for piece in request.content.iter_chunked(1 << 18):
                    visit.received += len(piece)
                    if visit.received > limit:
                        _too_large(limit)
                    pieces.append(piece)
        except TimeoutError as error:
            raise RequestError(408, "The body did not arrive in time") from error
        return b"".join(pieces)


def refusal(error: Exception) -> RequestError:
    """What a client is told of an error that was meant to be told."""
    if isinstance(error, UltraContextError):
        return request_error(error)
    if isinstance(error, TimeoutError):
        return RequestError(503, "The store took too long")
    if isinstance(error, web.HTTPException):
        return RequestError(error.status, error.reason)
    return RequestError(500, "Internal server error")


def headers_of(error: RequestError) -> dict[str, str]:
    match error.status:
        case 401:
            return dict(HIDDEN_HEADERS)
        case 429:
            return {"Retry-After": str(max(1, round(error.extra["retry_after_seconds"] + 0.5)))}
        case 503:
            return {"Retry-After": "1"}
        case _:
            return {}


def _path(request: web.Request) -> str:
    """The path with each part decoded, so that an encoded slash divides nothing."""
    raw = request.raw_path.partition("?")[0]
    if "%" not in raw:
        return raw
    return "/".join(unquote(part).replace("/", "\ufffd") for part in raw.split("/"))


def _wants_minimal(request: web.Request) -> bool:
    return any(
        part.strip().lower() == "return=minimal"
        for value in request.headers.getall("Prefer", [])
        for part in value.replace(";", ",").split(",")
    )


def _unknown() -> NoReturn:
    raise RequestError(404, "Not found")


def _too_large(limit: int) -> NoReturn:
    raise RequestError(413, f"A body may have at most {limit} bytes")


Work = Callable[[], Any]

__all__ = ["Gate", "StoreError", "Visit", "headers_of", "refusal"]
