"""What the daemon says, over its control socket: status, and commits as they happen.

The dashboard is a client like any other: when the daemon stops or is slow, this says so and tries
again; it never holds capture up.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ultracontext.errors import TransportError

if TYPE_CHECKING:
    import aiohttp

PROTOCOL = 1
"""Of the control socket, as this dashboard knows it."""
ANSWER_SECONDS = 5.0
SILENT_SECONDS = 40.0
"""The daemon sends a comment every 15 s."""
AGAIN_SECONDS = 1.0
LONGEST_FRAME = 1 << 20

Kind = Literal["up", "down", "committed", "reset", "newer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEvent:
    """`up`, `down` (with a reason), `committed` (with the row), `reset` (read the lists anew),
    `newer` (the daemon speaks a protocol that this program does not know)."""

    kind: Kind
    data: dict[str, Any]


class Feed:
    """One daemon's socket. Used on one event loop."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket
        self._session: aiohttp.ClientSession | None = None

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Feed]:
        """Holds the connections open for the length of the `async with`."""
        import aiohttp

        connector = aiohttp.UnixConnector(path=str(self._socket))
        async with aiohttp.ClientSession(
            "http://daemon", connector=connector, read_bufsize=LONGEST_FRAME
        ) as session:
            self._session = session
            try:
                yield self
            finally:
                self._session = None

    async def status(self) -> dict[str, Any]:
        """As `ultracontext status --json` prints it. TransportError when there is no daemon."""
        return await self._ask("GET", "/status")

    async def post(self, target: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """`/pause`, `/continue`, `/sweep`. TransportError."""
        return await self._ask("POST", target, body)

    async def events(self) -> AsyncIterator[FeedEvent]:
        """Does not end: goes on from its cursor after each loss."""
        cursor: str | None = None
        told = ""
        while True:
            try:
                async for name, data in self._stream(cursor):
                    cursor = data.get("cursor") or cursor
                    told = ""
                    found = _event(name, data)
                    if found is not None:
                        yield found
                reason = "the daemon closed the stream"
            except TransportError as error:
                reason = error.message
            if reason != told:
                told = reason
                yield FeedEvent(kind="down", data={"reason": reason})
            await asyncio.sleep(AGAIN_SECONDS)

    async def _ask(
        self, method: str, target: str, body: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        import aiohttp

        if self._session is None:
            raise TransportError("not connected", code="daemon-down")
        try:
            async with (
                asyncio.timeout(ANSWER_SECONDS),
                self._session.request(method, target, json=body) as answer,
            ):
                found = json.loads(await answer.read())
        except (OSError, aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise _failure(error) from error
        return _checked(found, answer.status)

    async def _stream(self, cursor: str | None) -> AsyncIterator[tuple[str, dict[str, Any]]]:
        import aiohttp

        if self._session is None:
            raise TransportError("not connected", code="daemon-down")
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": cursor} if cursor else {})
        limit = aiohttp.ClientTimeout(total=None, sock_read=SILENT_SECONDS, sock_connect=2.0)
        try:
            async with self._session.get("/events", headers=headers, timeout=limit) as answer:
                if answer.status != 200:
                    raise TransportError(f"the daemon answered {answer.status} to /events")
                name = "message"
                async for raw in answer.content:
                    line = raw.decode("utf-8", "replace").rstrip("\n")
                    if line.startswith("event: "):
                        name = line.removeprefix("event: ")
                    elif line.startswith("data: "):
                        yield name, json.loads(line.removeprefix("data: "))
        except (OSError, aiohttp.ClientError, TimeoutError, ValueError) as error:
            raise _failure(error) from error


def _event(name: str, data: dict[str, Any]) -> FeedEvent | None:
    if name == "hello":
        newer = isinstance(data.get("protocol"), int) and data["protocol"] > PROTOCOL
        return FeedEvent(kind="newer" if newer else "up", data=data)
    if name == "committed":
        return FeedEvent(kind="committed", data=data)
    if name in ("reset", "dropped"):
        return FeedEvent(kind="reset", data=data)
    return None


def _checked(body: Any, status: int) -> dict[str, Any]:
    if not isinstance(body, dict) or not isinstance(body.get("protocol"), int):
        raise TransportError(
            "what answers at the control socket is no daemon of ours", code="protocol"
        )
    if body["protocol"] > PROTOCOL:
        raise TransportError(
            f"the daemon is newer than this dashboard (version {body.get('version')})",
            code="protocol",
            hint="Update this program",
        )
    if status >= 400:
        error = body.get("error") or {}
        raise TransportError(
            str(error.get("message", f"the daemon answered {status}")),
            code=str(error.get("code", "transport")),
            hint=str(error.get("hint", "")),
        )
    return body


def _failure(error: BaseException) -> TransportError:
    if isinstance(error, TimeoutError):
        return TransportError("the daemon does not answer", code="daemon-hangs")
    return TransportError(
        "no daemon is running", code="daemon-down", hint="Start it by `ultracontext daemon start`"
    )
