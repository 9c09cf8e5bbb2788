from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from ultracontext.errors import SettingsError
from ultracontext.settings.edit import set_value

ORIGINAL = """\
# my settings
[capture]   # what is read
backfill = "all"  # everything

[remote]
include = [
  "/work/**", # only work
]
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_comments_and_order_stay(config: Path) -> None:
    config.write_text(ORIGINAL)
    set_value(config, "capture.backfill", "24h")
    assert config.read_text() == ORIGINAL.replace('"all"', '"24h"')


def test_new_sections_lists_and_numbers(config: Path) -> None:
    set_value(config, "agents.claude.roots", "/a,~/b")
    set_value(config, "retention.days", "90")
    set_value(config, "agents.codex.roots", "")
    assert tomllib.loads(config.read_text()) == {
        "agents": {"claude": {"roots": ["/a", "~/b"]}, "codex": {"roots": []}},
        "retention": {"days": 90},
    }


@pytest.mark.parametrize(
    ("key", "value"), [("capture.backfil", "all"), ("capture.backfill", "x"), ("capture", "x")]
)
def test_refusal_leaves_the_file_alone(key: str, value: str, config: Path) -> None:
    config.write_text(ORIGINAL)
    with pytest.raises(SettingsError):
        set_value(config, key, value)
    assert config.read_text() == ORIGINAL


def test_broken_file_is_not_written_over(config: Path) -> None:
    config.write_text("[capture\n")
    with pytest.raises(SettingsError, match="no TOML"):
        set_value(config, "capture.backfill", "all")
    assert config.read_text() == "[capture\n"


def test_link_stays_a_link(config: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("")
    config.symlink_to(real)
    set_value(config, "log.level", "debug")
    assert config.is_symlink()
    assert "debug" in real.read_text()


def test_mode_is_private_and_nothing_is_left_beside(config: Path) -> None:
    set_value(config, "log.level", "debug")
    assert config.stat().st_mode & 0o777 == 0o600
    assert list(config.parent.iterdir()) == [config]
