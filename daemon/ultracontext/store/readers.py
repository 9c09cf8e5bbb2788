"""Which state of an agent's reader made a session's facts."""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable


@cache
def reader_digest(agent: str) -> bytes:
    """Digest of the source of an agent's folder, 8 bytes, computed once a process.

    Empty for an agent that has no folder here (a third party's, or none): its facts count as fresh
    for as long as no node is added.
    """
    if not agent.isidentifier():
        return b""
    folder = files("ultracontext.agents").joinpath(agent)
    if not folder.is_dir():
        return b""
    digest = blake2b(digest_size=8)
    for name, data in sorted(_sources(folder, "")):
        digest.update(f"{name}\0{len(data)}\0".encode() + data)
    return digest.digest()


def _sources(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir() and entry.name != "__pycache__":
            found += _sources(entry, f"{prefix}{entry.name}/")
        elif entry.name.endswith(".py"):
            found.append((prefix + entry.name, entry.read_bytes()))
    return found
