"""No figure of the committed REPORT.md gets worse."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
from redaction_corpus import POSITIONS

from ultracontext.redaction import Redactor, load_redactor

KEY = b"not a real key, 32 bytes long ..."


def _measure() -> ModuleType:
    path = Path(__file__).with_name("measure.py")
    spec = importlib.util.spec_from_file_location("redaction_measure", path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


measure = _measure()
TABLE, LIBRARY = measure.committed()


@pytest.fixture(scope="module")
def fast() -> Redactor:
    return load_redactor(KEY)


def test_the_report_has_every_position() -> None:
    assert set(TABLE) == set(POSITIONS)


@pytest.mark.parametrize("position", POSITIONS)
def test_a_position_is_no_worse(fast: Redactor, position: str) -> None:
    found = measure.figures(fast, [position])
    good, tried = found.masked[position]
    missed, touched = TABLE[position]
    assert tried - good <= missed, found.missed
    assert found.touched[position][0] <= touched, found.missed


def test_the_standard_library_is_no_worse(fast: Redactor) -> None:
    """A part of it, and with room for the files of another version."""
    found = measure.library(fast, measure.Figures(), step=4)
    allowed, _ = LIBRARY
    assert found.changed_files <= allowed + (sys.version_info[:2] != (3, 11)) * 4, found.library
