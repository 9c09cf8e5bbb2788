from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ultracontext.cli.main import run
from ultracontext.model import ContextId, captured_context_id
from ultracontext.store import Tombstone, open_store

NOW = datetime(2026, 11, 30, tzinfo=UTC)
NAMES = {name: captured_context_id("claude", name) for name in ("session-one", "session-two")}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ULTRACONTEXT_HOME", str(tmp_path))
    store = open_store(tmp_path / "store.db", migrate=True)
    for name, context in NAMES.items():
        store.within("local").bury(
            Tombstone(
                context_id=context, wiped_at=NOW, reason="forget", agent="claude", session_id=name
            )
        )
    store.close()
    return tmp_path


def lifted(home: Path, context: ContextId) -> bool:
    store = open_store(home / "store.db")
    found = store.within("local").tombstone(context)
    store.close()
    return found is not None and found.lifted_at is not None


@pytest.mark.parametrize("name", ["session-two", "session-t", NAMES["session-two"]])
def test_a_wiped_session_is_taken_back(home: Path, name: str, capsys: Any) -> None:
    assert run(["capture", "again", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["id"] == NAMES["session-two"]
    assert lifted(home, NAMES["session-two"])
    assert not lifted(home, NAMES["session-one"])


@pytest.mark.parametrize(("name", "text"), [("other", "no wiped session"), ("sess", "could be")])
def test_names_that_mean_none_or_several(home: Path, name: str, text: str, capsys: Any) -> None:
    assert run(["capture", "again", name]) == 1
    assert text in capsys.readouterr().err
