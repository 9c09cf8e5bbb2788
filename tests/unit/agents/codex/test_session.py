from __future__ import annotations

import pytest
from rollouts import Native, Reading, Say

from ultracontext.agents.codex.session import spawned_by, title_of

OTHER = "01a22cd6-0000-7000-8000-0000000000aa"


def count(total: int, last: int) -> Native:
    def usage(n: int) -> Native:
        return {"input_tokens": n, "output_tokens": 0, "cached_input_tokens": n}

    return {"total_token_usage": usage(total), "last_token_usage": usage(last)}


def test_facts_come_from_meta_and_turn_context(read: Reading, say: Say) -> None:
    git = {"branch": "main", "repository_url": "https://user:tok@en@host.example/o/r.git"}
    facts = read(
        say.meta(cwd="/w/新聞", git=git, cli_version="0.125.0"),
        say.record("turn_context", {"cwd": "/elsewhere", "model": "gpt-5.1"}),
        *say.turn("Hello\n  there", "hi"),
        say.record("turn_context", {"model": "gpt-5.5"}, "2026-11-30T10:05:00.000Z"),
    ).facts
    assert facts.project_path == "/w/新聞"
    assert facts.model == "gpt-5.5"
    assert facts.agent_version == "0.125.0"
    assert (facts.git_branch, facts.git_remote) == ("main", "https://host.example/o/r.git")
    assert (facts.started_at, facts.updated_at) == (
        "2026-11-30T10:00:00.000Z",
        "2026-11-30T10:05:00.000Z",
    )
    assert (facts.title, facts.title_source) == ("Hello there", "prompt")


def test_ssh_remotes_stay(read: Reading, say: Say) -> None:
    remote = "git@github.com:o/r.git"
    assert read(say.meta(git={"repository_url": remote})).facts.git_remote == remote


def test_folder_is_unknown_rather_than_guessed(read: Reading, say: Say) -> None:
    assert read(say.meta(cwd=None), *say.turn("a", "b")).facts.project_path is None
    context = say.record("turn_context", {"cwd": "/w2"})
    assert read(say.meta(cwd=None), context).facts.project_path == "/w2"


def test_a_given_name_beats_the_prompt_and_the_last_one_counts(read: Reading, say: Say) -> None:
    names = [{"id": say.SESSION, "thread_name": name, "updated_at": "x"} for name in ("One", "Two")]
    facts = read(names[0], say.meta(), *say.turn("a", "b"), names[1]).facts
    assert (facts.title, facts.title_source) == ("Two", "name")


def test_a_title_that_only_repeats_the_prompt_is_no_name(read: Reading, say: Say) -> None:
    turn = say.turn("Please fix the sum in app.py", "ok")
    for name in ("Please fix the sum in app.py", "Please fix the sum…", "Please fix"):
        facts = read(say.meta(), *turn, {"id": say.SESSION, "thread_name": name}).facts
        assert (facts.title, facts.title_source) == ("Please fix the sum in app.py", "prompt")


def test_a_name_taken_away_or_odd_leaves_the_prompt(read: Reading, say: Say) -> None:
    for name in ("", None, 7, ["x"]):
        facts = read(say.meta(), *say.turn("a", "b"), {"id": "x", "thread_name": name}).facts
        assert (facts.title, facts.title_source) == ("a", "prompt")


def test_names_alone_make_no_session_with_messages(read: Reading, say: Say) -> None:
    facts = read(
        {"id": say.SESSION, "thread_name": "N", "updated_at": "2026-11-30T10:00:00Z"}
    ).facts
    assert (facts.messages, facts.started_at, facts.updated_at) == (0, None, None)


def test_titles_are_one_line_of_at_most_200_characters() -> None:
    assert title_of("a\n\n b\tc") == "a b c"
    assert len(title_of("x" * 500)) == 200
    ide = "# Context from my IDE setup:\n\n- a.py\n\n## My request for Codex:\nFix it\n"
    assert title_of(ide) == "Fix it"


def test_usage_is_counted_once_though_it_is_repeated(read: Reading, say: Say) -> None:
    lines = [count(1000, 1000), count(1000, 1000), None, count(3000, 2000), count(3000, 2000)]
    events = [say.event("token_count", info=info) for info in lines]
    assert read(say.meta(), *events).facts.tokens == 3000


