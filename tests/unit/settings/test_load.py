from __future__ import annotations

from pathlib import Path

import pytest

from ultracontext.errors import SettingsError
from ultracontext.settings import find_key, load_settings
from ultracontext.settings.load import read_config


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_defaults(config: Path) -> None:
    settings = load_settings(config, {})
    assert settings.capture.backfill == "all"
    assert settings.capture.dedup_ttl_seconds == 30 * 86400
    assert settings.remote.include == ()
    assert settings.origins == {}


def test_file_environment_and_flags_win_in_this_order(config: Path) -> None:
    config.write_text('[capture]\nbackfill = "24h"\ndedup_ttl = "2d"\nsweep = "60s"\n')
    env = {"ULTRACONTEXT_CAPTURE_BACKFILL": "new", "ULTRACONTEXT_CAPTURE_DEDUP_TTL": "1s"}
    settings = load_settings(config, env, flags={"capture.backfill": "all"})
    assert settings.capture.backfill == "all"
    assert settings.capture.dedup_ttl_seconds == 1
    assert settings.capture.sweep_seconds == 60
    assert settings.origins["capture.backfill"] == "flag"
    assert settings.origins["capture.dedup_ttl"] == "environment"


@pytest.mark.parametrize(
    ("variable", "key"),
    [
        ("ULTRACONTEXT_STORE", "store.url"),
        ("ULTRACONTEXT_STORE_URL", "store.url"),
        ("ULTRACONTEXT_REMOTE", "remote.url"),
    ],
)
def test_store_variables(variable: str, key: str, config: Path) -> None:
    settings = load_settings(config, {variable: "postgresql://host/db"})
    assert dict(settings.items())[key] == "postgresql://host/db"


def test_log_variable_and_lists_by_comma(config: Path) -> None:
    env = {"ULTRACONTEXT_LOG": "debug", "ULTRACONTEXT_REMOTE_INCLUDE": "/a/**, git@x:*,"}
    settings = load_settings(config, env)
    assert settings.log.level == "debug"
    assert settings.remote.include == ("/a/**", "git@x:*")


def test_agents_roots(config: Path) -> None:
    config.write_text('[agents.claude]\nroots = ["~/other"]\n')
    settings = load_settings(config, {"ULTRACONTEXT_AGENTS_CODEX_ROOTS": "/a,/b"})
    assert settings.agents["claude"].roots == ("~/other",)
    assert settings.agents["codex"].roots == ("/a", "/b")


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('[capture]\nbackfil = "all"', "capture.backfill"),
        ('[capture]\nttl = "1d"', "capture.dedup_ttl"),
        ('[captur]\nbackfill = "all"', "capture.backfill"),
        ('[logs]\nlevel = "info"', "log.level"),
        ('[agents.cluade]\nroots = ["/a"]', "agents.claude.roots"),
    ],
)
def test_unknown_key_names_the_nearest(text: str, named: str, config: Path) -> None:
    config.write_text(text)
    with pytest.raises(SettingsError) as caught:
        load_settings(config, {}, agents=["claude", "codex"])
    assert "unknown setting" in caught.value.message
    assert str(config) in caught.value.message
    assert named in caught.value.hint
    assert caught.value.exit_code == 2


def test_unknown_variable_of_a_known_section_is_refused(config: Path) -> None:
    with pytest.raises(SettingsError, match="ULTRACONTEXT_CAPTURE_BACKFIL") as caught:
        load_settings(config, {"ULTRACONTEXT_CAPTURE_BACKFIL": "new"})
    assert "capture.backfill" in caught.value.hint


def test_other_variables_of_our_prefix_are_left_alone(config: Path) -> None:
    env = {
        "ULTRACONTEXT_HOME": "/x",
        "ULTRACONTEXT_FAILPOINTS": "after_read=kill",
        "ULTRACONTEXT_SOMETHING": "1",
        "ULTRACONTEXT_CAPTURE_BACKFILL": "",
    }
    assert load_settings(config, env).origins == {}


@pytest.mark.parametrize(
    "text",
    [
        '[capture]\nbackfill = "yesterday"',
        '[capture]\nsweep = "10ms"',
        "[capture]\nbackfill = true",
        "[retention]\ndays = -1",
        '[retention]\ndays = "many"',
        '[remote]\ninclude = "x"\nurl = "ftp://x"',
        "[remote]\ninclude = [1]",
        '[agents.claude]\nroots = ["relative"]',
        '[redaction]\nengine = "none"',
        "capture = 3",
        "[capture\n",
    ],
)
def test_malformed_value_is_an_error_of_settings(text: str, config: Path) -> None:
    config.write_text(text)
    with pytest.raises(SettingsError):
        load_settings(config, {})


def test_file_that_is_not_utf8_is_named(config: Path) -> None:
    config.write_bytes(b"\xff")
    with pytest.raises(SettingsError, match="not UTF-8"):
        read_config(config)


def test_api_key_is_never_among_the_items(config: Path) -> None:
    settings = load_settings(config, {"ULTRACONTEXT_API_KEY": "uc_live_made_up"})
    assert settings.api_key == "uc_live_made_up"
    assert "made_up" not in repr(settings) + repr(settings.items())


def test_two_different_stores_to_read_are_refused(config: Path) -> None:
    env = {"ULTRACONTEXT_STORE": "sqlite:///a", "ULTRACONTEXT_BASE_URL": "https://b"}
    with pytest.raises(SettingsError, match="different stores"):
        load_settings(config, env).reading_store()
    assert load_settings(config, {"ULTRACONTEXT_BASE_URL": "https://b"}).reading_store()


def test_find_key_of_a_section_alone() -> None:
    with pytest.raises(SettingsError):
        find_key("capture")
