"""The index over a store that capture fills."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from blackbox import ClaudeSession, Home

from ultracontext.errors import SettingsError, StoreError
from ultracontext.paths import resolve_paths
from ultracontext.redaction import Redactor
from ultracontext.redaction.opening import open_redactor
from ultracontext.search import Asked, Filler, Hit, Index, find
from ultracontext.search.query import snippet
from ultracontext.settings import load_settings
from ultracontext.store import open_store
from ultracontext.store.base import LOCAL_SPACE, SpaceStore

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SECRET = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zA0cD3fG6"


class Library:
    """A home with a store and its index."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder)
        paths = resolve_paths(self.home.env, folder)
        paths.ensure()
        self.index_file = paths.index_file
        self.redactor: Redactor = open_redactor(
            paths, load_settings(paths.config_file, self.home.env, flags={})
        )

    def capture(self) -> None:
        self.home.once()

    @contextmanager
    def space(self) -> Iterator[SpaceStore]:
        store = open_store(self.home.uc / "store.db", mode="ro")
        try:
            yield store.within(LOCAL_SPACE)
        finally:
            store.close()

    def fill(self) -> int:
        with self.space() as space:
            index = Index(self.index_file, write=True)
            done = sum(Filler(index, space, self.redactor).catch_up())
            index.close()
            return done

    def find(self, query: str, **more: object) -> list[Hit]:
        with self.space() as space:
            index = Index(self.index_file, write=False)
            try:
                return find(index, space, self.redactor, Asked(query=query, **more), now=NOW)  # type: ignore[arg-type]
            finally:
                index.close()


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path / "person")


@pytest.fixture
def talk(library: Library) -> ClaudeSession:
    return ClaudeSession(library.home)


def test_prompts_answers_calls_and_results_are_found(library: Library) -> None:
    shutil.copytree(
        Path(__file__).parents[2] / "fixtures" / "codex" / "code-mode-exec-tool",
        library.home.codex, dirs_exist_ok=True,
    )  # fmt: skip
    library.capture()
    assert library.fill() > 3
    shown = library.home.json("sessions")[0]
    whole = library.home.json("show", shown["id"])
    for message in whole["messages"]:
        words = [word for word in message["text"].split() if word.isalpha() and len(word) > 5]
        if message["kind"] == "meta" or not words:
            continue
        hits = library.find(" ".join(words[:4]), limit=100)
        assert message["id"] in {hit.message_id for hit in hits}, message["text"][:80]
        places = {hit.message_id: hit.index for hit in hits}
        assert places[message["id"]] == message["index"]
    assert library.fill() == 0


def test_a_session_that_grows_is_found_and_costs_what_is_new(
    library: Library, talk: ClaudeSession
) -> None:
    talk.append(["first question heliotrope", "first answer"])
    library.capture()
    assert library.fill() == 2
    talk.append(["second question marigold"])
    library.capture()
    assert library.fill() == 1
    assert [hit.index for hit in library.find("marigold")] == [2]
    assert [hit.index for hit in library.find("heliotrope")] == [0]


def test_narrowed_by_agent_project_role_and_time(library: Library, talk: ClaudeSession) -> None:
    talk.append(["question heliotrope", "answer heliotrope"])
    library.capture()
    library.fill()
    assert len(library.find("heliotrope")) == 2
    assert not library.find("heliotrope", agent="codex")
    assert len(library.find("heliotrope", agent="claude", role="user")) == 1
    assert len(library.find("heliotrope", projects=("/w",))) == 2
    assert not library.find("heliotrope", projects=("/w/ap",))
    assert not library.find("heliotrope", projects=())
    assert not library.find("heliotrope", since=NOW)
    assert not library.find("heliotrope", until=datetime(2020, 1, 1, tzinfo=UTC))
    assert not library.find("heliotrope", file="main.py")


def test_secrets_are_neither_in_the_index_nor_in_snippets(
    library: Library, talk: ClaudeSession
) -> None:
    talk.append([f"deploy with {SECRET} please"])
    library.capture()
    library.fill()
    (hit,) = library.find("deploy please")
    assert SECRET not in hit.snippet
    assert "[redacted:github-token:" in hit.snippet
    for file in library.home.uc.glob("index.db*"):
        data = file.read_bytes().lower()
        assert SECRET.lower().encode() not in data
        assert SECRET[4:].lower().encode() not in data


def test_a_dropped_session_leaves_no_byte_and_its_neighbours_stay(library: Library) -> None:
    one, two = ClaudeSession(library.home), ClaudeSession(library.home)
    one.append(["question xylograph", "answer"])
    two.append(["question zoetrope", "answer"])
    library.capture()
    library.fill()
    (hit,) = library.find("xylograph")
    with library.space() as space:
        index = Index(library.index_file, write=True)
        filler = Filler(index, space, library.redactor)
        for name in filler.forget([hit.context_id]):
            filler.update(name)
        assert index.settle()
        index.close()
    assert not library.find("xylograph")
    assert len(library.find("zoetrope")) == 1
    for file in library.home.uc.glob("index.db*"):
        assert b"xylograph" not in file.read_bytes()


def test_a_damaged_or_foreign_index_is_named(library: Library, talk: ClaudeSession) -> None:
    talk.append(["question"])
    library.capture()
    library.fill()
    size = library.index_file.stat().st_size
    library.index_file.write_bytes(b"\x00garbage" * (size // 8))
    with pytest.raises(StoreError) as caught:
        library.find("question")
    assert caught.value.code == "index-damaged"
    library.index_file.unlink()
    with pytest.raises(StoreError, match="nothing is indexed"):
        library.find("question")
    assert library.fill() == 1


def test_a_query_without_words_is_refused(library: Library, talk: ClaudeSession) -> None:
    talk.append(["question"])
    library.capture()
    library.fill()
    with pytest.raises(SettingsError):
        library.find("***")


@pytest.mark.parametrize(
    ("text", "query", "shown"),
    [
        ("short text", "text", "short text"),
        ("a" * 500 + " needle " + "b" * 500, "needle", "needle"),
        ("İ" * 300 + " needle", "needle", "İ"),
        ("line\nend", "end", "line end"),
    ],
)
def test_snippets(text: str, query: str, shown: str) -> None:
    found = snippet(text, query)
    assert shown in found
    assert len(found) <= 170
    assert "\n" not in found


def test_the_state_counts_living_messages(library: Library, talk: ClaudeSession) -> None:
    talk.append(["first question", "first answer", "second question"])
    ClaudeSession(library.home).append(["another question"])
    library.capture()
    library.fill()
    index = Index(library.index_file, write=True)
    ((living,),) = index.rows("SELECT count(*) FROM docs WHERE dead = 0")
    assert index.state().messages == living == 4
    with index.writing() as db:
        db.execute("UPDATE docs SET dead = 1 WHERE id = 1")
    assert index.state().messages == 3
    index.close()
