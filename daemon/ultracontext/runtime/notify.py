"""Words to the service manager: sd_notify(3) in a few lines. Silent where nobody listens."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping


class Notifier:
    """`READY=1`, `STOPPING=1`, `WATCHDOG=1` to the socket that `NOTIFY_SOCKET` names."""

    def __init__(self, env: Mapping[str, str], pid: int | None = None) -> None:
        name = env.get("NOTIFY_SOCKET", "")
        self._address = "\0" + name[1:] if name.startswith("@") else name
        self.watchdog_seconds = _watchdog(env, os.getpid() if pid is None else pid)
        """How often to say that we live, half of what is asked for; None: never."""

    def ready(self) -> None:
        self.send("READY=1\nSTATUS=captures")

    def reloading(self) -> None:
        now = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
        self.send(f"RELOADING=1\nMONOTONIC_USEC={now}")

    def stopping(self) -> None:
        self.send("STOPPING=1")

    def alive(self) -> None:
        self.send("WATCHDOG=1")

    def send(self, text: str) -> None:
        """Never raises: a manager that went away is no reason to end."""
        if not self._address:
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
                out.settimeout(1.0)
                out.sendto(text.encode(), self._address)
        except OSError:
            return


def _watchdog(env: Mapping[str, str], pid: int) -> float | None:
    micros, whose = env.get("WATCHDOG_USEC", ""), env.get("WATCHDOG_PID", "")
    if not micros.isdecimal() or int(micros) == 0 or (whose and whose != str(pid)):
        return None
    return int(micros) / 2_000_000
