"""The last lines of the daemon's log, and those that follow."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from ultracontext.errors import NotFoundError
from ultracontext.logs import human_line

LOOK_SECONDS = 0.25


def tail(path: Path, *, lines: int, follow: bool, as_json: bool) -> Iterator[str]:
    """The last `lines`, then with `follow` what comes, over rotations too."""
    if not path.exists() and not follow:
        raise NotFoundError(
            "the daemon has not written a log yet", hint="Start it by `ultracontext daemon start`"
        )
    inode, position = 0, 0
    if path.exists():
        with path.open("rb") as file:
            inode = path.stat().st_ino
            for line in deque(file, maxlen=lines):
                yield _shown(line, as_json)
            position = file.tell()
    while follow:
        time.sleep(LOOK_SECONDS)
        try:
            found = path.stat()
        except FileNotFoundError:
            continue
        if found.st_ino != inode or found.st_size < position:
            inode, position = found.st_ino, 0
        with path.open("rb") as file:
            file.seek(position)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                position += len(line)
                yield _shown(line, as_json)


def _shown(line: bytes, as_json: bool) -> str:
    text = line.decode("utf-8", "replace").rstrip("\n")
    if as_json:
        return text
    try:
        return human_line(json.loads(text))
    except (ValueError, AttributeError):
        return text
