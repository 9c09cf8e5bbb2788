"""All probes in one Hyperscan database, compiled once and kept in a file."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Sequence
from hashlib import blake2b
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

import hyperscan

from ultracontext.errors import RedactionError
from ultracontext.redaction.engine import BASE64, Candidate
from ultracontext.redaction.rules import Rule
from ultracontext.redaction.views import BASE64_TEXT

KEPT_SECONDS = 30 * 86400.0

_MAGIC = b"ultracontext-hyperscan-1\n"


class HyperscanEngine:
    """Scans at several hundred MB/s. Safe to use from several threads."""

    name = "hyperscan"

    def __init__(self, rules: Sequence[Rule], cache_dir: Path | None = None) -> None:
        self._lock = threading.Lock()
        probes: dict[tuple[bytes, bool], list[int]] = {}
        for number, rule in enumerate(rules):
            probes.setdefault((rule.probe, rule.ignore_case), []).append(number)
        probes[BASE64_TEXT, False] = [BASE64]
        self._owners = list(probes.values())
        try:
            self._database = _load(list(probes), cache_dir)
            self._database.scratch = hyperscan.Scratch(self._database)
        except hyperscan.error as error:
            raise RedactionError(
                f"the redaction engine does not start: {str(error).rstrip('.')}",
                hint="Set ULTRACONTEXT_REDACTION_ENGINE=aho to use the other one",
            ) from error

    def candidates(self, data: bytes) -> list[Candidate]:
        found: list[Candidate] = []
        try:
            with self._lock:
                self._database.scan(data, _collect, context=found)
        except hyperscan.error as error:
            raise RedactionError(f"the redaction engine failed: {error}") from error
        owners = self._owners
        return [(number, end - 1) for probe, end in found for number in owners[probe]]


def _collect(probe: int, _start: int, end: int, _flags: int, found: list[Candidate]) -> None:
    found.append((probe, end))


Probe = tuple[bytes, bool]
"""A pattern, and whether it ignores case."""


def _load(probes: Sequence[Probe], cache_dir: Path | None) -> Any:
    if cache_dir is None:
        return _build(probes)
    seal = blake2b(f"{version_of('hyperscan')} {probes!r}".encode(), digest_size=16).digest()
    path = cache_dir / f"redaction-{seal.hex()}.hs"
    database = _read(path, seal)
    if database is None:
        database = _build(probes)
        _write(path, seal, hyperscan.dumpb(database))
    return database


def _build(probes: Sequence[Probe]) -> Any:
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[pattern for pattern, _ in probes],
        ids=list(range(len(probes))),
        elements=len(probes),
        flags=[hyperscan.HS_FLAG_CASELESS if ignore_case else 0 for _, ignore_case in probes],
    )
    return database


def _read(path: Path, seal: bytes) -> Any | None:
    """The database in the file; None when there is none that is whole and of this version."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    head = _MAGIC + seal
    body = data[len(head) + 16 :]
    if not data.startswith(head) or data[len(head) : len(head) + 16] != _digest(body):
        return None
    try:
        return hyperscan.loadb(body, hyperscan.HS_MODE_BLOCK)
    except hyperscan.error:
        return None


def _write(path: Path, seal: bytes, body: bytes) -> None:
    """Best effort: without the file the next start only takes longer."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_MAGIC + seal + _digest(body) + body)
        temporary.replace(path)
        _drop_older(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _drop_older(path: Path) -> None:
    """Databases of versions that nobody has built for long."""
    for other in path.parent.glob("redaction-*.hs"):
        if other != path and time.time() - other.stat().st_mtime > KEPT_SECONDS:
            other.unlink(missing_ok=True)


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).digest()
