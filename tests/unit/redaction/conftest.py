"""One redactor an engine, built once; both share a cache folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from ultracontext.redaction import Redactor, load_redactor

KEY = b"not a real key, 32 bytes long ..."


@pytest.fixture(scope="session")
def cache_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("redaction-cache")


@pytest.fixture(scope="session")
def hyperscan_redactor(cache_dir: Path) -> Redactor:
    pytest.importorskip("hyperscan")
    return load_redactor(KEY, cache_dir=cache_dir, engine="hyperscan")


@pytest.fixture(scope="session")
def aho_redactor() -> Redactor:
    return load_redactor(KEY, engine="aho")


@pytest.fixture(scope="session", params=["hyperscan", "aho"])
def redactor(request: pytest.FixtureRequest) -> Redactor:
    made: Redactor = request.getfixturevalue(f"{request.param}_redactor")
    return made
