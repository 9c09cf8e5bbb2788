"""Rewinds and compactions become versions: the state before stays readable as a whole."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from agent_lab import AgentLab, ClaudeTalk
from recordings import lay_out

S = "aaaaaaaa-0000-4000-8000-000000000001"
CLAUDE = f"projects/-w-app/{S}.jsonl"
CODEX = f"sessions/2026/11/30/rollout-2026-11-30T10-00-00-{S}.jsonl"
GEMINI = "tmp/app/chats/session-2026-11-30T10-00-aaaaaaaa.jsonl"
CLAW = "agents/main/sessions/claw.jsonl"


@pytest.fixture
def claude(tmp_path: Path) -> AgentLab:
    return AgentLab(tmp_path, "claude")


# ---- Claude Code ---------------------------------------------------------------------------------
def test_a_rewind_begins_a_version(claude: AgentLab) -> None:
    talk = ClaudeTalk(S)
    one, two = talk.turn("one"), talk.turn("two")
    claude.write(CLAUDE, [*one, *two])
    claude.run()
    assert claude.row(S).version == 0
    talk.back_to(two[0])
    claude.write(CLAUDE, talk.turn("instead"))
    claude.run()
    assert claude.row(S).version == 1
    assert claude.affected(S) == [("rewind", ["two", "to two"])]
    assert claude.said(S, version=0) == ["one", "to one", "two", "to two"]
    assert claude.said(S) == ["one", "to one", "instead", "to instead"]
    assert claude.texts(S) == ["one", "to one", "two", "to two", "instead", "to instead"]


def test_back_to_the_begin_puts_all_aside(claude: AgentLab) -> None:
    talk = ClaudeTalk(S)
    one = talk.turn("one")
    talk.back_to(one[0])
    claude.write(CLAUDE, [*one, *talk.turn("anew")])
    claude.run()
    assert claude.affected(S) == [("rewind", ["one", "to one"])]
    assert claude.said(S, version=0) == ["one", "to one"]


def test_two_rewinds_put_each_message_aside_once(claude: AgentLab) -> None:
    talk = ClaudeTalk(S)
    one, two = talk.turn("one"), talk.turn("two")
    claude.write(CLAUDE, [*one, *two])
    for text in ("three", "four"):
        talk.back_to(two[0])
        claude.write(CLAUDE, talk.turn(text))
    claude.run()
    assert claude.affected(S) == [
        ("rewind", ["two", "to two"]),
        ("rewind", ["three", "to three"]),
    ]
    assert claude.said(S, version=1) == ["one", "to one", "three", "to three"]


def test_a_parent_that_is_not_there_begins_none(claude: AgentLab) -> None:
    talk = ClaudeTalk(S)
    one = talk.turn("one")
    talk.last = "elsewhere"
    claude.write(CLAUDE, [*one, *talk.turn("two")])
    claude.run()
    assert claude.heads(S) == []
    assert claude.said(S) == ["one", "to one", "two", "to two"]


def test_a_long_turn_is_no_rewind(claude: AgentLab) -> None:
    """The next prompt hangs on a record of the turn that is far up in the file."""
    talk = ClaudeTalk(S)
    records = talk.turn("one")
    above = talk.last
    records += [talk.answer(f"step {n}") for n in range(40)]
    talk.last = above
    claude.write(CLAUDE, [*records, *talk.turn("two")])
    claude.run()
    assert claude.heads(S) == []


def test_a_compaction_begins_a_version(claude: AgentLab) -> None:
    talk = ClaudeTalk(S)
    claude.write(CLAUDE, [*talk.turn("one"), talk.boundary(), *talk.turn("two"), talk.boundary()])
    claude.write(CLAUDE, talk.turn("three"))
    claude.run()
    assert claude.affected(S) == [
        ("compaction", ["one", "to one"]),
        ("compaction", ["two", "to two"]),
    ]
    assert claude.said(S, version=0) == ["one", "to one"]
    assert claude.said(S) == [t for n in ("one", "two", "three") for t in (n, f"to {n}")]


def story(seed: int) -> tuple[list[dict[str, Any]], list[int]]:
    """A session with rewinds, and the places of the records at which a version begins."""
    choose = random.Random(seed)
    talk = ClaudeTalk(S)
    records: list[dict[str, Any]] = []
    prompts: list[dict[str, Any]] = []
    begins: list[int] = []
    for n in range(choose.randint(2, 7)):
        if prompts and choose.random() < 0.4:
            place = choose.randrange(len(prompts))
            talk.back_to(prompts[place])
            del prompts[place:]
            begins.append(len(records))
        records.append(talk.prompt(f"{n}"))
        prompts.append(records[-1])
        records += [talk.answer(f"{n} {step}") for step in range(choose.randint(0, 3))]
    return records, begins


@pytest.mark.parametrize("seed", range(12))
def test_versions_are_the_same_however_the_file_is_read(tmp_path: Path, seed: int) -> None:
    records, begins = story(seed)
    whole, parts = AgentLab(tmp_path / "whole", "claude"), AgentLab(tmp_path / "parts", "claude")
    whole.write(CLAUDE, records)
    whole.run()
    choose, rest = random.Random(seed), records
    while rest:
        size = choose.randint(1, 3)
        parts.write(CLAUDE, rest[:size])
        rest = rest[size:]
        parts.run(batch_events=choose.randint(1, 3))
    assert [head[1]["position"] for head in whole.heads(S)] == begins
    assert parts.heads(S) == whole.heads(S)
    for version in range(len(begins) + 1):
        assert parts.said(S, version=version) == whole.said(S, version=version)


def test_what_is_read_again_begins_no_version_twice(claude: AgentLab) -> None:
    records, begins = story(3)
    path = claude.write(CLAUDE, records)
    claude.run()
    path.write_bytes(path.read_bytes())  # another mtime; and then another inode
    claude.run()
    copy = path.with_suffix(".new")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)
    claude.run()
    assert len(claude.heads(S)) == len(begins) > 0


# ---- Codex ---------------------------------------------------------------------------------------
def codex_turn(text: str) -> list[dict[str, Any]]:
    def item(role: str, kind: str, said: str) -> dict[str, Any]:
        return {"type": "message", "role": role, "content": [{"type": kind, "text": said}]}

    return [
        at("event_msg", type="task_started"),
        at("response_item", **item("user", "input_text", text)),
        at("event_msg", type="user_message", message=text),
        at("event_msg", type="agent_message", message=f"to {text}"),
        at("response_item", **item("assistant", "output_text", f"to {text}")),
        at("event_msg", type="task_complete"),
    ]


def at(kind: str, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-11-30T10:00:00.000Z", "type": kind, "payload": payload}


def test_codex_turns_that_are_rolled_back_begin_a_version(tmp_path: Path) -> None:
    lab = AgentLab(tmp_path, "codex")
    meta = at("session_meta", id=S, cwd="/w", timestamp="2026-11-30T10:00:00.000Z")
    lab.write(CODEX, [meta, *codex_turn("one"), *codex_turn("two"), *codex_turn("three")])
    lab.run()
    lab.write(CODEX, [at("event_msg", type="thread_rolled_back", num_turns=2)])
    lab.write(CODEX, codex_turn("instead"))
    lab.run()
    assert lab.affected(S) == [("rewind", ["two", "to two", "three", "to three"])]
    assert lab.said(S, version=0) == [t for n in ("one", "two", "three") for t in (n, f"to {n}")]
    assert lab.said(S) == ["one", "to one", "instead", "to instead"]
    lab.write(CODEX, [at("event_msg", type="thread_rolled_back", num_turns=1)])
    lab.run()
    assert lab.affected(S)[1] == ("rewind", ["instead", "to instead"])
    assert lab.said(S) == ["one", "to one"]


def test_codex_compactions_begin_versions(tmp_path: Path) -> None:
    lab = AgentLab(tmp_path, "codex")
    meta = at("session_meta", id=S, cwd="/w", timestamp="2026-11-30T10:00:00.000Z")
    lab.write(CODEX, [meta, *codex_turn("one"), at("compacted", message="sum"), *codex_turn("two")])
    lab.run()
    assert lab.affected(S) == [("compaction", ["one", "to one"])]
    assert lab.said(S, version=0) == ["one", "to one"]


# ---- Gemini CLI ----------------------------------------------------------------------------------
def gemini(kind: str, name: str, text: str) -> dict[str, Any]:
    content: Any = [{"text": text}] if kind == "user" else text
    return {"id": name, "type": kind, "content": content, "timestamp": "2026-11-30T10:00:00.000Z"}


GEMINI_HEAD = {"sessionId": S, "startTime": "2026-11-30T10:00:00.000Z", "kind": "main"}
FOUR = [
    gemini("user", "a", "one"), gemini("gemini", "b", "to one"),
    gemini("user", "c", "two"), gemini("gemini", "d", "to two"),
]  # fmt: skip


@pytest.mark.parametrize(
    "back",
    [
        [{"$rewindTo": "c"}],
        [{"$set": {"messages": FOUR[:2]}}],
        [{"$rewindTo": "c"}, {"$set": {"messages": FOUR[:2]}}],
    ],
    ids=["rewind", "snapshot", "both"],
)
def test_gemini_rewinds_begin_one_version(tmp_path: Path, back: list[dict[str, Any]]) -> None:
    lab = AgentLab(tmp_path, "gemini")
    lab.write(GEMINI, [GEMINI_HEAD, *FOUR])
    lab.run()
    lab.write(GEMINI, [*back, gemini("user", "e", "three")])
    lab.run()
    assert lab.affected(S) == [("rewind", ["two", "to two"])]
    assert lab.said(S, version=0) == ["one", "to one", "two", "to two"]
    assert lab.said(S) == ["one", "to one", "three"]


def test_gemini_snapshots_that_lose_nothing_begin_none(tmp_path: Path) -> None:
    lab = AgentLab(tmp_path, "gemini")
    context = gemini("user", "x", "<session_context>\nThis is the Gemini CLI.\n</session_context>")
    lab.write(GEMINI, [GEMINI_HEAD, {"$set": {"messages": [context]}}, *FOUR])
    lab.write(GEMINI, [{"$set": {"messages": [context, *FOUR]}}, {"$set": {"summary": "s"}}])
    lab.write(GEMINI, [GEMINI_HEAD, {"$set": {"messages": [context]}}, gemini("user", "e", "more")])
    lab.run()
    assert lab.heads(S) == []


def test_a_message_gone_from_a_gemini_document_begins_a_version(tmp_path: Path) -> None:
    lab = AgentLab(tmp_path, "gemini")
    path = lab.root / GEMINI.replace(".jsonl", ".json")
    path.parent.mkdir(parents=True)
    for messages in (FOUR[:2], FOUR, FOUR[:2], [*FOUR[:2], gemini("user", "e", "three")]):
        path.write_text(json.dumps({**GEMINI_HEAD, "messages": messages}))
        lab.run()
    assert lab.affected(S) == [("rewind", ["two", "to two"])]
    assert lab.said(S, version=0) == ["one", "to one", "two", "to two"]
    assert lab.said(S) == ["one", "to one", "three"]


# ---- OpenClaw ------------------------------------------------------------------------------------
def claw(name: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
    message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1}
    return {
        "type": "message", "id": name, "parentId": parent, "message": message,
        "timestamp": "2026-11-30T10:00:00.000Z",
    }  # fmt: skip


CLAW_HEAD = {"type": "session", "version": 3, "id": "claw", "cwd": "/w", "timestamp": "2026-11-30"}
CLAW_FOUR = [
    claw("a", None, "user", "one"), claw("b", "a", "assistant", "to one"),
    claw("c", "b", "user", "two"), claw("d", "c", "assistant", "to two"),
]  # fmt: skip


@pytest.mark.parametrize(
    "moved",
    [[], [{"type": "leaf", "id": "l", "parentId": "d", "targetId": "b"}]],
    ids=["by-parent", "by-leaf"],
)
def test_an_openclaw_branch_begins_one_version(tmp_path: Path, moved: list[Any]) -> None:
    lab = AgentLab(tmp_path, "openclaw")
    lab.write(CLAW, [CLAW_HEAD, *CLAW_FOUR])
    lab.run()
    lab.write(CLAW, [*moved, claw("e", "b", "user", "three")])
    lab.run()
    assert lab.affected("claw") == [("rewind", ["two", "to two"])]
    assert lab.said("claw", version=0) == ["one", "to one", "two", "to two"]
    assert lab.said("claw") == ["one", "to one", "three"]


# ---- recordings ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("agent", "recording", "session", "causes"),
    [
        ("claude", "v2.0-compaction", "0106592a", ["compaction"]),
        ("codex", "compaction-auto", "01a22cd6", ["compaction"]),
        ("gemini", "tui-rewind-esc", "3fbdcf59", ["rewind", "rewind"]),
        ("gemini", "tui-compress", "bdb1135f", ["compaction"]),
        ("gemini", "api-error-429", "82a513ae", ["rewind"]),
        ("openclaw", "v7-compaction", "18f135d2", ["compaction"]),
        ("openclaw", "v9-compaction", "18f135d2", ["compaction"]),
    ],
)
def test_recorded_rewinds_and_compactions(
    tmp_path: Path, agent: str, recording: str, session: str, causes: list[str]
) -> None:
    lab = AgentLab(tmp_path, agent)
    lay_out(agent, recording, lab.root)
    lab.run()
    [name] = [name for name in lab.sessions() if name.startswith(session)]
    assert [cause for cause, _ in lab.affected(name)] == causes
    assert all(texts for _, texts in lab.affected(name))
    before = [m for m in lab.show(name, version=0).messages if m.kind != "meta"]
    assert before
    assert not any(mark in m.metadata for m in before for mark in ("undone", "compacted"))


# ---- records that stream -------------------------------------------------------------------------
def test_an_answer_that_is_being_written_is_one_revision(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each look finds more of it; when it has rested, a change is a revision of its own."""
    lab = AgentLab(tmp_path, "gemini")
    path = lab.root / GEMINI.replace(".jsonl", ".json")
    path.parent.mkdir(parents=True)
    engine = lab.engine()
    clock = [100.0]
    monkeypatch.setattr(engine._ingest._streams, "_monotonic", lambda: clock[0])

    def written(text: str, seconds: float) -> list[str]:
        clock[0] += seconds
        messages = [FOUR[0], gemini("gemini", "b", text)]
        path.write_text(json.dumps({**GEMINI_HEAD, "messages": messages}))
        engine.run_once()
        nodes = lab.space.nodes(lab.row(S).context_id, all_revisions=True)
        natives = [json.loads(node.body) for node in nodes]
        return [native["content"] for native in natives if native.get("id") == "b"]

    assert written("to", 1) == ["to"]
    assert written("to o", 1) == ["to", "to o"]
    assert written("to on", 1) == ["to", "to on"]
    assert written("to one", 9) == ["to", "to one"]
    assert written("to one", 9) == ["to", "to one"]
    assert written("to one, later", 60) == ["to", "to one", "to one, later"]
    assert written("to one, later!", 1) == ["to", "to one", "to one, later!"]
    assert lab.said(S) == ["one", "to one, later!"]
    assert lab.space.verify(lab.row(S).context_id).sound
    lab.run()
    assert lab.said(S) == ["one", "to one, later!"]
