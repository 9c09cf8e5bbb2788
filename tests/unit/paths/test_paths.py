from __future__ import annotations

import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ultracontext.errors import SettingsError
from ultracontext.paths import SOCKET_PATH_BYTES, PathsError, resolve_paths


@pytest.fixture(autouse=True)
def loose_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary folder whose path leaves room for a socket's."""
    with tempfile.TemporaryDirectory(prefix="uc-", dir="/tmp") as folder:
        monkeypatch.setattr("tempfile.gettempdir", lambda: folder)
        yield Path(folder)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_home_holds_everything(tmp_path: Path) -> None:
    paths = resolve_paths({"ULTRACONTEXT_HOME": str(tmp_path / "uc")}, tmp_path)
    places = (
        paths.config_file, paths.store_file, paths.index_file, paths.state_dir, paths.run_dir,
        paths.logs_dir, paths.lock_file, paths.log_file, paths.secret_file, paths.cache_dir,
    )  # fmt: skip
    assert all(place.is_relative_to(tmp_path / "uc") for place in places)
    assert paths.store_file == tmp_path / "uc/store.db"
    assert paths.config_file == tmp_path / "uc/config.toml"


@pytest.mark.parametrize("given", [{}, {"XDG_DATA_HOME": "/x/data", "XDG_STATE_HOME": "/x/state"}])
def test_places_without_a_home_are_those_of_platformdirs(
    given: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platformdirs

    for name in ("DATA", "STATE", "CONFIG", "CACHE"):
        monkeypatch.delenv(f"XDG_{name}_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    paths = resolve_paths(given, tmp_path)
    theirs = platformdirs.PlatformDirs("ultracontext", appauthor=False)
    assert paths.store_file.parent == theirs.user_data_path
    assert paths.config_file.parent == theirs.user_config_path
    if sys.platform == "linux":
        assert paths.state_dir == theirs.user_state_path
    assert paths.logs_dir == theirs.user_log_path


def test_relative_xdg_folder_is_ignored(tmp_path: Path) -> None:
    paths = resolve_paths({"XDG_DATA_HOME": "data"}, tmp_path)
    assert paths.store_file.is_relative_to(tmp_path)


@pytest.mark.parametrize("folder", ["", "..", "/"])
def test_home_that_holds_other_things_is_refused(folder: str, tmp_path: Path) -> None:
    home = tmp_path / "me"
    with pytest.raises(SettingsError, match="holds more than our files"):
        resolve_paths({"ULTRACONTEXT_HOME": str(home / folder)}, home)


def test_ensure_makes_private_folders_whatever_the_umask(tmp_path: Path) -> None:
    paths = resolve_paths({"ULTRACONTEXT_HOME": str(tmp_path / "uc")}, tmp_path)
    paths.ensure()
    assert {mode(folder) for folder in paths.folders()} == {0o700}


def test_ensure_repairs_open_folders_and_files(tmp_path: Path) -> None:
    paths = resolve_paths({"ULTRACONTEXT_HOME": str(tmp_path / "uc")}, tmp_path)
    paths.ensure()
    paths.home.chmod(0o755)
    for file in (paths.config_file, paths.store_file, paths.log_file, paths.secret_file):
        file.write_text("x")
        file.chmod(0o644)
    paths.ensure()
    assert mode(paths.home) == 0o700
    assert mode(paths.store_file) == mode(paths.log_file) == mode(paths.secret_file) == 0o600


def test_ensure_leaves_what_a_link_points_at_alone(tmp_path: Path) -> None:
    paths = resolve_paths({"ULTRACONTEXT_HOME": str(tmp_path / "uc")}, tmp_path)
    paths.ensure()
    shared = tmp_path / "shared.toml"
    shared.write_text("")
    shared.chmod(0o644)
    paths.config_file.symlink_to(shared)
    paths.ensure()
    assert mode(shared) == 0o644


def test_read_only_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    paths = resolve_paths({"ULTRACONTEXT_HOME": str(tmp_path / "file" / "uc")}, tmp_path)
    with pytest.raises(PathsError, match="cannot write to") as caught:
        paths.ensure()
    assert caught.value.code == "home"
    assert "ULTRACONTEXT_HOME" in caught.value.hint


def test_long_socket_path_moves_to_the_runtime_folder(tmp_path: Path) -> None:
    env = {"ULTRACONTEXT_HOME": str(tmp_path / ("x" * 120)), "XDG_RUNTIME_DIR": "/run/user/1"}
    paths = resolve_paths(env, tmp_path)
    assert paths.socket.parent == Path("/run/user/1")
    assert paths.socket.name.startswith("uc-")
    assert paths.socket == resolve_paths(env, tmp_path).socket


def test_long_socket_path_without_a_runtime_folder_can_be_bound(
    tmp_path: Path, short: Path
) -> None:
    paths = resolve_paths({"ULTRACONTEXT_HOME": str(tmp_path / ("x" * 120))}, tmp_path)
    assert len(os.fsencode(paths.socket)) <= SOCKET_PATH_BYTES
    assert paths.socket.is_relative_to(short)
    paths.ensure()
    assert mode(paths.socket_dir) == 0o700
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(paths.socket))
    paths.socket.unlink()


def test_two_homes_have_two_sockets(tmp_path: Path) -> None:
    homes = (tmp_path / ("x" * 120), tmp_path / ("y" * 120))
    sockets = {resolve_paths({"ULTRACONTEXT_HOME": str(h)}, tmp_path).socket for h in homes}
    assert len(sockets) == 2


def test_short_place_that_others_may_enter_is_refused(tmp_path: Path, short: Path) -> None:
    paths = resolve_paths({"ULTRACONTEXT_HOME": str(tmp_path / ("x" * 120))}, tmp_path)
    assert paths.socket_dir.parent == short
    paths.socket_dir.mkdir(mode=0o755)
    paths.socket_dir.chmod(0o755)
    with pytest.raises(PathsError, match="not a private folder"):
        paths.ensure()


def test_a_folder_for_other_things_is_left_as_it_is(tmp_path: Path) -> None:
    foreign = tmp_path / "documents"
    foreign.mkdir(mode=0o755)
    letter = foreign / "letter.txt"
    letter.write_text("dear")
    letter.chmod(0o644)
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    for folder in (foreign, shared):
        before = folder.stat().st_mode
        paths = resolve_paths({"ULTRACONTEXT_HOME": str(folder)}, tmp_path)
        with pytest.raises(PathsError, match="holds other things"):
            paths.ensure()
        assert folder.stat().st_mode == before
    assert letter.stat().st_mode & 0o777 == 0o644
