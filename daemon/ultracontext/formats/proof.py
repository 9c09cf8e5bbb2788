"""How an agent's program is run once against a model server on loopback: for `compat prove`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What makes a headless run of one turn, in a throw-away home, that asks a given address."""

    argv: Callable[[str, str], tuple[str, ...]]
    """(session id, prompt) → words after the program's own name."""
    environment: Callable[[str], Mapping[str, str]]
    """Address of the server → variables."""
    files: Callable[[str, str], Mapping[str, str]] = lambda _url, _project: {}
    """(address, project folder) → settings: path below the agent's root → text."""
    proxied: bool = True
    """Whether a proxy that nobody serves keeps it from everything but loopback."""
