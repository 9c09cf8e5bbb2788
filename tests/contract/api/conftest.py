"""A server a module on each store, a key and a space a test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from api_server import ApiServer, Caller
from postgres import running

from ultracontext.store.keys import Role

numbers = itertools.count()


@pytest.fixture(
    scope="module",
    params=[
        "memory",
        "sqlite",
        pytest.param("postgres", marks=[pytest.mark.full, pytest.mark.timeout(300)]),
    ],
)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiServer]:
    if request.param == "postgres":
        with running() as cluster:
            yield from _run(ApiServer(cluster.url(cluster.shared)))
        return
    file = tmp_path_factory.mktemp("api") / "store.db"
    yield from _run(ApiServer("memory://" if request.param == "memory" else file))


def _run(server: ApiServer) -> Iterator[ApiServer]:
    server.start()
    yield server
    server.stop()


class Making:
    """Makes callers and closes them."""

    def __init__(self, server: ApiServer) -> None:
        self.server = server
        self.made: list[Caller] = []

    def __call__(self, space: str | None = None, role: Role = "write", **more: bool) -> Caller:
        caller = self.server.caller(space or f"space-{next(numbers)}", role, **more)
        self.made.append(caller)
        return caller


@pytest.fixture
def make(server: ApiServer) -> Iterator[Making]:
    making = Making(server)
    yield making
    for caller in making.made:
        caller.close()


@pytest.fixture
def uc(make: Making) -> Caller:
    return make()


@pytest.fixture
def anyone(server: ApiServer) -> Iterator[Caller]:
    """Without a key."""
    caller = Caller(server.url, None)
    yield caller
    caller.close()
