"""What a wipe takes out of the ledger."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ultracontext.model import captured_context_id
from ultracontext.switch.done import Done
from ultracontext.switch.forget import copies, forget
from ultracontext.switch.ledger import Came, Ledger, Row

WORD = "xylograph"
SOURCE = str(captured_context_id("claude", "s1"))
TARGET = str(captured_context_id("codex", "t1"))


@pytest.fixture
def keep(tmp_path: Path) -> Path:
    (tmp_path / "switch").mkdir()
    return tmp_path / "switch"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "switch.db")


def row(name: str, *, source: str = "s1", target: str = "t1", operation: str = "switch") -> Row:
    return Row(
        id=f"sw_{name}", state="written", at=datetime(2026, 11, 30, tzinfo=UTC), agent="codex",
        session_id=target, path=f"/agents/{target}.jsonl", root="/agents", operation=operation,
        source=Came(agent="claude", session_id=source, context_id=""),
    )  # fmt: skip


def test_texts_go_and_what_undo_needs_stays(ledger: Ledger, keep: Path, tmp_path: Path) -> None:
    written, other, outside = row("a"), row("b", source="s2", target="t2"), tmp_path / "agents-own"
    outside.write_text(WORD)
    (keep / "0123").write_text(WORD)
    (keep / "sw_a.jsonl").write_text(WORD)
    written.done = [
        Done(kind="file", path=written.path, digest="d"),
        Done(kind="line", path="/agents/index", line=WORD),
        Done(kind="backup", path="/agents/db", copy=str(keep / "0123")),
        Done(kind="backup", path="/agents/other", copy=str(outside)),
    ]
    written.command, written.losses, written.reason = ["codex", WORD], [{"what": WORD}], WORD
    ledger.put(other)
    ledger.put(written)
    assert [left.id for left in forget(ledger, keep, [SOURCE])] == ["sw_a"]
    found = {one.id: one for one in ledger.rows()}
    assert [one.kind for one in found["sw_a"].done] == ["file"]
    assert found["sw_a"].state == "written"
    assert found["sw_b"] == other
    assert list(keep.iterdir()) == []
    assert outside.exists()
    assert WORD.encode() not in (tmp_path / "switch.db").read_bytes()


def test_a_handoff_is_removed(ledger: Ledger, keep: Path) -> None:
    document = keep / "handoff-a.md"
    document.write_text(WORD)
    made = row("a", target="", operation="handoff")
    made.path = str(document)
    ledger.put(made)
    assert forget(ledger, keep, [SOURCE]) == []
    assert not document.exists()
    assert ledger.rows()[0].state == "undone"


def test_a_written_session_that_is_wiped_is_meant_too(ledger: Ledger, keep: Path) -> None:
    ledger.put(row("a"))
    assert len(forget(ledger, keep, [TARGET])) == 1
    assert forget(ledger, keep, [str(captured_context_id("claude", "t1"))]) == []


def test_copies_of_copies_are_found(ledger: Ledger) -> None:
    second = row("b", target="t2")
    second.source = Came(agent="codex", session_id="t1", context_id=TARGET)
    undone = row("c", target="t3")
    undone.state = "undone"
    for one in (row("a"), second, undone, row("d", source="s9", target="t9")):
        ledger.put(one)
    assert copies(ledger, [SOURCE]) == {TARGET, str(captured_context_id("codex", "t2"))}


def test_without_a_ledger_there_is_nothing_to_do(ledger: Ledger, keep: Path) -> None:
    assert forget(ledger, keep, [SOURCE]) == []
    assert copies(ledger, [SOURCE]) == set()
    assert not (keep.parent / "switch.db").exists()
