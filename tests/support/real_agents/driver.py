"""What all drivers share: a home, a project, an environment that stays here, a process."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

from real_agents.conversation import Call, Hold
from real_agents.dialogue import Dialogue
from real_agents.programs import EVERYTHING, Program
from real_agents.server import Dialect, ModelServer, Request

TURN_SECONDS = 180


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    code: int
    out: str
    err: str
    seconds: float
    requests: Sequence[Request]
    """The requests about the person's turns that this run sent, first to last."""


class Turn:
    """A program that runs."""

    def __init__(self, driver: Driver, command: Sequence[str]) -> None:
        self.driver = driver
        self.seen = len(driver.model.requests)
        self.began = time.monotonic()
        self.out = tempfile.TemporaryFile()  # noqa: SIM115 - `close` closes it
        self.err = tempfile.TemporaryFile()  # noqa: SIM115
        self.process = subprocess.Popen(
            command, cwd=driver.project, env=driver.env(), start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err, **driver.identity(),
        )  # fmt: skip

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def wait_until(self, hold: Hold, seconds: float = TURN_SECONDS) -> None:
        """Until the model has been asked for the answer that is held back."""
        deadline = time.monotonic() + seconds
        while not hold.reached.wait(0.1):
            assert self.running, f"ended before it asked: {self.wait()}"
            assert time.monotonic() < deadline, "it does not ask the model"

    def wait(self, seconds: float = TURN_SECONDS) -> Result:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        taken = time.monotonic() - self.began
        self.end()
        out, err = (self.printed(file) for file in (self.out, self.err))
        requests = [r for r in self.driver.model.requests[self.seen :] if r.turn]
        code = self.process.returncode
        return Result(code=code, out=out, err=err, seconds=taken, requests=requests)

    @staticmethod
    def printed(file: IO[bytes]) -> str:
        file.seek(0)
        return file.read().decode("utf-8", "replace")

    def close(self) -> None:
        self.end()
        for file in (self.out, self.err):
            file.close()

    def end(self) -> None:
        """The program and what it started; nothing is left running."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


class Driver(ABC):
    """One installed program, in one home and one project, asking one model server.

    `prepare` once, then turns: `run_turn(prompt)` begins a session, and with `resume` the id of
    one (the program's own, or one of a file that somebody else wrote) goes on with it.
    """

    dialect: ClassVar[Dialect]
    walled: ClassVar[bool] = True
    """Whether a proxy that leads nowhere can be set: the program asks loopback without it."""

    stays_open: ClassVar[bool] = True
    prompt_waits: bool = False
    """Whether the program writes a prompt to its session only with the answer to it."""

    def __init__(self, program: Program, home: Path, project: Path, model: ModelServer) -> None:
        self.program = program
        self.home = home
        self.project = project
        self.model = model
        self.turns: list[Turn] = []

    @abstractmethod
    def variables(self) -> dict[str, str]:
        """What points the program at the model server and keeps it from calling elsewhere."""

    @abstractmethod
    def command(self, prompt: str, resume: str | None) -> list[str]:
        """The headless run of one turn."""

    @abstractmethod
    def shell_call(self, id: str, command: str) -> Call:
        """The model's call of this program's shell tool."""

    @abstractmethod
    def session_id(self, result: Result) -> str:
        """The program's own id of the session that a run began or went on with."""

    def configure(self) -> None:  # noqa: B027 - not every program needs some
        """Writes the settings that are no variables, below `home`."""

    def dialogue(self) -> Dialogue:
        """The program kept open for several turns, where it `stays_open`."""
        raise NotImplementedError(self.program.name)

    def prepare(self) -> None:
        for folder in (self.home, self.project, self.home / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        self.configure()
        self.own(self.home, self.project)

    def start(self, prompt: str, resume: str | None = None) -> Turn:
        self.turns.append(Turn(self, self.command(prompt, resume)))
        return self.turns[-1]

    def run_turn(self, prompt: str, resume: str | None = None) -> Result:
        return self.start(prompt, resume).wait()

    def end(self) -> None:
        """Whatever still runs."""
        for turn in self.turns:
            turn.close()

    def env(self) -> dict[str, str]:
        """Nothing of the caller's own; Node, and the usual folders, on the PATH."""
        node = next((p.executable for p in EVERYTHING if p.agent == self.program.needs), None)
        node = node or Path(shutil.which("node") or "/usr/bin/node")
        return {
            "HOME": str(self.home), "PATH": f"{node.parent}:/usr/local/bin:/usr/bin:/bin",
            "TMPDIR": str(self.home / "tmp"), "LANG": "C.UTF-8", "TERM": "dumb", "NO_COLOR": "1",
            "USER": "person", "SHELL": "/bin/sh", "NO_PROXY": "127.0.0.1,localhost",
            **({"HTTPS_PROXY": NOWHERE} if self.walled else {}),
            **self.variables(),
        }  # fmt: skip

    def identity(self) -> dict[str, Any]:
        """Root lends the program an ordinary user; anybody else is one."""
        if os.getuid() != 0:
            return {}
        person = pwd.getpwnam(ORDINARY_USER)
        return {"user": person.pw_uid, "group": person.pw_gid, "extra_groups": []}

    def reachable(self) -> bool:
        """Whether the one who runs the program may read it: root's folders are closed."""
        look = ["/usr/bin/test", "-r", str(self.program.executable)]
        return subprocess.run(look, check=False, **self.identity()).returncode == 0

    def own(self, *folders: Path) -> None:
        if os.getuid() == 0:
            subprocess.run(["chown", "-R", f"{ORDINARY_USER}:", *map(str, folders)], check=True)


ORDINARY_USER = os.environ.get("UC_AGENTS_USER", "nobody")
"""Who runs the programs when root runs the tests: some refuse root."""

NOWHERE = "http://127.0.0.1:9"
"""A proxy that nobody serves: whatever is not for loopback fails here."""
