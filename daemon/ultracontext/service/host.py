"""Programs of the system that a service is made with, each with a time limit."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

ANSWER_SECONDS = 5.0
WORK_SECONDS = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """How a program ended. `code` 127: it is not there; 124: it took too long."""

    code: int
    text: str = ""
    """Both of its outputs, stripped."""

    @property
    def ok(self) -> bool:
        return self.code == 0


Run = Callable[[Sequence[str], float], Answer]


def runner(env: Mapping[str, str]) -> Run:
    """Runs programs of this machine, found by the PATH of `env`."""

    def run(arguments: Sequence[str], limit_seconds: float = ANSWER_SECONDS) -> Answer:
        program = shutil.which(arguments[0], path=env.get("PATH", "/usr/bin:/bin"))
        if program is None:
            return Answer(code=127)
        try:
            done = subprocess.run(  # noqa: S603  # fixed program names, no shell
                [program, *arguments[1:]],
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=limit_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Answer(code=124, text=f"no answer within {limit_seconds:.0f} s")
        except OSError as error:
            return Answer(code=126, text=error.strerror or "cannot be started")
        return Answer(code=done.returncode, text=done.stdout.decode("utf-8", "replace").strip())

    return run


def systemd_version(run: Run) -> int:
    """0 where there is none."""
    found = re.search(r"systemd (\d+)", run(["systemctl", "--version"], ANSWER_SECONDS).text)
    return int(found[1]) if found else 0


def user_bus(run: Run) -> bool:
    """Whether systemd runs for this user and answers."""
    return run(["systemctl", "--user", "show-environment"], ANSWER_SECONDS).ok
