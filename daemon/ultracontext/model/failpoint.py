"""Named places where a test may stop, kill or fail the process.

Off unless `arm` is called, which the command line does with `ULTRACONTEXT_FAILPOINTS`, a list of
`name=action[:n]` by commas: at the n-th time (default the first) that `name` is passed, `kill`
sends SIGKILL to this process, `error` raises OSError(EIO), `exit` leaves with status 86. The list
below is complete; an unknown name is refused.
"""

from __future__ import annotations

import errno
import os
import signal

NAMES = (
    "after_read",
    "after_redact",
    "after_assign",
    "after_known",
    "after_feed",
    "before_begin",
    "after_insert",
    "after_dedup",
    "after_facts",
    "after_checkpoint",
    "before_commit",
    "after_commit",
    "after_acknowledge",
    "switch_ledger",
    "switch_temporary",
    "switch_named",
    "switch_folder",
    "switch_step",
    "switch_stepped",
    "switch_read",
    "switch_written",
)

_armed: dict[str, tuple[str, int]] = {}
_passed: dict[str, int] = {}


def arm(text: str) -> None:
    """Arms failpoints from the variable's text; raises ValueError for an unknown name or action."""
    _armed.clear()
    _passed.clear()
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, rest = item.partition("=")
        action, _, count = rest.partition(":")
        if name not in NAMES or action not in ("kill", "error", "exit"):
            raise ValueError(f"no such failpoint: {item}")
        _armed[name] = (action, int(count or 1))


def failpoint(name: str) -> None:
    """Does nothing unless armed."""
    if _armed and name in _armed:
        _fire(name)


def _fire(name: str) -> None:
    action, count = _armed[name]
    _passed[name] = _passed.get(name, 0) + 1
    if _passed[name] != count:
        return
    if action == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if action == "exit":
        os._exit(86)
    raise OSError(errno.EIO, f"failpoint {name}")
