"""Lists, look-ups and relations."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ultracontext.errors import NotFoundError, StoreError
from ultracontext.model import captured_context_id
from ultracontext.store import Checkpoint, SpaceStore


def fill(space: SpaceStore, make: Any, *rows: tuple[str, str, dict[str, Any]]) -> None:
    for agent, session, facts in rows:
        make.append(
            space, make.event(0, session=session, agent=agent),
            facts=[make.facts(session, agent, **facts)],
        )  # fmt: skip


def names(rows: list[Any]) -> list[str]:
    return [row.session_id for row in rows]


def test_newest_activity_first(space: SpaceStore, make: Any) -> None:
    fill(
        space, make,
        ("claude", "old", {"updated_at": "2026-01-01T00:00:00.000Z"}),
        ("codex", "new", {"updated_at": "2026-03-01T00:00:00.000Z"}),
        ("claude", "mid", {"updated_at": "2026-02-01T00:00:00.000Z"}),
    )  # fmt: skip
    assert names(space.contexts()) == ["new", "mid", "old"]
    assert names(space.contexts(limit=2)) == ["new", "mid"]
    assert names(space.contexts(limit=0)) == ["new", "mid", "old"]
    assert names(space.contexts(agent="claude")) == ["mid", "old"]
    assert names(space.contexts(since=datetime(2026, 2, 1, tzinfo=UTC))) == ["new", "mid"]


def test_activity_follows_the_events(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0, session="a", time_ms=1000))
    make.append(space, make.event(0, session="b", time_ms=2000))
    make.append(space, make.event(1, session="a", time_ms=3000))
    assert names(space.contexts()) == ["a", "b"]


def test_project_is_the_folder_or_below(space: SpaceStore, make: Any) -> None:
    paths = ["/w/app", "/w/app/sub", "/w/app2", "/w", "/w/app%_x", None]
    fill(space, make, *[("claude", f"s{i}", {"project_path": p}) for i, p in enumerate(paths)])
    assert sorted(names(space.contexts(project="/w/app"))) == ["s0", "s1"]
    assert sorted(names(space.contexts(project="/w/app/"))) == ["s0", "s1"]
    assert sorted(names(space.contexts(project="/w/app%"))) == []
    assert sorted(names(space.contexts(project="/"))) == ["s0", "s1", "s2", "s3", "s4"]


def test_sub_agents_are_hidden_unless_asked_for(space: SpaceStore, make: Any) -> None:
    fill(
        space, make,
        ("claude", "main", {}),
        ("claude", "agent-1", {"parent_session": "main", "relation": "subagent"}),
        ("claude", "fork", {"parent_session": "main", "relation": "fork"}),
    )  # fmt: skip
    assert sorted(names(space.contexts())) == ["fork", "main"]
    assert sorted(names(space.contexts(children=True))) == ["agent-1", "fork", "main"]
    assert space.find("agent-1").parent_id == captured_context_id("claude", "main")


def test_find_by_id_session_or_unique_prefix(space: SpaceStore, make: Any) -> None:
    fill(
        space, make, ("claude", "0199-aaaa", {}), ("codex", "0199-bbbb", {}), ("codex", "0199", {})
    )
    row = space.find("0199-aaaa")
    assert space.find(row.context_id) == row
    assert space.find(row.context_id[:20]) == row
    assert space.find("0199-a") == row
    assert space.find("0199").session_id == "0199"
    for missing in ("019", "0198", "%199", "____", "", "0199-a\0", "\ud800\ud800\ud800\ud800"):
        with pytest.raises(NotFoundError) as caught:
            space.find(missing)
        assert caught.value.hint


def test_ambiguous_names_name_their_candidates(space: SpaceStore, make: Any) -> None:
    fill(space, make, *[("claude", f"abcd-{i}", {}) for i in range(9)])
    fill(space, make, ("claude", "same", {}), ("codex", "same", {}))
    with pytest.raises(StoreError) as caught:
        space.find("abcd")
    assert caught.value.code == "ambiguous"
    assert str(caught.value).count("ctx_") == 5
    with pytest.raises(StoreError, match="codex same"):
        space.find("same")
    assert space.by_session("codex", "same") is not None
    assert space.by_session("codex", "none") is None


def test_relation_set_by_hand_outlives_facts(space: SpaceStore, make: Any) -> None:
    fill(space, make, ("codex", "origin", {}), ("claude", "here", {}))
    here = space.find("here").context_id
    space.set_relation(here, parent_session="origin", relation="switch")
    fill_again = make.facts("here", title="later")
    make.append(space, make.event(1, session="here"), facts=[fill_again])
    row = space.find("here")
    assert (row.facts.relation, row.facts.parent_session) == ("switch", "origin")
    assert row.parent_id == captured_context_id("codex", "origin")
    assert row.facts.title == "later"


def test_relation_of_nothing_is_an_error(space: SpaceStore) -> None:
    with pytest.raises(NotFoundError):
        space.set_relation(captured_context_id("claude", "x"), parent_session="y", relation="fork")


def test_nodes_of_nothing_are_none(space: SpaceStore) -> None:
    assert list(space.nodes(captured_context_id("claude", "x"))) == []


def test_children_are_counted_by_their_parent(space: SpaceStore, make: Any) -> None:
    child = {"relation": "subagent", "parent_session": "main"}
    fill(
        space, make,
        ("claude", "main", {}),
        ("claude", "a", child),
        ("claude", "b", child),
        ("codex", "c", child),
        ("claude", "fork", {"relation": "fork", "parent_session": "main"}),
    )  # fmt: skip
    counts = space.child_counts()
    assert counts[captured_context_id("claude", "main")] == 2
    assert sum(counts.values()) == 3


def test_source_paths_are_those_that_brought_the_nodes(space: SpaceStore, make: Any) -> None:
    make.append(
        space, make.event(0, source_id=1), make.event(1, source_id=2),
        make.event(0, session="other", source_id=2),
        checkpoints=[make.checkpoint(1, path="/a.jsonl"), make.checkpoint(2, path="/b.jsonl")],
    )  # fmt: skip
    one, other = (captured_context_id("claude", name) for name in ("s1", "other"))
    missing = captured_context_id("claude", "missing")
    assert space.source_paths([one, other, missing]) == {
        one: ["/a.jsonl", "/b.jsonl"],
        other: ["/b.jsonl"],
    }


def test_the_name_of_a_file_finds_its_session(space: SpaceStore, make: Any) -> None:
    def source(number: int, path: str) -> Checkpoint:
        return Checkpoint(
            source_id=number, agent="claude", path=path, path_digest=b"d", device=1, inode=number,
            fingerprint=b"f", fingerprint_length=1, size=1, mtime_ns=1, ctime_ns=1, position=1,
            ordinal=1, prefix=b"p",
        )  # fmt: skip

    checkpoints = [source(1, "/h/-w/other.jsonl"), source(2, "/h/-w/oth%r.jsonl")]
    make.append(space, make.event(0, session="s-one"), checkpoints=checkpoints)
    for name in ("other", "other.jsonl"):
        assert space.find(name).session_id == "s-one"
    for name in ("othe", "ther", "oth_r", "oth%r", "/h/-w/other.jsonl", "%", ""):
        with pytest.raises(NotFoundError):
            space.find(name)
    make.append(space, make.event(0, session="other"))
    assert space.find("other").session_id == "other"  # an id comes first
