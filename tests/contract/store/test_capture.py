"""What capture is promised by every store."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from ultracontext.model import Base, EventId, event_id, message_id
from ultracontext.store import SpaceStore
from ultracontext.store.base import NewVersion


def bodies(space: SpaceStore, session: str = "s1", **how: Any) -> list[bytes]:
    row = space.find(session)
    return [node.body for node in space.nodes(row.context_id, **how)]


def test_appended_events_are_read_in_order(space: SpaceStore, make: Any) -> None:
    make.append(space, *[make.event(i) for i in range(3)])
    make.append(space, *[make.event(i) for i in range(3, 700)])
    row = space.find("s1")
    nodes = list(space.nodes(row.context_id))
    assert [n.position for n in nodes] == list(range(700))
    assert [n.body for n in nodes] == [b'{"type":"user","n":%d}' % i for i in range(700)]
    assert row.nodes == 700
    assert row.version == 0


def test_window_of_nodes(space: SpaceStore, make: Any) -> None:
    make.append(space, *[make.event(i) for i in range(20)])
    assert len(bodies(space, first=5, until=8)) == 3
    assert bodies(space, first=19) == [b'{"type":"user","n":19}']
    assert bodies(space, first=20) == []


def test_sessions_of_one_batch_are_told_apart(space: SpaceStore, make: Any) -> None:
    mixed = [make.event(i, session=f"s{i % 3}") for i in range(9)]
    make.append(space, *mixed)
    assert bodies(space, "s0") == [b'{"type":"user","n":%d}' % i for i in (0, 3, 6)]
    assert len(space.contexts()) == 3


def test_event_that_is_stored_is_left_out_and_counted(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0), make.event(1))
    make.append(space, make.event(1), make.event(2), make.event(2), counts={"duplicates": 4})
    assert len(bodies(space)) == 3
    assert space.totals() == {"present": 2, "duplicates": 4}
    assert [n.position for n in space.nodes(space.find("s1").context_id)] == [0, 1, 2]


def test_known_events_with_and_without_dedup_rows(space: SpaceStore, make: Any) -> None:
    events = [make.event(i) for i in range(1200)]
    make.append(space, *events)
    ids = [e.event_id for e in events]
    known = space.known_events([*ids, EventId(b"?" * 16)])
    assert set(known) == set(ids)
    assert known[ids[5]].digest == events[5].record.digest
    assert known[ids[5]].source_id == 1
    assert space.purge_dedup(older_than=make.now + timedelta(days=1), now=make.now) == 1200
    assert set(space.known_events(ids)) == set(ids)
    assert space.known_events([]) == {}


def test_any_known_event_by_its_head(space: SpaceStore, make: Any) -> None:
    event = make.event(0)
    assert not space.knows_any(event.event_id[:4])
    make.append(space, event)
    assert space.knows_any(event.event_id[:4])
    assert space.knows_any(event.event_id)
    assert not space.knows_any(bytes(255 - byte for byte in event.event_id[:4]))
    space.purge_dedup(older_than=make.now + timedelta(days=1), now=make.now)
    assert space.knows_any(event.event_id[:4])


def test_dedup_status(space: SpaceStore, make: Any) -> None:
    assert space.dedup_status().purged_at is None
    events = [make.event(i) for i in range(5)]
    make.append(space, *events)
    space.known_events([events[0].event_id, events[1].event_id])
    assert space.dedup_status().rows == 5
    assert space.dedup_status().hits == 2
    make.append(space, make.event(9), now=make.now + timedelta(days=2))
    assert space.dedup_status().hits == 2
    purged = space.purge_dedup(older_than=make.now + timedelta(days=1), now=make.now)
    assert purged == 5
    assert space.dedup_status().rows == 1
    assert space.dedup_status().purged_at == make.now


def test_purge_with_the_clock_set_back_keeps_rows(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0))
    assert space.purge_dedup(older_than=make.now - timedelta(days=60), now=make.now) == 0


def test_checkpoints_round_trip(space: SpaceStore, make: Any) -> None:
    first, second = space.new_source_id(), space.new_source_id()
    assert first != second
    saved = [
        make.checkpoint(first, state={"turn": [1, "two", None], "big": 2**70}),
        make.checkpoint(second, branch="~00ff00ff", problem="io", gone=True, mode="skip"),
    ]
    make.append(space, checkpoints=saved)
    assert space.checkpoints() == saved
    make.append(space, checkpoints=[make.checkpoint(first, position=500)])
    assert space.checkpoints()[0].position == 500
    assert len(space.checkpoints()) == 2
    assert space.new_source_id() > second


def test_source_id_of_an_event_is_never_given_again(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0, source_id=41))
    assert space.new_source_id() > 41


def test_notes(space: SpaceStore) -> None:
    assert space.noted("roots") is None
    space.note("roots", {"claude": ["/a", "/b"]})
    space.note("roots", ["\ud800", 2**80, None])
    assert space.noted("roots") == ["\ud800", 2**80, None]


def test_totals_add_up(space: SpaceStore, make: Any) -> None:
    make.append(space, counts={"duplicates": 2, "skipped.vendor-request": 0})
    make.append(space, counts={"duplicates": 3})
    assert space.totals() == {"duplicates": 5}


def test_newest_revision_stands_at_the_place_of_the_first(space: SpaceStore, make: Any) -> None:
    make.append(space, *[make.event(i) for i in range(3)])
    make.append(space, make.event(1, revision=1, data=b'{"v":1}'))
    make.append(
        space,
        make.event(1, revision=2, data=b'{"v":2}'),
        make.event(3),
        make.event(3, revision=1, data=b'{"v":9}'),
    )
    assert bodies(space) == [
        b'{"type":"user","n":0}',
        b'{"v":2}',
        b'{"type":"user","n":2}',
        b'{"v":9}',
    ]
    every = list(space.nodes(space.find("s1").context_id, all_revisions=True))
    assert [(n.position, n.revision) for n in every] == [
        (0, 0), (1, 0), (1, 1), (1, 2), (2, 0), (3, 0), (3, 1),
    ]  # fmt: skip
    assert space.find("s1").nodes == 4


def test_older_revision_that_comes_late_does_not_win(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0), make.event(0, revision=2, data=b'{"v":2}'))
    make.append(space, make.event(0, revision=1, data=b'{"v":1}'))
    assert bodies(space) == [b'{"v":2}']


def test_revision_without_its_first_stands_by_itself(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(7, revision=1, data=b'{"v":1}'))
    assert bodies(space) == [b'{"v":1}']


def test_position_of(space: SpaceStore, make: Any) -> None:
    events = [make.event(i) for i in range(3)]
    make.append(space, *events)
    assert space.position_of(events[2].event_id) == 2
    assert space.position_of(EventId(b"0" * 16)) is None


def test_node_without_a_time_takes_the_one_before_marked(space: SpaceStore, make: Any) -> None:
    make.append(
        space, make.event(0), make.event(1, time_ms=5000), make.event(2), make.event(3,
        time_ms=10**30), checkpoints=[make.checkpoint(1, mtime_ns=4_000_000_000)],
    )  # fmt: skip
    context = space.find("s1").context_id
    times = [(n.time_ms, n.time_inherited) for n in space.nodes(context)]
    assert times == [(5000, True), (5000, False), (5000, True), (5000, True)]
    assert [n.time_ms for n in space.nodes(context, first=2)] == [5000, 5000]


def test_session_without_any_time_takes_the_files(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0), checkpoints=[make.checkpoint(1, mtime_ns=4_000_000_000)])
    (node,) = space.nodes(space.find("s1").context_id)
    assert (node.time_ms, node.time_inherited) == (4000, True)
    assert node.source_path == "/x.jsonl"


def test_facts_of_the_batch_are_fresh(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0), facts=[make.facts(title="T", messages=1)])
    row = space.find("s1")
    assert (row.facts.title, row.facts.messages, row.stale) == ("T", 1, False)
    make.append(space, make.event(1))
    assert space.find("s1").stale
    assert [r.session_id for r in space.stale(10)] == ["s1"]
    space.save_facts([make.facts(title="U")], nodes={row.context_id: 1})
    assert space.find("s1").facts.title == "T"
    space.save_facts([make.facts(title="U")], nodes={row.context_id: 2})
    assert (space.find("s1").facts.title, space.find("s1").stale) == ("U", False)
    assert space.stale(10) == []


def test_revision_makes_facts_stale(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0), facts=[make.facts()])
    make.append(space, make.event(0, revision=1))
    assert space.find("s1").stale


def test_facts_of_another_readers_code_are_stale(
    space: SpaceStore, make: Any, monkeypatch: Any
) -> None:
    make.append(space, make.event(0), facts=[make.facts()])
    monkeypatch.setattr("ultracontext.store.readers.reader_digest", lambda agent: b"newer")
    assert space.find("s1").stale
    assert len(space.stale(10)) == 1


def test_facts_with_odd_text(space: SpaceStore, make: Any) -> None:
    odd = "a\0b\ud800c\U0001f600"
    make.append(
        space, make.event(0), facts=[make.facts(title=odd, project_path=odd, unknown={odd: 2})]
    )
    facts = space.find("s1").facts
    assert (facts.title, facts.project_path, facts.unknown) == (odd, odd, {odd: 2})


def test_facts_of_no_session_are_passed_over(space: SpaceStore, make: Any) -> None:
    make.append(space, facts=[make.facts(session="nobody")])
    assert space.contexts() == []


def test_base_of_a_copy_is_kept_over_later_facts(space: SpaceStore, make: Any) -> None:
    update = make.facts()
    update.base = Base(session_id="s0", end=7, unit="position")
    update.facts = None
    make.append(space, make.event(0), facts=[update])
    make.append(space, make.event(1), facts=[make.facts(title="t")])
    assert space.find("s1").facts.base == Base(session_id="s0", end=7, unit="position")


def test_opaque_damaged_and_accompanied_records(space: SpaceStore, make: Any) -> None:
    huge = "long " * 200_000
    make.append(
        space,
        make.event(0, data=b"no json \x00 \xff at all", damage="cut"),
        make.event(1, companions={"spill": b"companion", "big": huge.encode()}),
        make.event(2, data=b"", too_large=(70_000_000, "ab" * 16)),
    )
    opaque, accompanied, large = space.nodes(space.find("s1").context_id)
    assert opaque.text is not None
    assert opaque.text.startswith("no json")
    assert (opaque.body, opaque.damage) == (b"", "cut")
    assert accompanied.companions == {"spill": "companion", "big": huge}
    assert (accompanied.start, accompanied.end) == (10, 19)
    assert large.too_large == (70_000_000, "ab" * 16)


def _back(*names: Any, **how: Any) -> NewVersion:
    return NewVersion(
        cause="rewind", first=tuple(event_id("claude", "s1", n) for n in names), **how
    )


def test_a_version_begins_with_an_event(space: SpaceStore, make: Any) -> None:
    make.append(space, *[make.event(i) for i in range(4)])
    make.append(space, make.event(4, version=_back(2)), make.event(5))
    make.append(space, make.event(6))
    row = space.find("s1")
    assert row.version == 1
    first, second = space.versions(row.context_id)
    assert (first.operation, first.affected) == ("create", None)
    assert (second.operation, second.metadata) == ("update", {"cause": "rewind", "position": 4})
    assert second.affected == [message_id(event_id("claude", "s1", n)) for n in (2, 3)]
    assert len(bodies(space, version=0)) == 4
    assert bodies(space, version=1) == bodies(space)
    assert len(bodies(space)) == 7
    assert space.verify(row.context_id).sound


def test_a_batch_may_hold_several_versions(space: SpaceStore, make: Any) -> None:
    compaction = NewVersion(cause="compaction")
    make.append(
        space,
        *[make.event(i) for i in range(3)],
        make.event(3, version=_back(1)),
        make.event(4),
        make.event(5, version=_back(1)),
        make.event(6, version=compaction),
        make.event(7, version=compaction),
    )
    row = space.find("s1")
    assert row.version == 4
    places = [v.metadata["position"] for v in space.versions(row.context_id)[1:]]
    assert places == [3, 5, 6, 7]
    names = {message_id(event_id("claude", "s1", n)): n for n in range(8)}
    affected = [[names[a] for a in v.affected or ()] for v in space.versions(row.context_id)[1:]]
    assert affected == [[1, 2], [3, 4], [0, 5], [6]]  # none is put aside twice
    assert [len(bodies(space, version=v)) for v in range(5)] == [3, 5, 6, 7, 8]
    assert space.verify(row.context_id).sound


def test_a_version_after_a_record_that_is_not_there_does_not_begin(
    space: SpaceStore, make: Any
) -> None:
    make.append(space, *[make.event(i) for i in range(4)])
    unknown, last = event_id("claude", "s1", 77), event_id("claude", "s1", 3)
    make.append(space, make.event(4, version=NewVersion(cause="rewind", after=(unknown,))))
    behind = NewVersion(cause="rewind", after=(last,), unless_behind=event_id("claude", "s1", 2))
    make.append(space, make.event(5, version=behind))
    assert space.find("s1").version == 0
    above = NewVersion(cause="rewind", after=(unknown, event_id("claude", "s1", 1)))
    make.append(space, make.event(6, version=above))
    assert space.find("s1").version == 1


def test_an_edit_in_place_in_a_later_version_leaves_the_earlier_one(
    space: SpaceStore, make: Any
) -> None:
    make.append(space, make.event(0, data=b'{"v":"old"}'), make.event(1))
    edit = make.event(0, revision=1, data=b'{"v":"new"}', version=_back(1))
    make.append(space, edit)
    assert bodies(space)[0] == b'{"v":"new"}'
    assert bodies(space, version=0)[0] == b'{"v":"old"}'
    row = space.find("s1")
    assert space.verify(row.context_id).sound


def test_an_event_that_is_stored_already_begins_no_version(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0), make.event(1, version=_back(0)))
    make.append(space, make.event(1, version=_back(0)))
    assert space.find("s1").version == 1


def test_a_streaming_revision_is_replaced(space: SpaceStore, make: Any) -> None:
    def content(revision: int, text: str, **how: Any) -> Any:
        data = b'{"text":"%s"}' % text.encode()
        return make.event(0, revision=revision, data=data, **how)

    make.append(space, content(0, "a"), make.event(1), facts=[make.facts("s1", "claude")])
    make.append(space, content(1, "ab"), make.event(2), facts=[make.facts("s1", "claude")])
    assert not space.find("s1").stale
    make.append(space, content(1, "abc", replaces=True))
    assert space.find("s1").stale
    make.append(space, content(1, "abcd", replaces=True))
    assert bodies(space)[0] == b'{"text":"abcd"}'
    contents = [b'{"text":"a"}', b'{"text":"abcd"}']
    assert bodies(space, all_revisions=True)[:2] == contents
    assert len(bodies(space)) == 3
    event = content(1, "abcd")
    assert space.known_events([event.event_id])[event.event_id].digest == event.record.digest
    make.append(space, content(2, "abcde"))
    assert bodies(space, all_revisions=True)[:3] == [*contents, b'{"text":"abcde"}']
    row = space.find("s1")
    assert row.nodes == 3
    assert space.verify(row.context_id).sound


def test_what_replaces_nothing_is_stored(space: SpaceStore, make: Any) -> None:
    make.append(space, make.event(0), make.event(0, revision=1, replaces=True))
    assert len(bodies(space, all_revisions=True)) == 2
