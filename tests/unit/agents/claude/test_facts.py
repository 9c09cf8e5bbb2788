"""What lists show of a session."""

from __future__ import annotations

from typing import Any

import pytest


def test_title_is_the_first_typed_prompt(read: Any, chain: Any) -> None:
    _, facts = read(
        chain.user("Caveat", isMeta=True), chain.user("<system-reminder>x</system-reminder>"),
        chain.user("<command-name>/clear</command-name>"),
        chain.user("  Fix\n\n it "), chain.user("No"),
    )  # fmt: skip
    assert (facts.title, facts.title_source) == ("Fix it", "prompt")


def test_long_title_is_cut(read: Any, chain: Any) -> None:
    _, facts = read(chain.user("word " * 5000))
    assert len(facts.title) <= 200
    assert facts.title.endswith("…")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("<command-name>/review</command-name><command-args>src</command-args>", "/review"),
        ("<bash-input>make test</bash-input>", "! make test"),
    ],
)
def test_a_command_stands_in_for_a_prompt(read: Any, chain: Any, text: str, title: str) -> None:
    _, facts = read(chain.user(text), chain.answer("Done."))
    assert (facts.title, facts.title_source) == (title, "prompt")


def test_title_of_a_prompt_with_pictures_is_its_words(read: Any, chain: Any) -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}}
    words = {"type": "text", "text": "What is this?"}
    assert read(chain.user([picture, words]))[1].title == "What is this?"
    assert read(chain.user([picture]))[1].title == "[image image/png, 0 bytes]"


def test_names_win_over_the_agents_titles_and_the_last_counts(read: Any, chain: Any) -> None:
    natives = [chain.user("Prompt"), {"type": "ai-title", "aiTitle": "Its own"}]
    assert read(*natives)[1].title == "Its own"
    assert read(*natives)[1].title_source == "agent"
    natives += [
        {"type": "custom-title", "customTitle": name} for name in ("one", "two", "", None, 7)
    ]
    _, facts = read(*natives, {"type": "ai-title", "aiTitle": "Later"})
    assert (facts.title, facts.title_source) == ("two", "name")


@pytest.mark.parametrize(
    ("summary", "title"),
    [
        ('{"title": "Fix  the tests", "isNewTopic": true}', "Fix the tests"),
        ('{"title": ""}', '{"title": ""}'),
        ('{"title": 7}', '{"title": 7}'),
        ("{title: no JSON}", "{title: no JSON}"),
        ("[1]", "[1]"),
    ],
)
def test_a_title_that_is_json_is_taken_out_of_it(
    read: Any, chain: Any, summary: str, title: str
) -> None:
    assert read(chain.user("Hi"), {"type": "summary", "summary": summary})[1].title == title


def test_summary_titles_the_session_of_its_leaf_only(read: Any, chain: Any) -> None:
    user = chain.user("Prompt")
    before = {"type": "summary", "summary": "Mine", "leafUuid": "u1"}
    other = {"type": "summary", "summary": "Another's", "leafUuid": "u99"}
    assert read(before, other, user)[1].title == "Mine"
    assert read(user, before, other)[1].title == "Mine"
    assert read(user, other)[1].title == "Prompt"


def test_project_is_the_first_cwd_p30(read: Any, chain: Any) -> None:
    _, facts = read(
        {"type": "mode"}, chain.user("a", cwd="/w/新聞"), chain.user("b", cwd="/w/新聞/x")
    )
    assert facts.project_path == "/w/新聞"
    assert read({"type": "mode"}, chain.user("a", cwd=None))[1].project_path is None


def test_last_branch_model_and_version(read: Any, chain: Any) -> None:
    _, facts = read(
        chain.user("a"), chain.answer("b"), chain.user("c", gitBranch="next", version="2.2.0"),
        chain.answer("d", gitBranch="", message={"model": "claude-next"}, version=None),
        chain.answer("e", message={"model": "<synthetic>"}),
    )  # fmt: skip
    assert (facts.git_branch, facts.model, facts.agent_version) == (
        "main",
        "claude-next",
        "2.1.332",
    )


