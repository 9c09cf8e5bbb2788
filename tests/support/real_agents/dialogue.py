"""One program that stays open for several turns, spoken to in JSON lines."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import tempfile
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

Line = dict[str, Any]


class Dialogue(ABC):
    """`with driver.dialogue() as talk: talk.ask(prompt)`, as often as wanted."""

    def __init__(
        self, command: Sequence[str], project: Path, env: dict[str, str], identity: dict[str, Any]
    ) -> None:
        self.project = project
        self.lines: queue.Queue[Line] = queue.Queue()
        self.err = tempfile.TemporaryFile()  # noqa: SIM115 - `__exit__` closes it
        self.process = subprocess.Popen(
            command, cwd=project, env=env, start_new_session=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=self.err, **identity,
        )  # fmt: skip
        self.reader = threading.Thread(target=self.read, daemon=True)

    @abstractmethod
    def begin(self) -> None:
        """Whatever comes before the first prompt."""

    @abstractmethod
    def ask(self, prompt: str) -> None:
        """A turn: comes back when the program says that it has ended."""

    def __enter__(self) -> Self:
        self.reader.start()
        self.begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(10)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        self.reader.join(10)
        self.process.stdout.close()
        self.err.close()

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith(b"{"):
                self.lines.put(json.loads(line))

    def send(self, line: Line) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def wait_for(self, wanted: Callable[[Line], bool], seconds: float = 120) -> Line:
        while True:
            try:
                line = self.lines.get(timeout=seconds)
            except queue.Empty:
                raise AssertionError(f"the program says nothing: {self.complaints()}") from None
            if wanted(line):
                return line
            self.meanwhile(line)

    def meanwhile(self, line: Line) -> None:  # noqa: B027 - most programs ask nothing back
        """A line that nobody waits for."""

    def complaints(self) -> str:
        self.err.seek(0)
        return self.err.read()[-2000:].decode("utf-8", "replace")


class Rpc(Dialogue):
    """JSON-RPC 2.0, one object a line."""

    number = 0

    def call(self, method: str, params: Line) -> Line:
        self.number += 1
        number = self.number
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        answer = self.wait_for(lambda line: line.get("id") == number and "method" not in line)
        assert "error" not in answer, answer
        result: Line = answer["result"]
        return result

    def notify(self, method: str) -> None:
        self.send({"jsonrpc": "2.0", "method": method})
