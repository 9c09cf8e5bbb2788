"""Every agent that is known, with every recording that it brings."""

from __future__ import annotations

from functools import cache

import pytest
from recordings import Play, files, play, recordings

from ultracontext.agents import known


@cache
def played(agent: str, recording: str) -> Play:
    """A recording's sessions, computed once for all tests."""
    return play(agent, files(agent, recording))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if {"agent", "recording"} <= set(metafunc.fixturenames):
        pairs = [(agent, name) for agent in known() for name in recordings(agent)]
        ids = [f"{agent}-{name}" for agent, name in pairs]
        metafunc.parametrize(("agent", "recording"), pairs, ids=ids)
    elif "agent" in metafunc.fixturenames:
        metafunc.parametrize("agent", list(known()))


@pytest.fixture
def recorded(agent: str, recording: str) -> Play:
    return played(agent, recording)