@pytest.mark.parametrize(
    "junk", [None, "", "yesterday", -1, True, [], "0001-01-01T00:00:00Z", 1e300, "9"]
)
def test_times_are_robust_against_junk(read: Any, chain: Any, junk: Any) -> None:
    messages, facts = read(
        chain.user("a"),
        chain.user("b", timestamp=junk),
        chain.user("c"),
        chain.user("d", timestamp=junk),
    )
    assert facts.started_at == "2026-01-02T03:04:01.000Z"
    assert facts.updated_at == "2026-01-02T03:04:03.000Z"
    assert messages[1].timestamp is None


@pytest.mark.parametrize(
    ("native", "time"),
    [
        ("2026-11-30T14:05:29.824Z", "2026-11-30T14:05:29.824Z"),
        ("2026-11-30T14:05:29Z", "2026-11-30T14:05:29.000Z"),
        ("2026-11-30T14:05:29.824123+02:00", "2026-11-30T12:05:29.824Z"),
        ("2026-11-30 14:05:29.824Z", "2026-11-30T14:05:29.824Z"),
        ("2026-11-30T14:05:29.824", "2026-11-30T14:05:29.824Z"),
        (1796047529, "2026-11-30T14:05:29.000Z"),
        (1796047529824, "2026-11-30T14:05:29.824Z"),
        (1796047529.824, "2026-11-30T14:05:29.824Z"),
        ("2100-01-01T00:00:00.000Z", "2100-01-01T00:00:00.000Z"),
    ],
)
def test_times_of_every_form(read: Any, chain: Any, native: Any, time: str) -> None:
    [message], facts = read(chain.user("a", timestamp=native))
    assert message.timestamp == facts.started_at == facts.updated_at == time


def test_times_that_run_backwards(read: Any, chain: Any) -> None:
    days = [f"2026-01-0{day}T00:00:00.000Z" for day in (5, 3, 9, 4)]
    _, facts = read(*(chain.user("a", timestamp=day) for day in days))
    assert (facts.started_at, facts.updated_at) == (days[1], days[2])


def test_tokens_count_once_for_an_answer(read: Any, chain: Any) -> None:
    partial = {"usage": {"input_tokens": 10, "output_tokens": 1}}
    whole = {"usage": {"input_tokens": 10, "output_tokens": 7}}
    _, facts = read(
        chain.answer("a", answer="m1", message=partial),
        chain.call("t1", answer="m1", message=whole),
        chain.result("t1"),
        chain.answer("b", answer="m2", message=whole),
        chain.answer("c", answer="m1", message=whole),
    )
    assert facts.tokens == 34


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        {},
        {"input_tokens": "9"},
        {"input_tokens": True},
        {"output_tokens": -9},
        {"input_tokens": 1 << 60},
    ],
)
def test_odd_usage_counts_nothing(read: Any, chain: Any, usage: Any) -> None:
    assert read(chain.answer("a", message={"usage": usage}))[1].tokens == 0


def test_lineage_is_the_first_chain_record(read: Any, chain: Any) -> None:
    _, facts = read({"type": "mode"}, chain.user("a"), chain.answer("b"))
    assert facts.lineage_key == "u1"
    assert (facts.parent_session, facts.relation) == (None, None)


def test_answers_that_name_another_session_make_a_fork_p23(read: Any, chain: Any) -> None:
    _, facts = read(chain.user("a"), chain.answer("b", requestSessionId="origin"), chain.user("c"))
    assert (facts.parent_session, facts.relation) == ("origin", "fork")


def test_answers_that_name_their_own_session_make_none(read: Any, chain: Any) -> None:
    own = "9712b4a9-6617-48ef-b0e0-da1327bd1afa"
    _, facts = read(chain.user("a"), chain.answer("b", requestSessionId=own))
    assert facts.relation is None


def test_empty_session(read: Any) -> None:
    messages, facts = read()
    assert messages == []
    assert facts.messages == 0
    assert facts.title is None
