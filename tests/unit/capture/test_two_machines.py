"""One session, copied and continued in both places: by what the records follow, not by arrival."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from agent_lab import AgentLab, ClaudeTalk

S = "aaaaaaaa-0000-4000-8000-000000000001"

Records = list[dict[str, Any]]


def claude_files() -> tuple[Records, Records, Records]:
    """The common part, and what each machine wrote."""
    talk = ClaudeTalk(S)
    common = [*talk.turn("one"), *talk.turn("two")]
    mine, theirs = ClaudeTalk(S, "m"), ClaudeTalk(S, "t")
    mine.last = theirs.last = talk.last
    loose = {"type": "summary", "summary": "s", "leafUuid": talk.last}
    return common, [loose, *mine.turn("here"), *mine.turn("on")], theirs.turn("there")


def claw_files() -> tuple[Records, Records, Records]:
    def said(name: str, parent: str | None, role: str, text: str) -> dict[str, Any]:
        message = {"role": role, "content": [{"type": "text", "text": text}], "timestamp": 1}
        stamp = "2026-11-30T10:00:00.000Z"
        return {
            "type": "message", "id": name, "parentId": parent, "message": message,
            "timestamp": stamp,
        }  # fmt: skip

    def turn(name: str, parent: str | None, text: str) -> Records:
        first = said(f"{name}0", parent, "user", text)
        return [first, said(f"{name}1", f"{name}0", "assistant", f"to {text}")]

    head = {"type": "session", "version": 3, "id": S, "cwd": "/w", "timestamp": "2026-11-30"}
    common = [head, *turn("a", None, "one"), *turn("b", "a1", "two")]
    return common, [*turn("c", "b1", "here"), *turn("d", "c1", "on")], turn("e", "b1", "there")


def codex_files() -> tuple[Records, Records, Records]:
    def item(role: str, kind: str, text: str) -> dict[str, Any]:
        payload = {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}
        stamp = "2026-11-30T10:00:00.000Z"
        return {"timestamp": stamp, "type": "response_item", "payload": payload}

    def turn(text: str) -> Records:
        return [item("user", "input_text", text), item("assistant", "output_text", f"to {text}")]

    meta = {"id": S, "cwd": "/w", "timestamp": "2026-11-30T10:00:00.000Z"}
    head = {"timestamp": meta["timestamp"], "type": "session_meta", "payload": meta}
    return [head, *turn("one"), *turn("two")], [*turn("here"), *turn("on")], turn("there")


PATHS = {
    "claude": ("projects/-w-app/{}.jsonl", "projects/-w-copy/{}.jsonl"),
    "openclaw": ("agents/main/sessions/{}.jsonl", "agents/other/sessions/{}.jsonl"),
    "codex": (
        "sessions/2026/11/30/rollout-2026-11-30T10-00-00-{}.jsonl",
        "sessions/2026/12/01/rollout-2026-11-30T10-00-00-{}.jsonl",
    ),
}
FILES: dict[str, Callable[[], tuple[Records, Records, Records]]] = {
    "claude": claude_files, "openclaw": claw_files, "codex": codex_files,
}  # fmt: skip
agents = pytest.mark.parametrize("agent", list(FILES))


def both(text: str) -> list[str]:
    return [text, f"to {text}"]


COMMON = [*both("one"), *both("two")]


def conversations(lab: AgentLab) -> tuple[list[str], list[str]]:
    """The session's, and the fork's, which is exactly one."""
    assert S in lab.sessions()
    [fork] = [name for name in lab.sessions() if name != S]
    assert fork.startswith(f"{S}~")
    row = lab.row(fork)
    assert (row.facts.relation, row.facts.parent_session) == ("fork", S)
    assert row.parent_id == lab.row(S).context_id
    assert row.facts.messages == sum(m.kind != "meta" for m in lab.show(fork).messages)
    return lab.said(S), lab.said(fork)


def stored(lab: AgentLab) -> list[str]:
    """All that was captured of both, record by record."""
    bodies = [
        json.dumps(json.loads(node.body), sort_keys=True)
        for name in lab.sessions()
        for node in lab.space.nodes(lab.row(name).context_id)
    ]
    return sorted(bodies)


@agents
@pytest.mark.parametrize("order", list(permutations((0, 1))), ids=["original", "copy"])
@pytest.mark.parametrize("apart", [True, False], ids=["two-runs", "one-run"])
def test_the_common_part_is_there_once(
    tmp_path: Path, agent: str, order: tuple[int, int], apart: bool
) -> None:
    lab = AgentLab(tmp_path, agent)
    common, mine, theirs = FILES[agent]()
    for place in order:
        lab.write(PATHS[agent][place].format(S), [*common, *(mine, theirs)[place]])
        if apart:
            lab.run()
    lab.run()
    here, there = [*COMMON, *both("here"), *both("on")], [*COMMON, *both("there")]
    assert sorted(conversations(lab)) == sorted([here, there])
    everything = [*common, *mine, *theirs]
    assert stored(lab) == sorted(json.dumps(record, sort_keys=True) for record in everything)
    if apart:
        assert lab.said(S) == (here, there)[order[0]]


@agents
@pytest.mark.parametrize("first", [0, 1])
def test_both_go_on_in_turns(tmp_path: Path, agent: str, first: int) -> None:
    lab = AgentLab(tmp_path, agent)
    common, mine, theirs = FILES[agent]()
    paths = [path.format(S) for path in PATHS[agent]]
    for path in paths:
        lab.write(path, common)
    lab.run()
    assert lab.sessions() == [S]
    halves = [(paths[0], mine[:-2]), (paths[1], theirs), (paths[0], mine[-2:])]
    for path, records in (halves[1], halves[0], halves[2]) if first else halves:
        lab.write(path, records)
        lab.run()
    here, there = [*COMMON, *both("here"), *both("on")], [*COMMON, *both("there")]
    assert sorted(conversations(lab)) == sorted([here, there])


@pytest.mark.parametrize("agent", ["claude", "openclaw"])
def test_a_copy_that_alone_goes_on_is_the_same_session(tmp_path: Path, agent: str) -> None:
    lab = AgentLab(tmp_path, agent)
    common, mine, _ = FILES[agent]()
    lab.write(PATHS[agent][0].format(S), common)
    lab.run()
    lab.write(PATHS[agent][1].format(S), [*common, *mine])
    lab.run()
    assert lab.sessions() == [S]
    assert lab.said(S) == [*COMMON, *both("here"), *both("on")]


@pytest.mark.parametrize("agent", ["claude", "openclaw"])
def test_a_file_written_anew_with_a_rewind_in_it_is_no_copy(tmp_path: Path, agent: str) -> None:
    """The same path, another inode: what it left is a branch, not another session."""
    lab = AgentLab(tmp_path, agent)
    common, _, theirs = FILES[agent]()
    path = lab.write(PATHS[agent][0].format(S), common)
    lab.run()
    fresh = shutil.copy(path, path.with_suffix(".tmp"))
    Path(fresh).replace(path)
    above = common[-3].get("uuid") or common[-3]["id"]
    key = "parentUuid" if agent == "claude" else "parentId"
    lab.write(PATHS[agent][0].format(S), [{**theirs[0], key: above}, *theirs[1:]])
    lab.run()
    assert lab.sessions() == [S]
    assert lab.said(S) == [*both("one"), *both("there")]
    assert lab.affected(S) == [("rewind", both("two"))]


@pytest.mark.parametrize("order", list(permutations((0, 1))), ids=["original", "copy"])
def test_a_copy_that_was_wound_back_is_a_fork_from_there(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    lab = AgentLab(tmp_path, "claude")
    common, mine, theirs = claude_files()
    back = {**theirs[0], "parentUuid": common[1]["uuid"]}
    for place in order:
        records = [*common, *((mine, [back, *theirs[1:]])[place])]
        lab.write(PATHS["claude"][place].format(S), records)
        lab.run()
    mains = [*COMMON, *both("here"), *both("on")]
    forks = [*both("one"), *both("there")]
    assert sorted(conversations(lab)) == sorted([mains, forks])
