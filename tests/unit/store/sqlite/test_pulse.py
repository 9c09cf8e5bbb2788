"""The number that moves when anybody writes."""

from __future__ import annotations

from pathlib import Path

from ultracontext.store import open_store
from ultracontext.store.base import LOCAL_SPACE


def test_pulse_moves_with_writes_of_any_program_only(tmp_path: Path) -> None:
    here = open_store(tmp_path / "store.db", migrate=True)
    other = open_store(tmp_path / "store.db", migrate=True)
    try:
        space = here.within(LOCAL_SPACE)
        first = space.pulse()
        space.contexts(limit=0)
        assert space.pulse() == first
        space.note("mine", 1)
        second = space.pulse()
        assert second != first
        other.within(LOCAL_SPACE).note("theirs", 1)
        assert space.pulse() not in (first, second)
    finally:
        here.close()
        other.close()
