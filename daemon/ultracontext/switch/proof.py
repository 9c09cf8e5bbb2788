"""Evidence of this machine: what `compat prove` found, `state/proof.json`."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

import msgspec

from ultracontext.formats import Run

FILE = "proof.json"


def local_runs(state: Path) -> list[Run]:
    """None where nothing was proven, or the file is damaged."""
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode((state / FILE).read_bytes(), type=list[Run])
    return []


def remember(state: Path, runs: list[Run]) -> None:
    """Newer runs replace those of the same pair and version."""
    kept = {(r.source, r.target, r.version): r for r in [*local_runs(state), *runs]}
    data = msgspec.json.format(msgspec.json.encode(list(kept.values())), indent=2)
    temporary = state / f".{FILE}.{os.getpid()}"
    temporary.write_bytes(data + b"\n")
    temporary.chmod(0o600)
    temporary.replace(state / FILE)
