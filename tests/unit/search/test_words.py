"""How texts and queries are cut."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracontext.search.words import expression, parted, plain_words, wholes


def matches(text: str, query: str) -> bool:
    db = sqlite3.connect(":memory:")
    db.execute(
        "CREATE VIRTUAL TABLE f USING fts5(t, w, content='', "
        "tokenize='unicode61 remove_diacritics 2')"
    )
    db.execute("INSERT INTO f(rowid, t, w) VALUES (1, ?, ?)", (parted(text), wholes(text)))
    try:
        return bool(db.execute("SELECT 1 FROM f WHERE f MATCH ?", (expression(query),)).fetchall())
    finally:
        db.close()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("def retry_count(self)", "retry_count"),
        ("def retry_count(self)", "count"),
        ("const retryCount = 3", "retryCount"),
        ("const retryCount = 3", "retrycount"),
        ("const retryCount = 3", "count"),
        ("const retryCount = 3", "retry count"),
        ("class HTTPServerError", "HTTPServer*"),
        ("class HTTPServerError", "server"),
        ("open src/app/main.py now", "src/app/main.py"),
        ("open src/app/main.py now", "main.py"),
        ("open src/app/main.py now", "app"),
        ("TypeError: cannot read property 'x' of undefined", "cannot read property"),
        ("TypeError: cannot read", '"TypeError: cannot"'),
        ("東京都に行きました", "東京"),
        ("東京都に行きました", "京都"),
        ("東京都に行きました", "東"),
        ("東京都に行きました", "行きました"),
        ("한국어 문장입니다", "문장"),
        ("これはtestです", "test"),
        ("Grüße aus Köln", "koln"),
        ("Straße", "straße"),
        ("v2.1.332 is out", "v2.1.332"),
        ("ERR_MODULE_NOT_FOUND", "module_not"),
        ("it's done", "it's"),
        ('say "hello" now', "hello"),
        ("snake_case_name", "snake_ca*"),
    ],
)
def test_found(text: str, query: str) -> None:
    assert matches(text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("retry the count", '"count retry"'),
        ("alpha", "alpha beta"),
        ("東京都", "京東"),
        ("retries", "retry"),
        ("scatter", "cat"),
    ],
)
def test_not_found(text: str, query: str) -> None:
    assert not matches(text, query)


@pytest.mark.parametrize("query", ["", "   ", "***", '""', "== !=", "_", "-"])
def test_a_query_without_a_word_is_empty(query: str) -> None:
    assert expression(query) == ""


@given(st.text(max_size=60), st.text(max_size=30))
def test_no_query_and_no_text_breaks_the_index(text: str, query: str) -> None:
    if expression(query):
        matches(text, query)


@given(
    st.text(alphabet=st.characters(codec="utf-8", categories=("L", "N")), min_size=2, max_size=12)
)
def test_a_word_finds_itself(word: str) -> None:
    if expression(word):
        assert matches(f"before {word} after", word)


@given(st.text())
def test_plain_words_are_parts_of_the_query(query: str) -> None:
    for word in plain_words(query):
        assert word in query
