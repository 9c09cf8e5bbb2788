"""A server of ours, and two keys for two spaces."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from api_server import ApiServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ApiServer]:
    running = ApiServer(tmp_path / "store.db").start()
    yield running
    running.stop()


@pytest.fixture
def env(server: ApiServer) -> dict[str, str]:
    return {
        "UC_URL": server.url, "UC_KEY": server.key("one"), "UC_OTHER": server.key("two"),
    }  # fmt: skip
