"""Which state of an agent's reader made a session's facts."""

from __future__ import annotations

import sys
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


@cache
def reader_digest(agent: str) -> bytes:
    """Digest of the source of an agent's folder, 8 bytes, computed once a process; of a third
    party's agent that of the package which its reader is in.

    Empty for an agent whose source cannot be found: its facts count as fresh for as long as no node
    is added.
    """
    if not agent.isidentifier():
        return b""
    folder: Traversable | None = files("ultracontext.agents").joinpath(agent)
    if folder is None or not folder.is_dir():
        folder = _package_of(agent)
    if folder is None:
        return b""
    digest = blake2b(digest_size=8)
    for name, data in sorted(_sources(folder, "")):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.digest()


def _package_of(agent: str) -> Traversable | None:
    """The package of a third party's reader, or its module where that lies in none."""
    from ultracontext.agents import known

    spec = known().get(agent)
    module = sys.modules.get(getattr(spec.reader, "__module__", "")) if spec else None
    if module is None:
        return None
    try:
        return files(module.__package__) if module.__package__ else Path(module.__file__ or "")
    except (TypeError, ImportError, ValueError):  # made by hand, or a loader without files
        return None


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    if folder.is_file():
        return [(folder.name, folder.read_bytes())]
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
