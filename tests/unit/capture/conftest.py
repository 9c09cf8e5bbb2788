"""The laboratory as a fixture."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from capture_lab import TOY, Lab

from ultracontext.agents import known


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[Lab]:
    made = Lab(tmp_path)
    known()[TOY.slug] = TOY
    yield made
    known().pop(TOY.slug)
    made.store.close()


@pytest.fixture
def same_times() -> Callable[[Path, os.stat_result], None]:
    def restore(path: Path, before: os.stat_result) -> None:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    return restore
