"""The use cases of the original's guide to forks, at the store."""

from __future__ import annotations

import json

import pytest
from context_writer import Writer, message

from ultracontext.errors import InvalidIndexError
from ultracontext.model import ContextId
from ultracontext.store import NewMessage


def say(role: str, text: str, metadata: object = None) -> NewMessage:
    return message({"role": role, "content": text}, metadata)


@pytest.fixture
def baseline(writer: Writer) -> ContextId:
    name = writer.create()
    writer.append(name, say("system", "You are helpful."), say("user", "Help me write an email."))
    return name


@pytest.mark.parametrize("kind", ["formal", "casual"])
def test_compare_prompts(writer: Writer, baseline: ContextId, kind: str) -> None:
    forks = {tone: writer.fork(baseline, {"experiment": tone}) for tone in ("formal", "casual")}
    for tone, fork in forks.items():
        writer.append(fork, say("system", f"Write in a {tone} tone."))
    assert writer.texts(forks[kind])[-1] == f"Write in a {kind} tone."
    assert len(writer.texts(baseline)) == 2
    found = writer.space.list_contexts(filters={"experiment": kind}).contexts
    assert [info.context_id for info in found] == [forks[kind]]


def test_compare_models(writer: Writer, baseline: ContextId) -> None:
    models = ["one", "two", "three"]
    forks = {model: writer.fork(baseline, {"model": model}) for model in models}
    for model, fork in forks.items():
        writer.append(fork, say("assistant", f"by {model}"))
    for model, fork in forks.items():
        assert writer.texts(fork)[2:] == [f"by {model}"]


def test_checkpoint_by_metadata_then_fork_to_its_index(writer: Writer) -> None:
    name = writer.create()
    writer.append(name, "read", message("indexed", {"checkpoint": "codebase_indexed"}), "went on")
    index = next(
        m.index for m in writer.messages(name)
        if m.metadata.get("checkpoint") == "codebase_indexed"
    )  # fmt: skip
    fork = writer.fork(name, at=index)
    writer.append(fork, "from here")
    assert writer.texts(fork) == ["read", "indexed", "from here"]


def test_rollback_after_an_error_with_the_version_noted_before(writer: Writer) -> None:
    name = writer.conversation("start")
    noted = writer.space.context(name).version
    writer.say(name, 0, "spoiled")
    fork = writer.fork(name, {"rolled_back_from": name, "error": "boom"}, version=noted)
    assert writer.texts(fork) == ["start"]


def test_rollback_of_a_step_that_had_appended(writer: Writer) -> None:
    name = writer.conversation("start")
    noted = writer.checkpoint(name).version - 1
    writer.append(name, "half of the step")
    fork = writer.fork(name, version=noted)
    assert writer.texts(fork) == ["start"]
    assert writer.texts(name) == ["start", "half of the step"]


def test_fifty_branches_are_found_by_what_they_branched_from(writer: Writer) -> None:
    name = writer.conversation(*"abcdef")
    other = writer.conversation("x")
    made = [
        writer.fork(name, {"branched_from": name, "branch_point": n % 6}, at=n % 6)
        for n in range(50)
    ]
    writer.fork(other, {"branched_from": other})
    found, cursor = list[str](), None
    while True:
        page = writer.space.list_contexts(filters={"branched_from": name}, cursor=cursor)
        found += [info.context_id for info in page.contexts]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert found == made[::-1]
    at_two = writer.space.list_contexts(filters={"branched_from": name, "branch_point": "2"})
    assert len(at_two.contexts) == 8
    assert {info.context_id for info in writer.space.forks(name)} == set(made)


def test_branch_before_the_first_message_is_refused(writer: Writer) -> None:
    name = writer.conversation("a")
    with pytest.raises(InvalidIndexError):
        writer.fork(name, at=0 - 1)


def test_all_combined_in_order(writer: Writer) -> None:
    name = writer.conversation("a", "b", "c", "d", "e")
    writer.say(name, 0, "A")
    writer.append(name, "f")
    writer.remove(name, 1)
    times = [m.created_at for m in writer.messages(name, version=1)]
    fork = writer.fork(name, version=1, before=times[3], at=2)
    assert [json.loads(m.content)["content"] for m in writer.messages(fork)] == ["A", "b", "c"]
