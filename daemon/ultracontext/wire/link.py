"""Requests to a server: pooled connections, time limits, and retries that repeat nothing twice.

A request is sent again after a fault only when that is safe: a read, or a write that the server
knows by an id of the writer's. Faults of the transport that remain are raised as httpx has them.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    import httpx

JSON = "application/json"
DEFAULT_SECONDS = 30.0
RETRIES = 3
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0
AGAIN = frozenset({429, 502, 503, 504})
"""Statuses that say: try again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, without the server's address."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Any = None
    """JSON; None = no body."""
    headers: Mapping[str, str] = field(default_factory=dict)
    repeatable: bool = True
    """Sent twice, it is done once."""
    accepted: frozenset[int] = frozenset()
    """Statuses that are no fault of this request, besides 2xx."""

    def content(self) -> bytes | None:
        """Raises TypeError and ValueError for what JSON does not have."""
        if self.body is None:
            return None
        return json.dumps(self.body, separators=(",", ":"), allow_nan=False).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int
    url: str
    body: bytes
    retry_after: str | None = None

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """None for 204 and for an empty body."""
        return json.loads(self.body) if self.status != 204 and self.body else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a server is, and what every request to it carries."""

    base_url: str
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = DEFAULT_SECONDS
    headers: Mapping[str, str] = field(default_factory=dict)
    retries: int = RETRIES

    def url(self, request: Request) -> str:
        return self.base_url.rstrip("/") + request.path

    def headers_of(self, request: Request) -> dict[str, str]:
        """A caller's own headers do not replace the key and the content type."""
        found = {**self.headers, **request.headers}
        ours = {"content-type", "authorization" if self.api_key else ""}
        found = {name: value for name, value in found.items() if name.lower() not in ours}
        if request.body is not None:
            found["Content-Type"] = JSON
        if self.api_key:
            found["Authorization"] = f"Bearer {self.api_key}"
        return found


def context_path(context_id: str, *more: str) -> str:
    """`/contexts/ID/…`, the id encoded."""
    return "/".join(("/contexts", quote(context_id, safe=""), *more))


def pauses(retries: int) -> Iterator[float]:
    """Seconds to wait before each retry, with jitter."""
    for attempt in range(retries):
        yield min(LONGEST_PAUSE, FIRST_PAUSE * 2**attempt) * (0.5 + random.random())  # noqa: S311


def pause_before_retry(
    request: Request, answer: Response | httpx.TransportError, left: Iterator[float]
) -> float | None:
    """None when the answer stands."""
    if isinstance(answer, Response):
        if answer.status not in AGAIN or answer.status in request.accepted:
            return None
        # 429 and our 503 say that nothing was done; of a gateway nobody knows.
        safe = request.repeatable or answer.status == 429
    else:
        safe = request.repeatable or _never_sent(answer)
    pause = next(left, None) if safe else None
    if pause is None or not isinstance(answer, Response):
        return pause
    return max(pause, _asked(answer.retry_after))


def _never_sent(error: httpx.TransportError) -> bool:
    import httpx

    return isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))


def _asked(retry_after: str | None) -> float:
    try:
        return min(LONGEST_PAUSE, float(retry_after or 0))
    except ValueError:
        return 0.0


class Link:
    """A server, for code that blocks. Safe between threads."""

    def __init__(self, address: Address, *, sleep: Callable[[float], None] | None = None) -> None:
        import time

        import httpx

        self.address = address
        self._sleep = sleep or time.sleep
        self._client = httpx.Client(timeout=address.timeout_seconds, limits=_limits())

    def send(self, request: Request) -> Response:
        import httpx

        content, left = request.content(), pauses(self.address.retries)
        while True:
            answer: Response | httpx.TransportError
            try:
                answer = self._once(request, content)
            except httpx.TransportError as error:
                answer = error
            pause = pause_before_retry(request, answer, left)
            if pause is not None:
                self._sleep(pause)
            elif isinstance(answer, Response):
                return answer
            else:
                raise answer

    def _once(self, request: Request, content: bytes | None) -> Response:
        got = self._client.request(
            request.method,
            self.address.url(request),
            params=_encodable(request.query) or None,
            content=content,
            headers=self.address.headers_of(request),
        )
        return _response(got, self.address.url(request))

    def close(self) -> None:
        self._client.close()


def _encodable(query: Mapping[str, str]) -> dict[str, str]:
    """A URL holds no lone surrogate: it is written as its bytes, the same each time."""
    return {
        name: text.encode("utf-8", "surrogatepass").decode("utf-8", "backslashreplace")
        for name, text in query.items()
    }


class AsyncLink:
    """The same for a loop."""

    def __init__(self, address: Address) -> None:
        import httpx

        self.address = address
        self._client = httpx.AsyncClient(timeout=address.timeout_seconds, limits=_limits())

    async def send(self, request: Request) -> Response:
        import asyncio

        import httpx

        content, left = request.content(), pauses(self.address.retries)
        while True:
            answer: Response | httpx.TransportError
            try:
                answer = await self._once(request, content)
            except httpx.TransportError as error:
                answer = error
            pause = pause_before_retry(request, answer, left)
            if pause is not None:
                await asyncio.sleep(pause)
            elif isinstance(answer, Response):
                return answer
            else:
                raise answer

    async def _once(self, request: Request, content: bytes | None) -> Response:
        got = await self._client.request(
            request.method,
            self.address.url(request),
            params=_encodable(request.query) or None,
            content=content,
            headers=self.address.headers_of(request),
        )
        return _response(got, self.address.url(request))

    async def close(self) -> None:
        await self._client.aclose()


def _response(got: httpx.Response, url: str) -> Response:
    again = got.headers.get("Retry-After")
    return Response(status=got.status_code, url=url, body=got.content, retry_after=again)


def _limits() -> httpx.Limits:
    import httpx

    return httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=60)
