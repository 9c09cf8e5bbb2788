"""Where conversations lie, and whose records are whose."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import pytest
from recordings import FIXTURES, minted

from ultracontext.agents.cursor.assign import CursorAssigner
from ultracontext.agents.cursor.layout import classify, roots
from ultracontext.capture.places import fetch_need
from ultracontext.formats import Engine

TRANSCRIPTS = "projects/home-dev-x/agent-transcripts"


@pytest.mark.parametrize(
    ("path", "engine", "role", "hint", "parent"),
    [
        (f"{TRANSCRIPTS}/a1/a1.jsonl", Engine.APPEND_LOG, "transcript", "a1", None),
        (f"{TRANSCRIPTS}/a1.jsonl", Engine.APPEND_LOG, "transcript", "a1", None),
        (f"{TRANSCRIPTS}/a1.txt", Engine.DOCUMENT, "transcript", "a1", None),
        (f"{TRANSCRIPTS}/a1/subagents/b2.jsonl", Engine.APPEND_LOG, "subagent", "b2", "a1"),
        ("chats/ce3f/a1/store.db", Engine.DATABASE, "store", "a1", None),
        ("chats/a1/store.db", Engine.DATABASE, "store", "a1", None),
        ("globalStorage/state.vscdb", Engine.DATABASE, "global", None, None),
        ("workspaceStorage/8f2b/state.vscdb", Engine.DATABASE, "workspace", None, None),
    ],
)
def test_sources(path: str, engine: Engine, role: str, hint: str, parent: str) -> None:
    facts = classify(PurePosixPath(path))
    assert facts is not None
    found = (facts.engine, facts.role, facts.session_hint, facts.parent_hint)
    assert found == (engine, role, hint, parent)


@pytest.mark.parametrize(
    "path",
    [
        "globalStorage/state.vscdb.backup", "globalStorage/storage.json", "chats/ce3f/a1/meta.json",
        "projects/home-dev-x/agent-tools/a1.txt", "projects/home-dev-x/worker.log",
        f"{TRANSCRIPTS}/a1/b2.jsonl", f"{TRANSCRIPTS}/a1/.jsonl", "ai-tracking/x.db",
        "workspaceStorage/8f2b/x/state.vscdb", "chats/store.db",
    ],
)  # fmt: skip
def test_other_files(path: str) -> None:
    assert classify(PurePosixPath(path)) is None


def test_roots() -> None:
    home = PurePosixPath("/home/dev")
    found = list(roots({}, home))
    assert found[:2] == [home / ".cursor", home / ".config/Cursor/User"]
    assert home / "Library/Application Support/Cursor/User" in found
    moved = list(roots({"CURSOR_DATA_DIR": "/d", "CURSOR_CONFIG_DIR": "/c"}, home))
    assert moved[:2] == [PurePosixPath("/d"), PurePosixPath("/c")]
    windows = roots({"APPDATA": "C:/Users/dev/AppData/Roaming"}, PureWindowsPath("C:/Users/dev"))
    assert PureWindowsPath("C:/Users/dev/AppData/Roaming/Cursor/User") in windows


TOOL_USE = "5b049064-7a36-5df4-914f-0880a3230e76"


@pytest.mark.parametrize(
    ("recording", "path"),
    [
        ("jsonl-tool-use", f"{TOOL_USE}/{TOOL_USE}.jsonl"),
        ("jsonl-tool-use", f"{TOOL_USE}/subagents/253c4b7d-376f-56bc-ac87-e711ea7b7414.jsonl"),
        ("txt-legacy", "f7158dbf-ef6c-57c6-9683-841c4b3ecf2d.txt"),
    ],
)
def test_the_project_is_found_beside_the_transcript(recording: str, path: str) -> None:
    path = f"projects/home-dev-acme-api/agent-transcripts/{path}"
    facts = classify(PurePosixPath(path))
    assert facts is not None
    root = FIXTURES / "cursor" / recording
    needs = CursorAssigner(facts, None).assign(minted({"role": "user"})).needs
    found = {n.name: fetch_need(n, str(Path(root, path)), [str(root.resolve())]) for n in needs}
    assert b"/home/dev/acme-api" in (found["trusted"] or b"")
    assert b"workspacePath=/home/dev/acme-api" in (found["worker"] or b"")
    assert CursorAssigner(facts, None).assign(minted({}, start=9)).needs == ()


def test_each_store_names_its_records_itself() -> None:
    def assign(path: str, table: str, key: str) -> tuple[str | None, str | None]:
        facts = classify(PurePosixPath(path))
        assert facts is not None
        native = {"table": table, "key": key, "value": {}}
        found = CursorAssigner(facts, None).assign(minted(native))
        return found.session_id, found.record_id

    everywhere, here = "globalStorage/state.vscdb", "workspaceStorage/w1/state.vscdb"
    assert assign(everywhere, "bubble", "bubbleId:c1:b1") == ("c1", "kv:bubbleId:c1:b1")
    assert assign(everywhere, "head", "head:c1") == ("c1", "kv:head:c1")
    assert assign(here, "head", "head:c1") == ("c1", "kv:w1:head:c1")
    assert assign("chats/m/c1/store.db", "blob", "ab12") == ("c1", "db:ab12")
    assert assign("chats/m/c1/store.db", "meta", "meta") == ("c1", "db:meta")
