"""Capture finds a native fork and has its bodies stored once, whichever file it meets first."""

from __future__ import annotations

import json
import random
import sqlite3
from pathlib import Path

import pytest
from capture_lab import SECRET, redactor

from ultracontext.agents import known
from ultracontext.capture import CaptureEngine
from ultracontext.store import open_store
from ultracontext.store.base import LOCAL_SPACE

PARENT = "aaaaaaaa-0000-4000-8000-000000000001"
FORK = "bbbbbbbb-0000-4000-8000-000000000002"


def talk(session: str, count: int, *, name: str = "", above: str | None = None) -> list[str]:
    random_, lines = random.Random(f"{count}{name}"), []
    for n in range(count):
        uuid = f"00000000-0000-4000-8000-{n:08}{name or 'cccc'}"
        record = {
            "type": "user", "uuid": uuid, "parentUuid": above, "sessionId": session, "cwd": "/w",
            "timestamp": f"2026-11-30T10:{n // 60:02}:{n % 60:02}.000Z",
            "message": {"role": "user", "content": f"{n} " + random_.randbytes(300).hex()},
        }  # fmt: skip
        lines.append(json.dumps(record))
        above = uuid
    return lines


def codex(session: str, lines: list[str]) -> list[str]:
    meta = {"id": session, "timestamp": "2026-11-30T10:00:00.000Z", "cwd": "/w"}
    if session == FORK:
        meta["forked_from_id"] = PARENT
    head = {"timestamp": "2026-11-30T10:00:00.000Z", "type": "session_meta", "payload": meta}
    return [json.dumps(head), *lines]


def said(n: int) -> str:
    text = f"{n} " + random.Random(n).randbytes(300).hex()
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    return json.dumps(
        {"timestamp": "2026-11-30T10:00:01.000Z", "type": "response_item", "payload": item}
    )


def files(agent: str) -> dict[str, tuple[str, list[str]]]:
    """Path and lines by session."""
    if agent == "claude":
        common = talk(PARENT, 300)
        own = talk(FORK, 3, name="dddd", above=json.loads(common[-1])["uuid"])
        copies = [line.replace(PARENT, FORK) for line in common]
        return {
            PARENT: (f"projects/-w/{PARENT}.jsonl", common),
            FORK: (f"projects/-w/{FORK}.jsonl", copies + own),
        }
    common = [said(n) for n in range(300)]
    folder = "sessions/2026/11/30/rollout-2026-11-30T10-00-0"
    return {
        PARENT: (f"{folder}0-{PARENT}.jsonl", codex(PARENT, common)),
        FORK: (f"{folder}1-{FORK}.jsonl", [*codex(FORK, common), said(999)]),
    }


@pytest.mark.parametrize("order", [(PARENT, FORK), (FORK, PARENT)], ids=["parent", "fork"])
@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize("apart", [True, False], ids=["two-runs", "one-run"])
def test_a_fork_is_stored_once(
    tmp_path: Path, order: tuple[str, str], agent: str, apart: bool
) -> None:
    root, store_path = tmp_path / "root", tmp_path / "home" / "store.db"
    store = open_store(store_path, migrate=True)
    space = store.within(LOCAL_SPACE)
    made = files(agent)

    def capture() -> None:
        CaptureEngine(
            store=space, redactor=redactor(), secret=SECRET, agents=[known()[agent]],
            roots={agent: [root]},
        ).run_once()  # fmt: skip

    for session in order:
        path = root / made[session][0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(made[session][1]) + "\n")
        if apart:
            capture()
    capture()
    row = space.by_session(agent, FORK)
    assert row is not None
    assert (row.facts.relation, row.facts.parent_session) == ("fork", PARENT)
    stored = [json.loads(node.body) for node in space.nodes(row.context_id)]
    assert stored == [json.loads(line) for line in made[FORK][1]]
    connection = sqlite3.connect(store_path)
    whole, more = connection.execute(
        "SELECT sum(length(data) * (codec >= -1)), sum(length(data) * (codec < -1)) FROM blocks"
    ).fetchone()
    connection.close()
    assert more < 0.1 * whole
    assert whole < 1.1 * 300 * 320  # random bytes in hex: each once
    store.close()


@pytest.mark.parametrize("late", ["ledger", "origin", "nothing"])
def test_a_session_that_another_agent_imported_is_its_parent(tmp_path: Path, late: str) -> None:
    """The ledger may be written behind the thread, and the origin captured last of all."""
    roots = {"codex": [tmp_path / "codex"], "claude": [tmp_path / "claude"]}
    store = open_store(tmp_path / "home" / "store.db", migrate=True)
    space = store.within(LOCAL_SPACE)
    thread = FORK
    made = {
        "origin": (roots["claude"][0] / "projects" / "-w" / f"{PARENT}.jsonl", talk(PARENT, 20)),
        "thread": (
            roots["codex"][0] / "sessions" / f"rollout-2026-11-30T10-00-00-{thread}.jsonl",
            [codex(thread, [])[0].replace(f', "forked_from_id": "{PARENT}"', ""), said(1)],
        ),
        "ledger": (
            roots["codex"][0] / "external_agent_session_imports.json",
            [json.dumps({"records": [
                {"source_path": f"/h/.claude/projects/-w/{PARENT}.jsonl",
                 "imported_thread_id": thread, "imported_at": 1},
                {"source_path": "/h/x.jsonl"}, "odd",
            ]})],
        ),
    }  # fmt: skip
    for names in ([n for n in made if n != late], [late] if late in made else []):
        for name in names:
            path, lines = made[name]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n")
        CaptureEngine(
            store=space, redactor=redactor(), secret=SECRET,
            agents=[known()["claude"], known()["codex"]], roots=roots,
        ).run_once()  # fmt: skip
    copy, origin = space.by_session("codex", thread), space.by_session("claude", PARENT)
    assert copy is not None
    assert origin is not None
    assert (copy.facts.relation, copy.facts.parent_session) == ("fork", PARENT)
    assert copy.parent_id == origin.context_id
    assert copy.facts.messages == 1
    assert {row.session_id for row in space.contexts(limit=0)} == {PARENT, thread}
    store.close()
