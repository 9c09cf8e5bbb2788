"""Contexts with history: what every store does alike."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from context_writer import START, Writer, message, to

from ultracontext.errors import (
    ConflictError,
    InvalidCursorError,
    InvalidIndexError,
    InvalidMessageError,
    MessageNotFoundError,
    NotFoundError,
    SourceNotFoundError,
    VersionConflictError,
    VersionNotFoundError,
)
from ultracontext.model import ContextId, MessageId
from ultracontext.store import Fork, SpaceStore, Update

NOWHERE = ContextId("ctx_" + "0" * 24)
SECOND = timedelta(seconds=1)


def ctx(number: int) -> ContextId:
    return ContextId(f"ctx_{number:024x}")


def msg(number: int) -> MessageId:
    return MessageId(f"msg_{number:024x}")


class TestAppend:
    def test_messages_are_numbered_through(self, writer: Writer) -> None:
        name = writer.create()
        first = writer.append(name, "a", "b")
        second = writer.append(name, "c")
        assert [m.message.index for m in first.messages + second.messages] == [0, 1, 2]
        assert (first.version, second.version) == (0, 0)
        assert writer.texts(name) == ["a", "b", "c"]

    def test_content_metadata_and_times_come_back(self, writer: Writer) -> None:
        name = writer.create()
        writer.append(name, message({"role": "tool", "x": [1, None]}, {"k": None}))
        (found,) = writer.messages(name)
        assert json.loads(found.content) == {"role": "tool", "x": [1, None]}
        assert (found.metadata, found.created_at) == ({"k": None}, writer.now)
        assert found.message_id.startswith("msg_")
        assert len(found.message_id) == 28

    @pytest.mark.parametrize("content", [b"[]", b"null", b'"text"', b"7", b"{", b"", b"\xff"])
    def test_only_an_object_is_a_message(self, writer: Writer, content: bytes) -> None:
        name = writer.conversation("a")
        with pytest.raises(InvalidMessageError):
            writer.append(name, "b", message(content))
        assert writer.texts(name) == ["a"]

    def test_same_id_again_is_a_duplicate_and_other_content_a_conflict(
        self, writer: Writer
    ) -> None:
        name = writer.create()
        writer.append(name, message("a", message_id=msg(1)))
        again = writer.append(name, message("a", message_id=msg(1)), "b")
        assert [m.duplicate for m in again.messages] == [True, False]
        assert again.messages[0].message.index == 0
        with pytest.raises(ConflictError):
            writer.append(name, message("other", message_id=msg(1)))
        with pytest.raises(ConflictError):
            writer.append(writer.create(), message("a", message_id=msg(1)))
        assert writer.texts(name) == ["a", "b"]

    def test_event_id_is_stored_once_whatever_its_content(self, writer: Writer) -> None:
        name, other = writer.create(), writer.create()
        writer.append(name, message("a", event_id="e1"))
        again = writer.append(
            name, message("b", event_id="e1"), message("c", event_id="e2"),
            message("d", event_id="e2"),
        )  # fmt: skip
        assert [m.duplicate for m in again.messages] == [True, False, True]
        assert json.loads(again.messages[0].message.content)["content"] == "a"
        assert writer.texts(name) == ["a", "c"]
        assert not writer.append(other, message("a", event_id="e1")).messages[0].duplicate

    def test_duplicate_of_an_edited_message_has_no_index(self, writer: Writer) -> None:
        name = writer.create()
        writer.append(name, message("a", message_id=msg(1)))
        writer.say(name, 0, "b")
        again = writer.append(name, message("a", message_id=msg(1)))
        assert (again.messages[0].duplicate, again.messages[0].message.index) == (True, -1)

    def test_operation_is_done_once(self, writer: Writer) -> None:
        name = writer.create()
        first = writer.append(name, "a", "b", operation_id="op")
        again = writer.append(name, "a", "b", operation_id="op")
        assert [m.duplicate for m in again.messages] == [True, True]
        assert [m.message.message_id for m in again.messages] == [
            m.message.message_id for m in first.messages
        ]
        assert writer.texts(name) == ["a", "b"]
        with pytest.raises(ConflictError):
            writer.append(name, "other", operation_id="op")

    def test_nothing_to_append_changes_nothing(self, writer: Writer) -> None:
        name = writer.conversation("a")
        assert writer.append(name).messages == []
        assert writer.texts(name) == ["a"]


class TestEdit:
    def test_by_id_index_and_negative_index(self, writer: Writer) -> None:
        name = writer.conversation("a", "b", "c", "d")
        ids = writer.ids(name)
        made = writer.edit(name, to(ids[0], "A"), to(1, "B"), to(-1, "D"))
        assert made.version == 1
        assert made.affected == [ids[0], ids[1], ids[3]]
        assert writer.texts(name) == ["A", "B", "c", "D"]
        assert writer.texts(name, version=0) == ["a", "b", "c", "d"]

    def test_unchanged_messages_keep_their_ids_and_all_their_times(self, writer: Writer) -> None:
        name = writer.conversation("a", "b", "c")
        before = writer.messages(name)
        writer.say(name, 1, "B")
        after = writer.messages(name)
        assert [m.message_id for m in after][::2] == [m.message_id for m in before][::2]
        assert after[1].message_id != before[1].message_id
        assert after[1].parent_id == before[1].message_id
        assert [m.created_at for m in after] == [m.created_at for m in before]

    def test_keys_stay_unless_they_are_removed_and_null_is_a_value(self, writer: Writer) -> None:
        name = writer.create()
        writer.append(name, message({"a": 1, "b": 2, "c": 3}, {"m": 1, "n": 2}))
        writer.edit(name, Update(index=0, changes=b'{"b":null,"d":4}', remove_keys=["c", "none"]))
        (found,) = writer.messages(name)
        assert found.content == b'{"a":1,"b":null,"d":4}'
        assert found.metadata == {"m": 1, "n": 2}
        writer.edit(name, Update(index=0, metadata={"m": None}, remove_metadata_keys=["n"]))
        (found,) = writer.messages(name)
        assert found.metadata == {"m": None}
        assert found.content == b'{"a":1,"b":null,"d":4}'
        assert writer.messages(name, version=1)[0].metadata == {"m": 1, "n": 2}

    def test_last_change_of_one_message_wins_whole(self, writer: Writer) -> None:
        name = writer.create()
        writer.append(name, {"a": 1, "b": 1})
        (one,) = writer.ids(name)
        made = writer.edit(
            name, Update(index=0, changes=b'{"a":2}'), Update(message_id=one, changes=b'{"b":2}')
        )
        assert made.affected == [one, one]
        assert json.loads(writer.messages(name)[0].content) == {"a": 1, "b": 2}

    def test_ids_of_older_versions_are_not_found(self, writer: Writer) -> None:
        name, other = writer.conversation("a"), writer.conversation("x")
        (old,) = writer.ids(name)
        writer.say(name, old, "A")
        for wrong in (old, msg(5), MessageId("nonsense"), writer.ids(other)[0], MessageId("")):
            with pytest.raises(MessageNotFoundError) as caught:
                writer.say(name, wrong, "B")
            assert caught.value.message_id == wrong
        assert writer.texts(name) == ["A"]

    @pytest.mark.parametrize("index", [2, -3, 10**30])
    def test_index_out_of_range(self, writer: Writer, index: int) -> None:
        name = writer.conversation("a", "b")
        with pytest.raises(InvalidIndexError) as caught:
            writer.say(name, index, "c")
        assert (caught.value.index, caught.value.code) == (index, "index-range")

    def test_a_failing_change_changes_nothing(self, writer: Writer) -> None:
        name = writer.conversation("a", "b")
        with pytest.raises(MessageNotFoundError):
            writer.edit(name, to(0, "A"), to(msg(1), "B"))
        with pytest.raises(InvalidMessageError):
            writer.edit(name, to(0, "A"), Update(index=1, changes=b"[]"))
        assert writer.texts(name) == ["a", "b"]
        assert writer.space.context(name).version == 0

    def test_checkpoint_seals_the_version(self, writer: Writer) -> None:
        name = writer.conversation("a")
        assert writer.checkpoint(name).version == 1
        writer.append(name, "b")
        assert writer.texts(name, version=0) == ["a"]
        assert writer.texts(name) == ["a", "b"]

    def test_operation_is_done_once(self, writer: Writer) -> None:
        name = writer.conversation("a", "b")
        first = writer.say(name, 0, "A", operation_id="op")
        writer.say(name, 1, "B")
        again = writer.say(name, 0, "A", operation_id="op")
        assert (again.version, again.affected) == (first.version, first.affected)
        assert (first.duplicate, again.duplicate) == (False, True)
        with pytest.raises(ConflictError):
            writer.say(name, 0, "other", operation_id="op")
        with pytest.raises(ConflictError):
            writer.remove(name, 0, operation_id="op")
        assert writer.space.context(name).version == 2

    def test_expected_version(self, writer: Writer) -> None:
        name = writer.conversation("a")
        writer.say(name, 0, "b", expected_version=0)
        calls: list[Any] = [
            lambda: writer.say(name, 0, "c", expected_version=0),
            lambda: writer.remove(name, 0, expected_version=0),
            lambda: writer.checkpoint(name, expected_version=2),
            lambda: writer.append(name, "d", expected_version=0),
            lambda: writer.set_metadata(name, {"a": 1}, expected_version=0),
        ]
        for call in calls:
            with pytest.raises(VersionConflictError) as caught:
                call()
            assert caught.value.version == 1
        assert writer.texts(name) == ["b"]


class TestRemove:
    def test_by_id_and_index_at_once(self, writer: Writer) -> None:
        name = writer.conversation("a", "b", "c", "d", "e")
        ids = writer.ids(name)
        made = writer.remove(name, ids[1], 0, -1, 0)
        assert made.affected == [ids[1], ids[0], ids[4], ids[0]]
        assert writer.texts(name) == ["c", "d"]
        assert writer.texts(name, version=0) == ["a", "b", "c", "d", "e"]

    def test_everything_can_be_removed_and_written_on(self, writer: Writer) -> None:
        name = writer.conversation("a", "b")
        writer.remove(name, 0, 1)
        assert writer.texts(name) == []
        assert writer.append(name, "c").messages[0].message.index == 0
        assert writer.texts(name) == ["c"]

    def test_indexes_go_on_over_removed_messages(self, writer: Writer) -> None:
        name = writer.create()
        writer.append(name, *[str(n) for n in range(700)])
        gone = [*range(0, 300, 3), 511, 512, 699]
        writer.remove(name, *gone)
        left = [str(n) for n in range(700) if n not in gone]
        assert writer.texts(name) == left
        for index in (0, 1, 199, 200, 201, 400, -1, -250):
            writer.say(name, index, f"new {index}")
            left[index] = f"new {index}"
        assert writer.texts(name) == left
        assert writer.texts(name, first=190, at=205) == left[190:206]
        assert writer.texts(name, last=7) == left[-7:]
        assert (
            writer.texts(name, version=1, first=3, last=500)
            == [str(n) for n in range(700) if n not in gone][-500:]
        )
        assert writer.space.context(name).messages == len(left)


class TestRead:
    def test_windows(self, writer: Writer) -> None:
        name = writer.conversation(*"abcdef")
        assert writer.texts(name, first=2) == list("cdef")
        assert writer.texts(name, last=2) == list("ef")
        assert writer.texts(name, first=1, last=3) == list("def")
        assert writer.texts(name, at=3, last=2) == list("cd")
        assert writer.texts(name, first=9) == []
        assert writer.texts(name, last=0) == []
        reading = writer.space.read(name, at=3, last=1)
        assert (reading.total, reading.version) == (4, 0)
        assert [m.index for m in reading.messages] == [3]

    def test_version_then_before_then_at(self, writer: Writer) -> None:
        name = writer.conversation("a", "b", "c")  # at 2, 3, 4
        writer.say(name, 1, "B")  # at 5
        writer.append(name, "d")  # at 6
        writer.remove(name, 0)  # at 7
        assert writer.texts(name, before=START + 3 * SECOND) == ["a", "b"]
        assert writer.texts(name, before=START + 4.5 * SECOND) == ["a", "b", "c"]
        assert writer.texts(name, before=START + 5 * SECOND) == ["a", "B", "c"]
        assert writer.texts(name, before=START + 6 * SECOND) == ["a", "B", "c", "d"]
        assert writer.texts(name, before=START + 99 * SECOND) == ["B", "c", "d"]
        assert writer.texts(name, version=1, before=START + 4 * SECOND) == ["a", "B", "c"]
        assert writer.texts(name, version=1, before=START + 4 * SECOND, at=1) == ["a", "B"]
        assert writer.texts(name, version=0, at=0) == ["a"]
        assert writer.texts(name, version=2, before=START) == []

    def test_faults(self, writer: Writer) -> None:
        name = writer.conversation("a")
        for version in (1, -1, 10**30):
            with pytest.raises(VersionNotFoundError) as missing:
                writer.texts(name, version=version)
            assert missing.value.code == "version-not-found"
        with pytest.raises(VersionNotFoundError) as missing:
            writer.texts(name, before=START)
        assert missing.value.code == "no-version-before"
        with pytest.raises(InvalidIndexError) as wrong:
            writer.texts(name, at=-1)
        assert wrong.value.code == "invalid-index"
        with pytest.raises(InvalidIndexError) as wrong:
            writer.texts(name, at=1)
        assert wrong.value.code == "index-range"
        with pytest.raises(InvalidIndexError):
            writer.texts(writer.create(), at=0)

    @pytest.mark.parametrize("name", ["ctx_" + "0" * 24, "", "ctx_", "msg_" + "0" * 24, "\0\udc00"])
    def test_unknown_context(self, writer: Writer, name: str) -> None:
        unknown = ContextId(name)
        calls: list[Any] = [
            lambda: writer.space.read(unknown),
            lambda: writer.space.context(unknown),
            lambda: writer.space.versions(unknown),
            lambda: writer.space.log(unknown),
            lambda: writer.space.forks(unknown),
            lambda: writer.space.verify(unknown),
            lambda: writer.space.diff(unknown, 0, 0),
            lambda: writer.append(unknown, "a"),
            lambda: writer.checkpoint(unknown),
            lambda: writer.remove(unknown, 0),
            lambda: writer.set_metadata(unknown, {"a": 1}),
            lambda: writer.wipe(unknown),
            lambda: writer.fork(unknown),
        ]
        for call in calls:
            with pytest.raises(NotFoundError):
                call()

    def test_reading_shows_the_state_of_its_call(self, writer: Writer) -> None:
        name = writer.create()
        writer.append(name, *[str(n) for n in range(450)])
        reading = writer.space.read(name)
        first = next(reading.messages)
        writer.append(name, "later")
        writer.say(name, 449, "changed")
        writer.remove(name, 300)
        rest = [json.loads(m.content)["content"] for m in reading.messages]
        assert json.loads(first.content)["content"] == "0"
        assert rest == [str(n) for n in range(1, 450)]

    def test_history(self, writer: Writer) -> None:
        name = writer.conversation("a", "b")
        ids = writer.ids(name)
        writer.say(name, 0, "A", metadata={"operation": "mine", "affected": 1})
        writer.remove(name, 1)
        writer.checkpoint(name, metadata={"why": "sure"})
        assert writer.space.read(name).versions is None
        versions = writer.space.read(name, history=True, version=0).versions
        assert versions == writer.space.versions(name)
        assert [v.version for v in versions] == [0, 1, 2, 3]
        assert [v.operation for v in versions] == ["create", "update", "delete", "update"]
        assert [v.affected for v in versions] == [None, [ids[0]], [ids[1]], []]
        assert [v.metadata for v in versions] == [
            None, {"operation": "mine", "affected": 1}, None, {"why": "sure"},
        ]  # fmt: skip
        assert len({v.version_id for v in versions}) == 4
        assert [v.created_at for v in versions] == sorted(v.created_at for v in versions)


class TestCreate:
    def test_id_of_the_writer(self, writer: Writer) -> None:
        first = writer.created(ctx(1), metadata={"a": 1})
        again = writer.created(ctx(1), metadata={"a": 2})
        assert (first.duplicate, again.duplicate) == (False, True)
        assert again.metadata == {"a": 1}
        assert again.created_at == first.created_at
        source = writer.conversation("x")
        with pytest.raises(ConflictError):
            writer.created(ctx(1), origin=Fork(source=source))
        for wrong in ("ctx_1", "CTX_" + "0" * 24, "", "ctx_" + "g" * 24):
            with pytest.raises(InvalidMessageError):
                writer.created(ContextId(wrong))

    @pytest.mark.parametrize("metadata", [{}, {"a": {"b": None}}, [1], "text", None, 7])
    def test_metadata_comes_back_as_it_was(self, writer: Writer, metadata: Any) -> None:
        made = writer.created(metadata=metadata)
        assert made.metadata == metadata
        assert writer.space.context(made.context_id).metadata == metadata

    def test_clock_that_goes_back_does_not_reorder(self, writer: Writer) -> None:
        name = writer.conversation("a")
        writer.seconds -= 100
        writer.append(name, "b")
        writer.checkpoint(name)
        found = writer.messages(name)
        assert [m.created_at for m in found] == sorted(m.created_at for m in found)
        assert writer.texts(name, before=found[1].created_at) == ["a", "b"]


class TestFork:
    def test_holds_copies_with_ids_of_their_own(self, writer: Writer) -> None:
        name = writer.create(metadata={"a": 1})
        writer.append(name, message("a", {"m": 1}), "b")
        fork = writer.fork(name, {"f": 1})
        source, copies = writer.messages(name), writer.messages(fork)
        assert [m.parent_id for m in copies] == [m.message_id for m in source]
        assert [(m.content, m.metadata, m.created_at) for m in copies] == [
            (m.content, m.metadata, m.created_at) for m in source
        ]
        info = writer.space.context(fork)
        assert info.origin == Fork(source=name, version=0)
        assert (info.metadata, info.version, info.messages) == ({"f": 1}, 0, 2)
        assert writer.space.versions(fork)[0].operation == "create"

    def test_by_version_time_and_index_in_this_order(self, writer: Writer) -> None:
        name = writer.conversation("a", "b", "c")  # at 2, 3, 4
        writer.say(name, 1, "B")  # at 5
        writer.append(name, "d")  # at 6
        assert writer.texts(writer.fork(name)) == ["a", "B", "c", "d"]
        assert writer.texts(writer.fork(name, version=0)) == ["a", "b", "c"]
        assert writer.texts(writer.fork(name, before=START + 3 * SECOND)) == ["a", "b"]
        assert writer.texts(writer.fork(name, at=1)) == ["a", "B"]
        fork = writer.fork(name, version=1, before=START + 4 * SECOND, at=1)
        assert writer.texts(fork) == ["a", "B"]

    def test_does_not_follow_its_source_nor_the_source_the_fork(self, writer: Writer) -> None:
        name = writer.conversation("a", "b", "c")
        fork = writer.fork(name, at=1)
        writer.say(fork, 0, "fork")
        writer.append(fork, "more")
        writer.say(name, 0, "source")
        writer.remove(name, 1)
        assert writer.texts(fork) == ["fork", "b", "more"]
        assert writer.texts(name) == ["source", "c"]
        assert writer.texts(fork, version=0) == ["a", "b"]

    def test_of_forks_of_edited_contexts_stays_sound(self, writer: Writer) -> None:
        name = writer.conversation("a", "b", "c", "d")
        writer.say(name, 1, "B")
        writer.say(name, 1, "BB")
        writer.remove(name, 0)
        one = writer.fork(name)
        writer.say(one, 0, "B1")
        writer.append(one, "e")
        two = writer.fork(one)
        three = writer.fork(two, at=0)
        writer.append(three, "z")
        assert writer.texts(two) == ["B1", "c", "d", "e"]
        assert writer.texts(three) == ["B1", "z"]
        for context in (name, one, two, three):
            assert writer.space.verify(context).sound, context

    def test_faults(self, writer: Writer) -> None:
        name = writer.conversation("a")
        with pytest.raises(SourceNotFoundError):
            writer.fork(NOWHERE)
        with pytest.raises(VersionNotFoundError):
            writer.fork(name, version=1)
        with pytest.raises(VersionNotFoundError):
            writer.fork(name, before=START)
        for index in (-1, 1):
            with pytest.raises(InvalidIndexError):
                writer.fork(name, at=index)
        with pytest.raises(InvalidIndexError):
            writer.fork(writer.create(), at=0)
        assert len(writer.space.list_contexts().contexts) == 2

    def test_again_with_the_same_id_or_operation(self, writer: Writer) -> None:
        name = writer.conversation("a", "b")
        origin = Fork(source=name, at=0)
        first = writer.created(ctx(7), origin=origin)
        assert writer.created(ctx(7), origin=origin).duplicate
        for other in (Fork(source=name), Fork(source=name, at=1), None):
            with pytest.raises(ConflictError):
                writer.created(ctx(7), origin=other)
        made = writer.created(origin=origin, operation_id="op")
        again = writer.created(origin=origin, operation_id="op")
        assert (again.context_id, again.duplicate) == (made.context_id, True)
        assert made.context_id != first.context_id
        with pytest.raises(ConflictError):
            writer.created(origin=Fork(source=name), operation_id="op")

    def test_of_an_empty_context(self, writer: Writer) -> None:
        fork = writer.fork(writer.create())
        writer.append(fork, "a")
        assert writer.texts(fork) == ["a"]
        assert writer.space.verify(fork).sound


class TestMetadata:
    def test_is_edited_with_history(self, writer: Writer) -> None:
        name = writer.create(metadata={"a": 1, "b": 2})
        writer.set_metadata(name, {"a": None, "c": 3}, remove_keys=["b"])
        assert writer.space.context(name).metadata == {"a": None, "c": 3}
        assert writer.space.read(name).metadata == {"a": None, "c": 3}
        assert writer.space.read(name, version=0).metadata == {"a": 1, "b": 2}
        assert writer.space.versions(name)[1].context_metadata == {"a": None, "c": 3}
        assert writer.space.diff(name, 0, 1).metadata == ({"a": 1, "b": 2}, {"a": None, "c": 3})

    def test_that_is_no_object_cannot_be_edited(self, writer: Writer) -> None:
        name = writer.create(metadata=[1])
        with pytest.raises(InvalidMessageError):
            writer.set_metadata(name, {"a": 1})

    def test_lists_find_what_is_set_now(self, writer: Writer) -> None:
        name = writer.create(metadata={"a": "x"})
        writer.set_metadata(name, {"a": "y"})
        assert listed(writer.space, {"a": "x"}) == []
        assert listed(writer.space, {"a": "y"}) == [name]


def listed(space: SpaceStore, filters: dict[str, str] | None = None, **fields: Any) -> list[str]:
    page = space.list_contexts(filters=filters, **fields)
    return [info.context_id for info in page.contexts]


class TestList:
    def test_newest_first_with_ties_by_id(self, writer: Writer) -> None:
        for number in (3, 1, 2):
            writer.space.create(ctx(number), now=START)
        writer.space.create(ctx(0), now=START + SECOND)
        assert listed(writer.space) == [ctx(0), ctx(1), ctx(2), ctx(3)]

    def test_later_activity_does_not_reorder(self, writer: Writer) -> None:
        one, two = writer.create(), writer.create()
        writer.append(one, "a")
        assert listed(writer.space) == [two, one]

    def test_pages_hold_everything_once(self, writer: Writer) -> None:
        for number in range(23):
            writer.space.create(ctx(number), now=START + (number // 5) * SECOND)
        found, cursor = [], None
        for _ in range(10):
            page = writer.space.list_contexts(limit=5, cursor=cursor)
            found += [info.context_id for info in page.contexts]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert found == listed(writer.space, limit=1000)
        assert len(found) == 23

    def test_filters_compare_exactly(self, writer: Writer) -> None:
        name = writer.create(
            metadata={"s": "a\0b\udc00\\", "n": 12, "b": True, "f": 1.5, "o": {"s": 1}, "z": None}
        )
        writer.create(metadata={"s": "a", "n": 1})
        writer.create(metadata=["s"])
        for filters in ({"s": "a\0b\udc00\\"}, {"n": "12"}, {"b": "true"}, {"f": "1.5"}):
            assert listed(writer.space, filters) == [name], filters
        for filters in ({"s": "a\0b"}, {"n": "12.0"}, {"z": "null"}, {"x": ""}, {"s": "A"}):
            assert listed(writer.space, filters) == [], filters
        assert listed(writer.space, {"s": "a", "n": "12"}) == []

    def test_times_are_strict(self, writer: Writer) -> None:
        names = [writer.space.create(now=START + n * SECOND).context_id for n in range(3)]
        assert listed(writer.space, after=START + SECOND) == [names[2]]
        assert listed(writer.space, before=START + SECOND) == [names[0]]
        assert listed(writer.space, limit=0) == []

    @pytest.mark.parametrize("cursor", ["", "x", "é", "MTIz", "0" * 500, "\0"])
    def test_cursor_of_no_page(self, writer: Writer, cursor: str) -> None:
        with pytest.raises(InvalidCursorError):
            writer.space.list_contexts(cursor=cursor)


class TestDiff:
    def test_both_ways(self, writer: Writer) -> None:
        name = writer.conversation("a", "b", "c")
        writer.say(name, 1, "B")
        writer.remove(name, 0)
        writer.append(name, "d")
        found = writer.space.diff(name, 0, 2)
        assert [(m.index, json.loads(m.content)["content"]) for m in found.added] == [(2, "d")]
        assert [(m.index, json.loads(m.content)["content"]) for m in found.removed] == [(0, "a")]
        assert [(a.index, b.index) for a, b in found.changed] == [(1, 0)]
        back = writer.space.diff(name, 2, 0)
        assert [m.message_id for m in back.added] == [m.message_id for m in found.removed]
        assert [(a.index, b.index) for a, b in back.changed] == [(0, 1)]

    def test_of_a_version_with_itself_is_empty(self, writer: Writer) -> None:
        name = writer.conversation("a")
        writer.say(name, 0, "b")
        found = writer.space.diff(name, 1, 1)
        assert (found.added, found.removed, found.changed, found.metadata) == ([], [], [], None)
        with pytest.raises(VersionNotFoundError):
            writer.space.diff(name, 0, 2)


class TestLog:
    def test_names_what_was_done(self, writer: Writer) -> None:
        name = writer.conversation("a", "b")
        writer.say(name, 0, "A")
        writer.remove(name, 0)
        writer.set_metadata(name, {"a": 1})
        fork = writer.fork(name)
        entries = writer.space.log(name)
        assert [e.operation for e in entries] == ["create", "update", "delete", "metadata"]
        assert [e.messages for e in entries] == [2, 2, 1, 1]
        assert [e.affected for e in entries] == [0, 1, 1, 0]
        (entry,) = writer.space.log(fork)
        assert (entry.operation, entry.origin) == ("fork", name)
