"""Whether an installed program sends a written session to its model: a run of it, asked offline.

The program gets a throw-away home and a server of ours on loopback in its model's place. The server
answers nothing of use: what the program asks is all that is wanted, and then it is ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from gzip import BadGzipFile, decompress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from ultracontext.formats import Entry, Proof

NOWHERE = "http://127.0.0.1:9"
PROMPT = "ultracontext-proof: what did we do so far?"
SECONDS = 40.0
POLL_SECONDS = 0.1
LATER_SECONDS = 3.0
"""How long a larger request is waited for after the first."""
LONGEST_BODY = 64 << 20


@dataclass
class Asked:
    """A server that remembers every request's body."""

    bodies: list[bytes] = field(default_factory=list)

    def __enter__(self) -> Asked:
        handler = type("Bound", (_Handler,), {"asked": self})
        self._http = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def about(self, prompt: str) -> list[str] | None:
        """All strings of the longest request that holds the prompt, in order: some programs first
        ask a smaller model which one to take, with the last turns only (Gemini CLI 0.29)."""
        best: list[str] | None = None
        for body in list(self.bodies):
            with suppress(ValueError):
                texts = list(_strings(json.loads(body)))
                if any(prompt in text for text in texts) and len(texts) >= len(best or ()):
                    best = texts
        return best


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """A program that was ended is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    asked: Asked

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""

    def do_GET(self) -> None:
        self._answer(200, {"object": "list", "data": [], "models": []})

    def do_HEAD(self) -> None:
        self._answer(200, {})

    def do_POST(self) -> None:
        self.asked.bodies.append(self._body())
        error = {"type": "invalid_request_error", "message": "this is a proof, no model"}
        self._answer(400, {"type": "error", "error": error})

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("transfer-encoding", ""):
            data = b"".join(self._chunks())
        else:
            length = int(self.headers.get("content-length") or 0)
            data = self.rfile.read(min(length, LONGEST_BODY))
        if self.headers.get("content-encoding") == "gzip":
            with suppress(BadGzipFile, EOFError):
                return decompress(data)
        return data

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _answer(self, status: int, value: Any) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)


def ask(
    program: str, proof: Proof, session_id: str, home: Path, project: Path, asked: Asked,
    path: str, seconds: float = SECONDS,
) -> list[str] | None:  # fmt: skip
    """The strings that the program sends with a new prompt; None where it sends none in time."""
    environment = {
        "HOME": str(home), "PATH": path, "TMPDIR": str(home), "LANG": "C.UTF-8", "TERM": "dumb",
        "NO_COLOR": "1", "SHELL": "/bin/sh", "NO_PROXY": "127.0.0.1,localhost",
        **({"HTTPS_PROXY": NOWHERE} if proof.proxied else {}),
        **proof.environment(asked.url),
    }  # fmt: skip
    process = subprocess.Popen(  # noqa: S603  # the agent's own program, as installed here
        [program, *proof.argv(session_id, PROMPT)], cwd=project, env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        ends = time.monotonic() + seconds
        while time.monotonic() < ends and process.poll() is None:
            if asked.about(PROMPT) is not None:
                ends = min(ends, time.monotonic() + LATER_SECONDS)
                _wait(process, ends)
                break
            time.sleep(POLL_SECONDS)
        return asked.about(PROMPT)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def _wait(process: subprocess.Popen[bytes], ends: float) -> None:
    while time.monotonic() < ends and process.poll() is None:
        time.sleep(POLL_SECONDS)


def missing(texts: Sequence[str], entries: Iterable[Entry]) -> int:
    """How many entries are not there, or not in their order."""
    place, lost = 0, 0
    for entry in entries:
        if entry.kind == "reasoning":
            continue
        wanted = list(_wanted(entry))
        at = place
        while at < len(texts) and not any(texts[at].find(text) >= 0 for text in wanted):
            at += 1
        if at == len(texts):
            lost += 1
        else:
            place = at
    return lost


def _wanted(entry: Entry) -> Iterator[str]:
    """Any of these stands for the entry: its text, or a call's name."""
    yield entry.name if entry.kind == "tool_call" else entry.text
    if entry.kind == "tool_call":
        yield from (text for text in _strings(entry.input) if text)


def _strings(value: Any) -> Iterator[str]:
    """Every string in JSON, in order; what is JSON inside a string is opened too."""
    if isinstance(value, str):
        yield value
        if value.lstrip().startswith(("{", "[")):
            with suppress(ValueError):
                yield from _strings(json.loads(value))
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
