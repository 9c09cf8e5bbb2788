"""Installed programs, found by their package files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from capture_lab import TOY

from ultracontext.runtime.installed import installed

SPEC = replace(TOY, packages=("@toy/cli",), installs=(".toy/versions",))


def package(folder: Path, text: str) -> Path:
    path = folder / "node_modules/@toy/cli"
    path.mkdir(parents=True)
    (path / "package.json").write_text(text)
    return path


def versions(home: Path, **env: str) -> list[str]:
    return [one.version for one in installed(SPEC, env, home)]


def test_packages_beside_the_path_and_below_the_home(tmp_path: Path) -> None:
    package(tmp_path / "node/lib", '{"version": "1.2.3"}')
    package(tmp_path / ".nvm/versions/node/v22.1.0/lib", '{"version": "1.0.0-beta.1"}')
    found = versions(tmp_path, PATH=f"/nowhere/bin:{tmp_path}/node/bin:relative")
    assert found == ["1.2.3", "1.0.0-beta.1"]


def test_one_program_that_is_reached_twice_counts_once(tmp_path: Path) -> None:
    real = package(tmp_path / "node/lib", '{"version": "1.2.3"}')
    (tmp_path / ".local/lib").mkdir(parents=True)
    (tmp_path / ".local/lib/node_modules").symlink_to(real.parent.parent)
    assert versions(tmp_path, PATH=f"{tmp_path}/node/bin") == ["1.2.3"]


def test_a_package_in_a_folder_of_the_agents_own(tmp_path: Path) -> None:
    package(tmp_path / ".toy/versions", '{"version": "3.0.0"}')
    assert versions(tmp_path) == ["3.0.0"]


def test_odd_package_files_are_left_out(tmp_path: Path) -> None:
    for number, text in enumerate(("", "[]", "{}", '{"version": 3}', '{"version": "x y"}')):
        package(tmp_path / f".nvm/versions/node/v{number}/lib", text)
    assert versions(tmp_path) == []


def test_installs_named_by_version(tmp_path: Path) -> None:
    for name in ("1.2.3", "v2.0.0", "latest", ".tmp"):
        (tmp_path / ".toy/versions" / name).mkdir(parents=True)
    assert versions(tmp_path) == ["1.2.3", "2.0.0"]
