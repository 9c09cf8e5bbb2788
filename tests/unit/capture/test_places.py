"""Digests of what was read, and companions inside the roots only."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ultracontext.capture import places
from ultracontext.capture.places import PrefixDigest, fetch_need
from ultracontext.formats import Need

SECRET = b"s" * 32


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=5))
def test_prefix_digest_does_not_depend_on_how_it_was_read(data: bytes, cuts: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "BLOCK_BYTES", 32)
        whole, parts = PrefixDigest(SECRET), PrefixDigest(SECRET)
        whole.update(data)
        marks = sorted({0, len(data), *(c for c in cuts if c < len(data))})
        for a, b in pairwise(marks):
            parts.update(data[a:b])
        assert parts.value() == whole.value()
        start = PrefixDigest.block_start(len(data))
        again = PrefixDigest.resume(SECRET, whole.value(), len(data), data[start:])
        assert again is not None
        again.update(b"more")
        whole.update(b"more")
        assert again.value() == whole.value()


def test_changed_last_block_is_noticed_on_resume() -> None:
    digest = PrefixDigest(SECRET)
    digest.update(b"hello")
    assert PrefixDigest.resume(SECRET, digest.value(), 5, b"hellO") is None


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root" / "projects" / "p"
    (folder / "S" / "tool-results").mkdir(parents=True)
    (folder / "S" / "tool-results" / "x.txt").write_text("full")
    (tmp_path / "outside.txt").write_text("secret")
    return tmp_path / "root"


def fetch(root: Path, path: str) -> bytes | None:
    source = str(root / "projects" / "p" / "S.jsonl")
    return fetch_need(Need(name="n", path=path), source, [str(root.resolve())])


def test_companion_inside_the_root_is_fetched(root: Path) -> None:
    assert fetch(root, str(root / "projects/p/S/tool-results/x.txt")) == b"full"
    assert fetch(root, "S/tool-results/x.txt") == b"full"


def test_companion_of_a_copied_home_is_found_by_its_tail(root: Path) -> None:
    assert fetch(root, "/home/old/.claude/projects/p/S/tool-results/x.txt") == b"full"


@pytest.mark.parametrize(
    "path", ["../../../outside.txt", "/etc/passwd", "a\0b", "S", "nowhere.txt"]
)
def test_nothing_else_is_fetched(root: Path, path: str) -> None:
    assert fetch(root, path) is None


def test_link_out_of_the_root_is_not_followed(root: Path) -> None:
    (root / "projects/p/S/link.txt").symlink_to(root.parent / "outside.txt")
    assert fetch(root, "S/link.txt") is None