def test_usage_of_a_thread_that_began_before_counts_from_here(read: Reading, say: Say) -> None:
    events = [say.event("token_count", info=info) for info in (count(9000, 500), count(9700, 700))]
    assert read(say.meta(), *events).facts.tokens == 1200


def test_usage_that_begins_again_is_added(read: Reading, say: Say) -> None:
    events = [say.event("token_count", info=info) for info in (count(900, 900), count(300, 300))]
    assert read(say.meta(), *events).facts.tokens == 1200


def test_usage_records_count_where_there_is_nothing_else(read: Reading, say: Say) -> None:
    def used(response: str, n: int) -> Native:
        payload = {"response_id": response, "usage": {"input_tokens": n, "output_tokens": 5}}
        return say.record("token_usage_record", payload)

    assert read(say.meta(), used("r1", 100), used("r1", 100), used("r2", 10)).facts.tokens == 120


def test_copied_usage_of_a_fork_is_not_counted_again(read: Reading, say: Say) -> None:
    old = say.record("event_msg", {"type": "token_count", "info": count(500, 500)})
    old["timestamp"] = "2026-11-29T10:00:00.000Z"
    new = say.event("token_count", info=count(700, 200))
    assert read(say.meta(forked_from_id=OTHER), say.meta(OTHER), old, new).facts.tokens == 200


def test_fork_by_copy_names_its_source(read: Reading, say: Say) -> None:
    facts = read(say.meta(forked_from_id=OTHER), say.meta(OTHER, cwd="/other")).facts
    assert (facts.relation, facts.parent_session, facts.base) == ("fork", OTHER, None)
    assert facts.project_path == "/w"


def test_old_fork_without_mark_is_told_by_the_second_meta(read: Reading, say: Say) -> None:
    facts = read(say.meta(), say.meta(OTHER)).facts
    assert (facts.relation, facts.parent_session) == ("fork", OTHER)


def test_a_meta_written_again_on_resume_is_no_fork(read: Reading, say: Say) -> None:
    facts = read(say.meta(), *say.turn("a", "b"), say.meta(cli_version="0.130.0")).facts
    assert (facts.relation, facts.agent_version) == (None, "0.130.0")


def test_fork_by_history_base(read: Reading, say: Say) -> None:
    base = {"thread_id": OTHER, "end_ordinal_exclusive": 29, "end_byte_offset": 7}
    facts = read(say.meta(history_base=base, forked_from_id=OTHER)).facts
    assert (facts.relation, facts.parent_session) == ("fork", OTHER)
    assert facts.base is not None
    assert (facts.base.session_id, facts.base.end, facts.base.unit) == (OTHER, 29, "native")


@pytest.mark.parametrize(
    ("more", "parent"),
    [
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "p", "depth": 1}}}}, "p"),
        ({"source": {"subAgent": {"threadSpawn": {"parentThreadId": "p"}}}}, "p"),
        ({"source": {"subagent": "review"}, "parent_thread_id": "p"}, "p"),
        ({"source": {"subagent": "review"}, "session_id": "p"}, "p"),
        ({"source": {"subagent": {"other": "guardian"}}}, ""),
        ({"source": "cli", "thread_source": "subagent", "parent_thread_id": "p"}, "p"),
        ({"source": "cli", "thread_source": "user", "session_id": "p"}, None),
        ({"source": {"custom": "tool"}}, None),
        ({"source": None}, None),
    ],
)
def test_sub_agents_are_told_in_several_shapes(more: Native, parent: str | None) -> None:
    assert spawned_by({"id": "own", **more}) == parent


def test_sub_agent_is_linked_even_when_it_was_forked(read: Reading, say: Say) -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": OTHER}}}
    facts = read(say.meta(source=source, forked_from_id=OTHER), say.meta(OTHER)).facts
    assert (facts.relation, facts.parent_session) == ("subagent", OTHER)


def test_unknown_kinds_are_counted_and_bounded(read: Reading, say: Say) -> None:
    odd = [say.record(f"future_{n}", {}) for n in range(300)]
    facts = read(say.meta(), *odd, say.event("new_event"), say.item({"type": "new_item"})).facts
    assert facts.unknown["future_1"] == 1
    assert len(facts.unknown) <= 101
    assert sum(facts.unknown.values()) == 302
    assert facts.messages == 0
