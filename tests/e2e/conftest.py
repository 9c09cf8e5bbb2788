"""The program as a person runs it: a subprocess in a home of its own."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from program import Person, wait_for


@pytest.fixture
def person() -> Iterator[Person]:
    with tempfile.TemporaryDirectory(prefix="uc-e2e-") as folder:
        made = Person(path=Path(folder).resolve())
        yield made
        made.end()


@pytest.fixture
def until() -> Callable[..., None]:
    return wait_for
