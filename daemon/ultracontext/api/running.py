"""Which server of this home runs, and where it listens: `run/serve.json`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

NAME = "serve.json"


class Running(msgspec.Struct, frozen=True, kw_only=True):
    """A server as it said at its start."""

    pid: int
    host: str
    port: int
    loopback: bool


@contextmanager
def recorded(run_dir: Path, running: Running) -> Iterator[None]:
    """The file for the length of a `with`; best effort, it guards nothing by itself."""
    file = run_dir / f"{running.pid}.{NAME}"
    with suppress(OSError):
        file.write_bytes(msgspec.json.encode(running))
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink()


def running_servers(run_dir: Path) -> list[Running]:
    """Those of living processes."""
    found = []
    for file in sorted(run_dir.glob(f"*.{NAME}")):
        with suppress(OSError, msgspec.MsgspecError):
            server = msgspec.json.decode(file.read_bytes(), type=Running)
            if _is_alive(server.pid):
                found.append(server)
            else:
                file.unlink()
    return found


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
