"""What can be known of a process by its number."""

from __future__ import annotations

import os
from pathlib import Path


def started_at(pid: int) -> int | None:
    """A number that tells two processes of one pid apart, or None where it is not known.

    Linux: clock ticks from boot to the start of the process.
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return int(text[text.rindex(b")") + 2 :].split()[19])  # the name before `)` may hold anything


def is_alive(pid: int, start: int | None) -> bool:
    """Whether the process that had `pid` and `start` still runs."""
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    now = started_at(pid)
    return start is None or now is None or now == start


def has_terminal() -> bool:
    """Whether this process belongs to a terminal that is still there."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        return False
    return True
