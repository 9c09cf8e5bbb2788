"""Talks to the daemon over its control socket: blocking, with short time limits."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ultracontext.errors import TransportError

PROTOCOL = 1
"""Of the control socket. It grows when an answer changes its meaning, not when it gains a field."""


class ControlClient:
    """One daemon. Every call opens a connection of its own."""

    def __init__(self, path: Path, *, timeout_seconds: float = 2.0) -> None:
        self._path = path
        self._timeout = timeout_seconds

    def get(self, target: str) -> dict[str, Any]:
        return self._ask("GET", target)

    def post(self, target: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._ask("POST", target, None if body is None else json.dumps(body).encode())

    def events(self, cursor: str | None = None) -> Iterator[tuple[str, dict[str, Any]]]:
        """(event name, data) as they come; ends when the daemon closes the stream.

        A quiet daemon sends a comment every 15 s, so silence for 40 s is a TransportError.
        """
        connection = _UnixConnection(self._path, 40.0)
        headers = {"Accept": "text/event-stream"} | ({"Last-Event-ID": cursor} if cursor else {})
        try:
            connection.request("GET", "/events", headers=headers)
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                raise TransportError(f"the daemon answered {answer.status} to /events")
            yield from _parse_stream(answer)
        except (OSError, http.client.HTTPException) as error:
            raise _failure(error) from error
        finally:
            connection.close()

    def _ask(self, method: str, target: str, body: bytes | None = None) -> dict[str, Any]:
        connection = _UnixConnection(self._path, self._timeout)
        try:
            connection.request(method, target, body)
            answer = connection.getresponse()
            found = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise _failure(error) from error
        finally:
            connection.close()
        return _checked(found, answer.status)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: Path, timeout_seconds: float) -> None:
        super().__init__("localhost", timeout=timeout_seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def _checked(body: Any, status: int) -> dict[str, Any]:
    if not isinstance(body, dict) or not isinstance(body.get("protocol"), int):
        raise TransportError(
            "what answers at the control socket is no daemon of ours", code="protocol"
        )
    if body["protocol"] > PROTOCOL:
        raise TransportError(
            f"the daemon is newer than this program (version {body.get('version')})",
            code="protocol",
            hint="Update this program, or restart the daemon by `ultracontext daemon restart`",
        )
    if status >= http.client.BAD_REQUEST:
        error = body.get("error") or {}
        raise TransportError(
            str(error.get("message", f"the daemon answered {status}")),
            code=str(error.get("code", "transport")),
            hint=str(error.get("hint", "")),
        )
    return body


def _parse_stream(lines: http.client.HTTPResponse) -> Iterator[tuple[str, dict[str, Any]]]:
    name, data = "message", ""
    for raw in lines:
        line = raw.decode("utf-8").rstrip("\n")
        if not line:
            if data:
                yield name, json.loads(data)
            name, data = "message", ""
        elif line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data += line.removeprefix("data: ")


def _failure(error: Exception) -> TransportError:
    if isinstance(error, (FileNotFoundError, ConnectionRefusedError)):
        return TransportError(
            "no daemon is running",
            code="daemon-down",
            hint="Start it by `ultracontext daemon start`",
        )
    if isinstance(error, TimeoutError):
        return TransportError(
            "the daemon does not answer", code="daemon-hangs", hint="See `ultracontext daemon logs`"
        )
    return TransportError(
        f"the daemon's answer failed ({type(error).__name__})",
        hint="See `ultracontext daemon logs`",
    )
