"""Every agent that is known, with every recording that it brings."""

from __future__ import annotations

from functools import cache
from pathlib import PurePosixPath

import pytest
from recordings import Play, everyone, files, holds_records, play, recordings


@cache
def played(agent: str, recording: str) -> Play:
    """A recording's sessions, computed once for all tests."""
    return play(agent, files(agent, recording))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if {"agent", "recording"} <= set(metafunc.fixturenames):
        pairs = [(agent, name) for agent in everyone() for name in recordings(agent)]
        ids = [f"{agent}-{name}" for agent, name in pairs]
        metafunc.parametrize(("agent", "recording"), pairs, ids=ids)
    elif {"agent", "structured"} <= set(metafunc.fixturenames):
        pairs = [(agent, name) for agent in everyone() for name in recordings(agent)]
        pairs = [pair for pair in pairs if _holds_records(*pair)]
        assert {agent for agent, _ in pairs} == set(everyone())
        ids = [f"{agent}-{name}" for agent, name in pairs]
        metafunc.parametrize(("agent", "structured"), pairs, ids=ids)
    elif "agent" in metafunc.fixturenames:
        metafunc.parametrize("agent", list(everyone()))


def _holds_records(agent: str, recording: str) -> bool:
    """Whether the recording has more than plain texts, so that a record can be put among others."""
    found = (everyone()[agent].classify(PurePosixPath(path)) for path, _ in files(agent, recording))
    return any(facts is not None and holds_records(facts) for facts in found)


@pytest.fixture
def recorded(agent: str, recording: str) -> Play:
    return played(agent, recording)
