"""Starts and stops a daemon in the background, from the person's own process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from ultracontext.cli.workspace import Workspace
from ultracontext.errors import FatalError, TransportError, UltraContextError
from ultracontext.runtime.client import ControlClient
from ultracontext.runtime.lock import Holder, running
from ultracontext.runtime.process import is_alive

START_SECONDS = 20.0
STOP_SECONDS = 10.0
LOOK_SECONDS = 0.03


def start_daemon(place: Workspace) -> tuple[bool, int]:
    """(whether it was started now, pid); raises the daemon's own refusal, or FatalError."""
    holder = running(place.paths.lock_file)
    if holder is not None and not holder.once:
        _wait_for_answer(place, holder)
        return False, holder.pid
    place.paths.ensure()
    child = _spawn(place)
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        code = child.poll()
        if code is not None:
            raise _start_failure(place.paths.output_file, code)
        if _answers(place, child.pid, 1.0):
            return True, child.pid
        time.sleep(LOOK_SECONDS)
    raise FatalError(
        f"the daemon (pid {child.pid}) does not answer after {START_SECONDS:.0f} s",
        code="daemon-hangs",
        hint="See `ultracontext daemon logs`",
    )


def _wait_for_answer(place: Workspace, holder: Holder) -> None:
    """A daemon whose socket was removed makes it again within seconds."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if _answers(place, holder.pid, 5.0):
            return
        if not is_alive(holder.pid, holder.start):
            raise FatalError(
                f"the daemon (pid {holder.pid}) ended just now",
                code="daemon-down",
                hint="Start it again by `ultracontext daemon start`",
            )
        time.sleep(LOOK_SECONDS)
    raise FatalError(
        f"a daemon runs (pid {holder.pid}) and does not answer at its socket",
        code="daemon-hangs",
        hint="Run `ultracontext daemon restart`",
    )


def stop_daemon(place: Workspace) -> int | None:
    """The pid that was stopped, None when none ran. Raises FatalError for one that stays."""
    holder = running(place.paths.lock_file)
    if holder is None:
        return None
    _ask_to_stop(place, holder)
    deadline = time.monotonic() + STOP_SECONDS
    while time.monotonic() < deadline:
        if not is_alive(holder.pid, holder.start):
            return holder.pid
        if running(place.paths.lock_file) is None and _is_zombie(holder.pid):
            return holder.pid
        time.sleep(LOOK_SECONDS)
    raise FatalError(
        f"the daemon (pid {holder.pid}) does not stop",
        code="daemon-hangs",
        hint=f"End it by `kill -9 {holder.pid}`; nothing stored is lost",
    )


def _ask_to_stop(place: Workspace, holder: Holder) -> None:
    if not holder.once:
        try:
            ControlClient(place.paths.socket_of(holder.socket)).post("/stop")
        except TransportError:
            pass  # a hanging one takes the signal
        else:
            return
    if is_alive(holder.pid, holder.start):  # never a process that only has the same number
        os.kill(holder.pid, signal.SIGTERM)


def _spawn(place: Workspace) -> subprocess.Popen[bytes]:
    """The daemon in a session of its own; what it prints before its log opens goes to a file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
    out = os.open(place.paths.output_file, flags, 0o600)
    try:
        return subprocess.Popen(  # ourselves
            [sys.executable, "-P", "-m", "ultracontext.cli", "daemon", "run"],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd="/",
            env=_environment(place),
            start_new_session=True,
        )
    finally:
        os.close(out)


def _environment(place: Workspace) -> dict[str, str]:
    env = dict(place.env)
    if env.get("ULTRACONTEXT_HOME"):
        env["ULTRACONTEXT_HOME"] = str(place.paths.home)  # the daemon starts in another folder
    return env


def _answers(place: Workspace, pid: int, timeout_seconds: float) -> bool:
    holder = running(place.paths.lock_file)
    if holder is None or holder.pid != pid:
        return False
    socket = place.paths.socket_of(holder.socket)
    try:
        answer = ControlClient(socket, timeout_seconds=timeout_seconds).get("/status")
    except TransportError:
        return False
    return bool(answer.get("daemon", {}).get("pid") == pid)


def _start_failure(output_file: Path, code: int) -> UltraContextError:
    """The daemon's own last line, with its exit code."""
    try:
        lines = output_file.read_text("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    text = lines[-1].removeprefix("ultracontext: ") if lines else f"the daemon ended with {code}"
    error = UltraContextError(text, code="locked" if code == 3 else "daemon-failed")
    error.exit_code = code if code in (1, 2, 3) else 1
    return error


def _is_zombie(pid: int) -> bool:
    """Ended, but its parent has not taken note; in a container nobody may ever."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return True
    return text[text.rindex(b")") + 2 :][:1] == b"Z"
