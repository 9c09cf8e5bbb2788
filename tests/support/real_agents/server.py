"""A model server on loopback: it reads requests, answers by a script and remembers all."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Protocol, Self

from real_agents.conversation import Entry, Script, Step

LONGEST_HOLD_SECONDS = 240
SIDE_ANSWER = Step(text='{"title": "a title by the model"}')
UNSCRIPTED = Step(text="This prompt is in no script.")

Body = dict[str, Any]


class Dialect(Protocol):
    """How one vendor's API asks and answers."""

    def asks(self, path: str) -> bool:
        """Whether it is a request for an answer; others get `other`."""

    def is_turn(self, path: str, body: Body) -> bool:
        """Whether the person's turn is asked about, not a title or the like."""

    def entries(self, body: Body) -> list[Entry]:
        """What the request holds."""

    def streams(self, path: str, body: Body) -> bool:
        """Whether the answer is wanted as events."""

    def events(self, body: Body, step: Step) -> Iterator[tuple[str | None, Body]]:
        """The answer as events: name, if the API names them, and data."""

    def whole(self, body: Body, step: Step) -> Body:
        """The answer as one object."""

    def other(self, path: str, body: Body) -> Body:
        """The answer to any other request: models, token counts, notices."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    path: str
    body: Body
    entries: Sequence[Entry]
    turn: bool

    def before(self, prompt: str) -> list[Entry]:
        """The history that is sent along with a new prompt."""
        for n in reversed(range(len(self.entries))):
            if self.entries[n].kind == "user" and prompt in self.entries[n].text:
                return list(self.entries[:n])
        return list(self.entries)


@dataclass(kw_only=True)
class ModelServer:
    dialect: Dialect
    script: Script = field(default_factory=Script)
    requests: list[Request] = field(default_factory=list)
    unscripted: list[Request] = field(default_factory=list)
    """Turns that no script answers: a test that finds some is wrong, or its program is."""

    def __enter__(self) -> Self:
        handler = type("Bound", (Handler,), {"model": self})
        self.http = Http(("127.0.0.1", 0), handler)
        self.thread = threading.Thread(target=self.http.serve_forever, daemon=True)
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for steps in self.script.turns.values():
            for step in steps:
                if step.hold:
                    step.hold.release()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}"

    def answer(self, path: str, body: Body) -> Step:
        turn = self.dialect.is_turn(path, body)
        entries = self.dialect.entries(body)
        request = Request(path=path, body=body, entries=entries, turn=turn)
        self.requests.append(request)
        if not turn:
            return SIDE_ANSWER
        step = self.script.step(entries)
        if step is None:
            self.unscripted.append(request)
            return UNSCRIPTED
        if step.hold:
            step.hold.reached.set()
            step.hold.released.wait(LONGEST_HOLD_SECONDS)
        return step


class Http(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A program that went away is none."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ModelServer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""

    def do_HEAD(self) -> None:
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self) -> None:
        self.send_whole(self.model.dialect.other(self.path.split("?")[0], {}))

    def do_POST(self) -> None:
        path, body = self.path.split("?")[0], self.read_body()
        dialect = self.model.dialect
        if not dialect.asks(path):
            self.send_whole(dialect.other(path, body))
            return
        step = self.model.answer(path, body)
        if dialect.streams(path, body):
            self.send_events(dialect.events(body, step))
        else:
            self.send_whole(dialect.whole(body, step))

    def read_body(self) -> Body:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            raw = b"".join(self.chunks())
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            raw = gzip.decompress(raw)
        body = json.loads(raw or b"{}")
        assert isinstance(body, dict)
        return body

    def chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def send_whole(self, answer: Body) -> None:
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_events(self, events: Iterator[tuple[str | None, Body]]) -> None:
        self.close_connection = True
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in events:
            head = f"event: {name}\n" if name else ""
            self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
            self.wfile.flush()
