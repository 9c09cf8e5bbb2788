"""Records of Codex, made by hand or recorded, and what the reader makes of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rollouts import CODEX, SESSION, CodexHome, Masking, OpenHome, Read, Reading, Say, run

from ultracontext.model import RawRecord, event_id, message_id
from ultracontext.redaction import MaskedRecord, Redactor, load_redactor


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return load_redactor(b"a secret of this test" * 2)


@pytest.fixture(scope="session")
def masked(redactor: Redactor) -> Masking:
    """A masked record of a value, or of raw bytes."""

    def make(value: Any, **more: Any) -> MaskedRecord:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        raw = RawRecord(
            agent="codex", source="/x/rollout.jsonl", start=0, end=len(data) + 1, data=data, **more
        )
        return redactor.redact(raw)

    return make


@pytest.fixture
def read(masked: Masking) -> Reading:
    """Reads records given as values."""

    def reading(*values: Any, session: str = SESSION) -> Read:
        named = [
            (message_id(event_id("codex", session, number)), masked(value))
            for number, value in enumerate(values)
        ]
        return run(named, session)

    return reading


@pytest.fixture(scope="session")
def home(redactor: Redactor) -> OpenHome:
    """A recording by name."""
    known: dict[str, CodexHome] = {}

    def open_home(name: str) -> CodexHome:
        if name not in known:
            known[name] = CodexHome(CODEX / name, redactor)
        return known[name]

    return open_home


@pytest.fixture
def say() -> Say:
    """Records as Codex writes them."""
    return Say()
