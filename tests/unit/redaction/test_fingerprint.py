"""The local key and what it makes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ultracontext.errors import RedactionError
from ultracontext.redaction import load_secret
from ultracontext.redaction.fingerprint import Fingerprinter


def test_the_key_is_made_once_and_only_for_us(tmp_path: Path) -> None:
    path = tmp_path / "state" / "redaction.key"
    key = load_secret(path)
    assert len(key) == 32
    assert load_secret(path) == key
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in path.parent.iterdir()] == ["redaction.key"]


def test_starters_at_once_get_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        keys = set(pool.map(load_secret, [tmp_path / "k"] * 32))
    assert len(keys) == 1


def test_a_file_that_is_no_key_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "k").write_bytes(b"short")
    with pytest.raises(RedactionError):
        load_secret(tmp_path / "k")
    assert (tmp_path / "k").read_bytes() == b"short"


def test_a_file_system_without_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_args: object) -> None:
        raise PermissionError

    monkeypatch.setattr("os.link", refuse)
    assert load_secret(tmp_path / "k") == load_secret(tmp_path / "k")


def test_a_fingerprint_needs_the_key() -> None:
    one, two = Fingerprinter(b"one"), Fingerprinter(b"two")
    assert one.mask(b"secret") == Fingerprinter(b"one").mask(b"secret")
    assert one.mask(b"secret") != two.mask(b"secret")
    assert len(one.mask(b"secret")) == 8


def test_line_ends_do_not_change_a_fingerprint() -> None:
    make = Fingerprinter(b"key")
    assert make.mask(b"a\nb\r\nc") == make.mask(b"a\\nb\\\\nc") == make.mask(b"abc")
