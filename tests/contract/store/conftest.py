"""Every store, and records to put into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from api_server import ApiServer
from context_writer import Writer
from postgres import Cluster, running

from ultracontext.model import RawRecord, SessionFacts, event_id
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.store import (
    CaptureBatch,
    Checkpoint,
    Event,
    FactsUpdate,
    SpaceStore,
    Store,
    open_http,
    open_store,
)

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def redactor() -> Redactor:
    return load_redactor(b"a secret of the tests")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = "memory://" if request.param == "memory" else f"sqlite:///{tmp_path}/home/store.db"
    opened = open_store(url, migrate=True)
    yield opened
    opened.close()


@pytest.fixture
def space(store: Store) -> SpaceStore:
    return store.within("local")


KINDS = [
    "memory",
    "sqlite",
    "http",
    pytest.param("postgres", marks=[pytest.mark.full, pytest.mark.timeout(120)]),
    pytest.param("postgres-serializable", marks=[pytest.mark.full, pytest.mark.timeout(120)]),
]
"""Stores that keep contexts. What is captured goes to the first two only (`store`)."""


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with running() as found:
        yield found


class Keyring:
    """A server as one store: each space is opened by a key of its own."""

    damaged = False

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._opened: dict[str, Store] = {}

    def within(self, space: str) -> SpaceStore:
        if space not in self._opened:
            key = self._server.key(space, "admin")
            self._opened[space] = open_http(self._server.url, key, sets_times=True)
        return self._opened[space].within(space)

    def maintain(self) -> None:
        """The server looks after its store."""

    def sound(self, halted: Callable[[], bool]) -> bool | None:
        return not halted()

    def close(self) -> None:
        for store in self._opened.values():
            store.close()


@contextmanager
def over_http(folder: Path) -> Iterator[Callable[[], Store]]:
    """Our own server; the key may say when something was, as the tests do."""
    server = ApiServer(folder / "home" / "store.db").start()
    stores: list[Keyring] = []

    def again() -> Store:
        stores.append(Keyring(server))
        return stores[-1]

    try:
        yield again
    finally:
        for store in stores:
            store.close()
        server.stop()


@contextmanager
def opened(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[[], Store]]:
    """Opens a store of a kind, as often as is asked: each time the same one but for `memory`."""
    if kind == "http":
        with over_http(tmp_path) as found:
            yield found
        return
    stores: list[Store] = []
    cluster = None
    if kind.startswith("postgres"):
        cluster = request.getfixturevalue("cluster")
        level = "serializable" if kind.endswith("serializable") else "read-committed"
        url = cluster.url(cluster.shared, isolation=level)
    else:
        url = "memory://" if kind == "memory" else f"sqlite:///{tmp_path}/home/store.db"

    def again() -> Store:
        if not (kind == "memory" and stores):
            stores.append(open_store(url, migrate=True))
        return stores[-1]

    try:
        yield again
    finally:
        for store in stores:
            store.close()
        if cluster is not None:
            cluster.empty()


@pytest.fixture(params=KINDS)
def openings(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """A way to open one store several times, as several programs do."""
    with opened(request.param, request, tmp_path) as found:
        yield found


@pytest.fixture
def contexts(openings: Callable[[], Store]) -> SpaceStore:
    return openings().within("local")


@pytest.fixture
def writer(contexts: SpaceStore) -> Writer:
    return Writer(contexts)


class Maker:
    """Makes events and checkpoints."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor
        self.now = NOW

    def event(self, ordinal: int, session: str = "s1", **fields: Any) -> Event:
        agent = fields.pop("agent", "claude")
        data = fields.pop("data", b'{"type":"user","n":%d}' % ordinal)
        raw = {
            name: fields.pop(name)
            for name in ("companions", "damage", "too_large")
            if name in fields
        }
        revision = fields.get("revision", 0)
        record = self.redactor.redact(
            RawRecord(
                agent=agent, source="/x.jsonl", start=ordinal * 10, end=ordinal * 10 + 9, data=data,
                **raw,
            )
        )  # fmt: skip
        if revision:
            fields.setdefault("first", event_id(agent, session, ordinal))
        return Event(
            **{
                "event_id": event_id(agent, session, ordinal, revision),
                "session_id": session,
                "record": record,
                "source_id": 1,
                "ordinal": ordinal,
                "kind": "user",
                "role": "user",
                "event_type": "user",
                **fields,
            }
        )

    def checkpoint(self, source_id: int = 1, **fields: Any) -> Checkpoint:
        return Checkpoint(
            **{
                "source_id": source_id, "agent": "claude", "path": "/x.jsonl",
                "path_digest": b"p" * 16, "device": 64769, "inode": 2**64 - 1,
                "fingerprint": b"f" * 16, "fingerprint_length": 10, "size": 100,
                "mtime_ns": 1_700_000_000_000_000_000, "ctime_ns": 1, "position": 90, "ordinal": 9,
                "prefix": b"x" * 16, **fields,
            }
        )  # fmt: skip

    def facts(self, session: str = "s1", agent: str = "claude", **fields: Any) -> FactsUpdate:
        return FactsUpdate(agent=agent, session_id=session, facts=SessionFacts(**fields))

    def append(self, space: SpaceStore, *events: Event, **parts: Any) -> None:
        now = parts.pop("now", NOW)
        space.append(
            CaptureBatch(
                events=list(events),
                checkpoints=parts.get("checkpoints", []),
                facts=parts.get("facts", []),
                counts=parts.get("counts", {}),
            ),
            now=now,
        )


@pytest.fixture
def make(redactor: Redactor) -> Maker:
    return Maker(redactor)
