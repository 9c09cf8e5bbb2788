"""The engines, their choice, and the cached database."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ultracontext.errors import RedactionError
from ultracontext.redaction import Redactor, load_redactor
from ultracontext.redaction import engine as choice
from ultracontext.redaction.rules import load_rules

TOKEN = "gh" + "p_N0tReAl3ahovCJQX4bipwDKRY5cjqxELSZ6d"


def test_the_variable_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(choice.ENGINE_VARIABLE, "aho")
    assert load_redactor(b"k").engine == "aho"
    monkeypatch.setenv(choice.ENGINE_VARIABLE, "nothing")
    with pytest.raises(RedactionError):
        load_redactor(b"k")


def test_without_hyperscan_the_other_masks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(choice.ENGINE_VARIABLE, raising=False)
    monkeypatch.setattr(choice, "_fastest", lambda: "aho")
    redactor = load_redactor(b"k")
    assert redactor.engine == "aho"
    assert TOKEN not in redactor.text(TOKEN)


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(RedactionError):
        load_redactor(b"", engine="aho")


def test_a_broken_cache_is_built_again(tmp_path: Path) -> None:
    pytest.importorskip("hyperscan")
    load_redactor(b"k", engine="hyperscan", cache_dir=tmp_path)
    (path,) = tmp_path.iterdir()
    assert path.stat().st_mode & 0o777 == 0o600
    whole = path.read_bytes()
    for broken in (b"", whole[:-1], whole[:100] + b"\0" + whole[101:], b"x" * 100):
        path.write_bytes(broken)
        assert TOKEN not in load_redactor(b"k", engine="hyperscan", cache_dir=tmp_path).text(TOKEN)
        assert path.read_bytes() == whole


def test_a_cache_that_cannot_be_written_does_no_harm(tmp_path: Path) -> None:
    pytest.importorskip("hyperscan")
    (tmp_path / "file").write_text("")
    redactor = load_redactor(b"k", engine="hyperscan", cache_dir=tmp_path / "file" / "x")
    assert TOKEN not in redactor.text(TOKEN)


def test_loading_from_the_cache_is_quick(tmp_path: Path) -> None:
    pytest.importorskip("hyperscan")
    from ultracontext.redaction.hyperscan_engine import HyperscanEngine

    rules = load_rules()
    HyperscanEngine(rules, tmp_path)
    begun = time.process_time()
    HyperscanEngine(rules, tmp_path)
    assert time.process_time() - begun < 0.12


def test_an_engine_that_fails_lets_nothing_pass(redactor: Redactor, cache_dir: Path) -> None:
    made = load_redactor(b"k", engine=redactor.engine, cache_dir=cache_dir)

    class Broken:
        name = "broken"

        def candidates(self, data: bytes) -> list[tuple[int, int]]:
            raise RedactionError("the redaction engine failed")

    made.scanner.engine = Broken()
    with pytest.raises(RedactionError):
        made.text("a harmless text")


def test_threads_may_share_a_redactor(redactor: Redactor) -> None:
    from concurrent.futures import ThreadPoolExecutor

    texts = [f"{i} {TOKEN} {'x' * i}" for i in range(200)]
    with ThreadPoolExecutor(4) as pool:
        out = list(pool.map(redactor.text, texts))
    assert not any(TOKEN in text for text in out)
